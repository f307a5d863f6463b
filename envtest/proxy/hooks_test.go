package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/envtest/proxy"
)

// overEach runs a test with clients over HTTP/1.1 and 2.
func overEach(t *testing.T, h func() *hooks, f func(*testing.T, *apiServer, *proxy.Proxy, *hooks, *rest.Config)) {
	for _, version := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(version, func(t *testing.T) {
			h := h()
			s, p := start(t, "HTTP/2", h)
			c := config(p)
			if version == "HTTP/1.1" {
				c = http1(c)
			}
			f(t, s, p, h, c)
		})
	}
}

func phaseOf(s *apiServer, name string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects["/apis/velero.io/v1/namespaces/velero/backups/"+name]
	if o == nil {
		return "no object"
	}
	status, _ := o.Object["status"].(map[string]any)
	return status["phase"]
}

// An action in place of a request, or of its answer: what the client sees, and what is applied.
func TestActions(t *testing.T) {
	conflict := apierrors.NewConflict(velerov1.Resource("backups"), "b", fmt.Errorf("injected")).Status()
	lost := func(err error) bool { return err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown }
	for _, test := range []struct {
		name   string
		action proxy.Action
		seen   func(error) bool
	}{
		{"answer", proxy.Action{Answer: &conflict}, apierrors.IsConflict},
		{"answer without a code", proxy.Action{Answer: &metav1.Status{Reason: metav1.StatusReasonInternalError}}, apierrors.IsInternalError},
		{"drop", proxy.Action{Drop: true}, lost},
		{"wait", proxy.Action{Wait: func(context.Context) {}}, func(err error) bool { return err == nil }},
	} {
		for _, point := range []string{"before", "after"} {
			t.Run(point+" "+test.name, func(t *testing.T) {
				overEach(t, func() *hooks {
					var done atomic.Bool
					once := func(q *proxy.Request) proxy.Action {
						if q.Verb == "patch" && done.CompareAndSwap(false, true) {
							return test.action
						}
						return proxy.Action{}
					}
					if point == "before" {
						return &hooks{before: once}
					}
					return &hooks{after: func(q *proxy.Request, _ *proxy.Response) proxy.Action { return once(q) }}
				}, func(t *testing.T, s *apiServer, _ *proxy.Proxy, h *hooks, c *rest.Config) {
					client, b := ctrlClient(t, c), newBackup("b")
					check(t, client.Create(t.Context(), b))
					watch, err := client.Watch(t.Context(), &velerov1.BackupList{}, ctrlclient.InNamespace("velero"))
					check(t, err)
					defer watch.Stop()
					receive(t, watch.ResultChan(), "the backup")

					if err := setPhase(t.Context(), client, b.DeepCopy(), "InProgress"); !test.seen(err) {
						t.Errorf("the client saw %v", err)
					}
					passed := point == "after" || test.name == "wait"
					if got := phaseOf(s, "b") == "InProgress"; got != passed || len(h.writes()) != map[bool]int{false: 1, true: 2}[passed] {
						t.Errorf("applied: %v, want %v; told of %d writes", got, passed, len(h.writes()))
					}
					// It strikes that request only.
					check(t, setPhase(t.Context(), client, b.DeepCopy(), "Completed"))
					for phase := ""; phase != "Completed"; {
						e := receive(t, watch.ResultChan(), "an event of the watch that was open before")
						phase = string(e.Object.(*velerov1.Backup).Status.Phase)
					}
				})
			})
		}
	}
}

