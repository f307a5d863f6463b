package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/envtest/proxy"
)

// overLines runs a test with each kind of client, over a line that can be disturbed.
func overLines(t *testing.T, test func(t *testing.T, s *apiServer, line *proxy.Line, h *hooks, c *rest.Config)) {
	t.Helper()
	for _, version := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(version, func(t *testing.T) {
			h, line := &hooks{}, proxy.NewLine()
			s, p := startOver(t, "HTTP/2", h, line)
			c := config(p)
			if version == "HTTP/1.1" {
				c = http1(c)
			}
			test(t, s, line, h, c)
		})
	}
}

// named is the name of the object that an event brings.
func named(e watch.Event) string { return e.Object.(ctrlclient.Object).GetName() }

// Watches end as the API server ends them, and the next one goes on from where they were; requests notice nothing.
func TestEndWatches(t *testing.T) {
	overLines(t, func(t *testing.T, s *apiServer, line *proxy.Line, _ *hooks, c *rest.Config) {
		client, watches := ctrlClient(t, c), dynamicClient(t, c)
		w, err := watches.Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		check(t, client.Create(t.Context(), newBackup("a")))
		e := receive(t, w.ResultChan(), "the first event")
		line.EndWatches()
		for e := range w.ResultChan() {
			t.Errorf("an event instead of the end: %s %v", e.Type, e.Object)
		}
		check(t, client.Create(t.Context(), newBackup("b")))
		again, err := watches.Watch(t.Context(), metav1.ListOptions{ResourceVersion: e.Object.(ctrlclient.Object).GetResourceVersion()})
		check(t, err)
		defer again.Stop()
		if got := named(receive(t, again.ResultChan(), "what came meanwhile")); got != "b" {
			t.Errorf("the next watch brings %s, want b", got)
		}
	})
}

// What watches bring is held back, those that begin meanwhile included, and comes afterwards, in order; reads and writes are as ever.
func TestHoldWatches(t *testing.T) {
	overLines(t, func(t *testing.T, s *apiServer, line *proxy.Line, _ *hooks, c *rest.Config) {
		client, watches := ctrlClient(t, c), dynamicClient(t, c)
		w, err := watches.Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		defer w.Stop()
		release, second := line.HoldWatches(), line.HoldWatches()
		for i := range 3 {
			check(t, client.Create(t.Context(), newBackup(fmt.Sprint("b-", i))))
		}
		check(t, client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: "velero", Name: "b-2"}, &velerov1.Backup{}))
		release()
		select { // what was passed on by mistake is likely here by now: an answer has come since
		case e := <-w.ResultChan():
			t.Errorf("came through: %s %s", e.Type, named(e))
		default:
		}
		second()
		for i := range 3 {
			if got, want := named(receive(t, w.ResultChan(), "what was held back")), fmt.Sprint("b-", i); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

// A watch that is held back ends with EndWatches, and one whose client leaves it.
func TestHeldWatchEnds(t *testing.T) {
	overLines(t, func(t *testing.T, s *apiServer, line *proxy.Line, _ *hooks, c *rest.Config) {
		client, watches := ctrlClient(t, c), dynamicClient(t, c)
		w, err := watches.Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		left, err := watches.Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		defer line.HoldWatches()()
		check(t, client.Create(t.Context(), newBackup("a")))
		left.Stop()
		line.EndWatches()
		for e := range w.ResultChan() {
			t.Errorf("an event instead of the end: %s %v", e.Type, e.Object)
		}
	})
}

// An outage ends what is under way, requests and watches, and fails what comes; nothing that comes is passed on. Afterwards all is well.
func TestBreak(t *testing.T) {
	overLines(t, func(t *testing.T, s *apiServer, line *proxy.Line, h *hooks, c *rest.Config) {
		client := ctrlClient(t, c)
		w, err := client.Watch(t.Context(), &velerov1.BackupList{}, ctrlclient.InNamespace("velero"))
		check(t, err)
		arrived, answer := make(chan struct{}), make(chan struct{})
		s.intercept = func(http.ResponseWriter, *http.Request) bool {
			close(arrived)
			<-answer
			return false
		}
		result := make(chan error, 1)
		go func() { result <- client.Create(context.WithoutCancel(t.Context()), newBackup("under-way")) }()
		receive(t, arrived, "the write")
		mend, second := line.Break(), line.Break()
		s.intercept = nil
		close(answer)
		if err := receive(t, result, "the client"); err == nil {
			t.Error("a write that was under way got an answer")
		}
		for range w.ResultChan() { // ends
		}
		if !eventually(func() bool { return len(h.writes()) == 1 }) {
			t.Error("what became of the write that was under way is not told")
		}
		mend()
		if err := client.Create(t.Context(), newBackup("meanwhile")); err == nil {
			t.Error("a write in the outage got an answer")
		}
		for _, query := range []string{"", "?watch=true"} { // client-go repeats what reads over HTTP/1.1
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Host+"/apis/velero.io/v1/namespaces/velero/backups"+query, nil)
			check(t, err)
			if answer, err := httpClient(t, c).Do(r); err == nil {
				t.Errorf("a read in the outage got an answer%s: %s", query, answer.Status)
				check(t, answer.Body.Close())
			}
		}
		second()
		check(t, client.Create(t.Context(), newBackup("afterwards")))
		if got := phaseOf(s, "meanwhile"); got != "no object" {
			t.Errorf("the write in the outage was passed on: phase %q", got)
		}
	})
}