// A client that goes away while its request is held does not get it passed on; while its answer is held: it was applied.
func TestHeldUntilTheClientIsGone(t *testing.T) {
	for _, point := range []string{"before", "after"} {
		t.Run(point, func(t *testing.T) {
			held, freed := make(chan struct{}, 1), make(chan struct{}, 1)
			hold := proxy.Action{Wait: func(ctx context.Context) {
				held <- struct{}{}
				<-ctx.Done()
				freed <- struct{}{}
			}}
			overEach(t, func() *hooks {
				if point == "before" {
					return &hooks{before: func(*proxy.Request) proxy.Action { return hold }}
				}
				return &hooks{after: func(*proxy.Request, *proxy.Response) proxy.Action { return hold }}
			}, func(t *testing.T, s *apiServer, p *proxy.Proxy, h *hooks, c *rest.Config) {
				ctx, goAway := context.WithCancel(t.Context())
				result := make(chan error, 1)
				go func() { result <- ctrlClient(t, c).Create(ctx, newBackup("b")) }()
				receive(t, held, "the hook")
				goAway()
				receive(t, freed, "the hook's context to end")
				if err := receive(t, result, "the client"); err == nil {
					t.Error("the client got an answer")
				}
				p.Close()
				if applied := phaseOf(s, "b") == nil; applied != (point == "after") || len(h.writes()) != map[bool]int{true: 1}[applied] {
					t.Errorf("applied: %v; told of %d writes", applied, len(h.writes()))
				}
			})
		})
	}
}

// A write that was passed on is told of, also if its client goes away before the API server answers.
func TestAClientThatGoesAwayDoesNotCancelItsWrite(t *testing.T) {
	overEach(t, func() *hooks { return &hooks{} }, func(t *testing.T, s *apiServer, p *proxy.Proxy, h *hooks, c *rest.Config) {
		arrived, answer := make(chan struct{}), make(chan struct{})
		s.intercept = func(_ http.ResponseWriter, r *http.Request) bool {
			arrived <- struct{}{}
			select {
			case <-answer:
			case <-r.Context().Done():
				t.Error("the write was cancelled")
			}
			return false
		}
		ctx, goAway := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- ctrlClient(t, c).Create(ctx, newBackup("b")) }()
		receive(t, arrived, "the write")
		goAway()
		receive(t, result, "the client")
		closed := make(chan struct{})
		go func() { p.Close(); close(closed) }() // waits for it, too
		close(answer)
		receive(t, closed, "Close")
		if w := h.writes(); len(w) != 1 || w[0].ResourceVersion != "1" {
			t.Errorf("told of %v, want one write that made version 1", w)
		}
	})
}

// Answers to writes to one object, as After is called for them.
func TestOrder(t *testing.T) {
	var answers [10]chan struct{}
	for i := range answers {
		answers[i] = make(chan struct{})
	}
	called := make(chan string)
	var free [10]chan struct{}
	for i := range free {
		free[i] = make(chan struct{})
	}
	h := &hooks{after: func(q *proxy.Request, r *proxy.Response) proxy.Action {
		called <- fmt.Sprintf("%s %t", r.ResourceVersion, r.Late)
		<-free[r.Code-200]
		return proxy.Action{}
	}}
	s, p := start(t, "HTTP/2", h)
	proxy.Impatient(p)
	arrived := make(chan struct{}, len(answers))
	s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		var i int
		_, err := fmt.Sscan(r.Header.Get("Write"), &i)
		check(t, err)
		arrived <- struct{}{}
		<-answers[i]
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(200 + i) // so that the hook knows it
		_, err = fmt.Fprintf(w, `{"kind":"Backup","metadata":{"resourceVersion":"%d"}}`, i+95)
		check(t, err)
		return true
	}
	c := config(p)
	client := httpClient(t, c)
	done := make(chan int, len(answers))
	send := func(i int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, c.Host+"/apis/velero.io/v1/namespaces/velero/backups/b", nil)
		check(t, err)
		r.Header.Set("Write", fmt.Sprint(i))
		go func() {
			if response, err := client.Do(r); err == nil {
				_ = response.Body.Close()
			}
			done <- i
		}()
	}
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		send(i)
		receive(t, arrived, "a write")
	}
	expect := func(want string) {
		t.Helper()
		if got := receive(t, called, want); got != want {
			t.Errorf("After was called for %s, want %s", got, want)
		}
	}
	close(answers[6])
	expect("101 false")
	for _, i := range []int{8, 2, 7, 3} {
		close(answers[i])
		if !eventually(func() bool {
			return proxy.Answered(p, "velero.io/backups/velero/b") == map[int]int{8: 1, 2: 2, 7: 3, 3: 4}[i]
		}) {
			t.Fatalf("write %d is not waiting for its turn", i)
		}
	}
	close(free[6])
	for _, next := range []int{2, 3, 7, 8} {
		expect(fmt.Sprintf("%d %t", 95+next, next < 6)) // while one is told the others wait, and the smallest version is next
		close(free[next])
	}
	close(answers[1])
	expect("96 true")
	close(free[1])
	var ended []int
	for range 6 {
		ended = append(ended, receive(t, done, "a client"))
	}
	slices.Sort(ended)
	if !slices.Equal(ended, []int{1, 2, 3, 6, 7, 8}) {
		t.Errorf("ended: %v", ended)
	}
	// Nothing is under way any more: what comes now is later than all.
	send(0)
	close(answers[0])
	close(free[0])
	expect("95 false")
	receive(t, done, "the last client")
	if n := proxy.Underway(p); n != 0 {
		t.Errorf("the proxy remembers %d objects, want none", n)
	}
}

// A write that is made of what a watch has shown is told after the write that the watch has shown, which is answered later.
func TestOrderOfWhatAWatchShows(t *testing.T) {
	told := make(chan string, 2)
	h := &hooks{after: func(_ *proxy.Request, r *proxy.Response) proxy.Action {
		told <- fmt.Sprintf("%s %t", r.ResourceVersion, r.Late)
		return proxy.Action{}
	}}
	s, p := start(t, "HTTP/2", h)
	arrived, answer := make(chan struct{}, 2), make(chan struct{})
	s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		version := r.Header.Get("Version")
		arrived <- struct{}{}
		if version == "1" {
			<-answer
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprintf(w, `{"kind":"Backup","metadata":{"resourceVersion":%q}}`, version)
		check(t, err)
		return true
	}
	c := config(p)
	client := httpClient(t, c)
	done := make(chan error, 2)
	for _, version := range []string{"1", "2"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, c.Host+"/apis/velero.io/v1/namespaces/velero/backups/b", nil)
		check(t, err)
		r.Header.Set("Version", version)
		go func() {
			response, err := client.Do(r)
			if err == nil {
				err = response.Body.Close()
			}
			done <- err
		}()
		receive(t, arrived, "a write")
	}
	if !eventually(func() bool { return proxy.Answered(p, "velero.io/backups/velero/b") == 1 }) {
		t.Fatal("the second write is not answered, or told of already")
	}
	close(answer)
	for _, want := range []string{"1 false", "2 false"} {
		if got := receive(t, told, want); got != want {
			t.Errorf("told of %s, want %s", got, want)
		}
		check(t, receive(t, done, "a client"))
	}
}

// Reads go through Before, too.
func TestBeforeSeesReads(t *testing.T) {
	seen := make(chan string, 10)
	h := &hooks{before: func(q *proxy.Request) proxy.Action {
		seen <- q.Verb
		return proxy.Action{Answer: &metav1.Status{Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests}}
	}}
	_, p := start(t, "HTTP/2", h)
	client := ctrlClient(t, config(p))
	err := client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: "velero", Name: "b"}, &velerov1.Backup{})
	if !apierrors.IsTooManyRequests(err) {
		t.Errorf("get: %v", err)
	}
	if err := client.List(t.Context(), &velerov1.BackupList{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("list: %v", err)
	}
	if _, err := client.Watch(t.Context(), &velerov1.BackupList{}, ctrlclient.InNamespace("velero")); !apierrors.IsTooManyRequests(err) {
		t.Errorf("watch: %v", err)
	}
	for _, want := range []string{"get", "list", "watch"} {
		if got := receive(t, seen, want); got != want {
			t.Errorf("saw %s, want %s", got, want)
		}
	}
	if len(h.writes()) != 0 {
		t.Error("After was called for a read")
	}
}
