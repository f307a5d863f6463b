package proxy_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/envtest/proxy"
)

// Each event is there before the next one is made: the proxy keeps none back, and their order.
func TestWatchEventsAtOnceInOrder(t *testing.T) {
	overEach(t, func() *hooks { return &hooks{} }, func(t *testing.T, s *apiServer, _ *proxy.Proxy, _ *hooks, c *rest.Config) {
		w, err := dynamicClient(t, c).Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		defer w.Stop()
		client := ctrlClient(t, c)
		for i := range 200 {
			b := newBackup(fmt.Sprint("b-", i))
			check(t, client.Create(t.Context(), b))
			e := receive(t, w.ResultChan(), "the event")
			if got := e.Object.(ctrlclient.Object).GetName(); e.Type != watch.Added || got != b.Name {
				t.Fatalf("%s %s, want ADDED %s", e.Type, got, b.Name)
			}
		}
	})
}

// A watch that its client leaves ends upstream.
func TestClientLeavesAWatch(t *testing.T) {
	overEach(t, func() *hooks { return &hooks{} }, func(t *testing.T, s *apiServer, _ *proxy.Proxy, _ *hooks, c *rest.Config) {
		ended := make(chan struct{})
		s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			s.watch(w, r)
			close(ended)
			return true
		}
		w, err := dynamicClient(t, c).Watch(t.Context(), metav1.ListOptions{})
		check(t, err)
		w.Stop()
		receive(t, ended, "the upstream's watch to end")
	})
}

// An API server that dies: watches end, requests get a clear error, and a write of unknown fate is told as such.
func TestUpstreamDies(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			h := &hooks{}
			s, p := start(t, kind, h)
			client := ctrlClient(t, config(p))
			w, err := client.Watch(t.Context(), &velerov1.BackupList{}, ctrlclient.InNamespace("velero"))
			check(t, err)
			defer w.Stop()
			s.intercept = func(http.ResponseWriter, *http.Request) bool {
				go s.CloseClientConnections()
				panic(http.ErrAbortHandler)
			}
			if err := client.Create(t.Context(), newBackup("b")); !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "API proxy") {
				t.Errorf("a write while it dies: %v", err)
			}
			for range w.ResultChan() { // ends
			}
			s.Close()
			if err := client.Get(t.Context(), ctrlclient.ObjectKey{Namespace: "velero", Name: "b"}, newBackup("")); !apierrors.IsServiceUnavailable(err) {
				t.Errorf("a read after it died: %v", err)
			}
			if told := h.writes(); len(told) != 1 || told[0].Err == nil || told[0].Code != 0 || proxy.Write(told[0].Request, told[0].Response).Error == "" {
				t.Errorf("told of %v, want one write that has Err", told)
			}
		})
	}
}

// A thousand requests are under way at once: all have arrived before one is answered.
func TestManyAtOnce(t *testing.T) {
	overEach(t, func() *hooks { return &hooks{} }, func(t *testing.T, s *apiServer, _ *proxy.Proxy, h *hooks, c *rest.Config) {
		many := 1000
		if c.NextProtos != nil {
			many = 200 // HTTP/1.1 needs a connection for each
		}
		client := ctrlClient(t, c)
		check(t, client.Create(t.Context(), newBackup("first"))) // connects
		var arrived sync.WaitGroup
		arrived.Add(many)
		all := make(chan struct{})
		go func() { arrived.Wait(); close(all) }()
		s.intercept = func(http.ResponseWriter, *http.Request) bool {
			arrived.Done()
			<-all
			return false
		}
		errs := make(chan error, many)
		for i := range many {
			go func() { errs <- client.Create(t.Context(), newBackup(fmt.Sprint("b-", i))) }()
		}
		for range many {
			check(t, receive(t, errs, "a client"))
		}
		if n := len(h.writes()) - 1; n != many {
			t.Errorf("told of %d writes, want %d", n, many)
		}
	})
}

// Close ends watches and what hooks hold, frees the port, and calls no hook later.
func TestClose(t *testing.T) {
	overEach(t, func() *hooks {
		return &hooks{before: func(q *proxy.Request) proxy.Action {
			if q.Name == "held" {
				return proxy.Action{Wait: func(ctx context.Context) { <-ctx.Done() }}
			}
			return proxy.Action{}
		}}
	}, func(t *testing.T, s *apiServer, p *proxy.Proxy, h *hooks, c *rest.Config) {
		client := ctrlClient(t, c)
		w, err := client.Watch(t.Context(), &velerov1.BackupList{}, ctrlclient.InNamespace("velero"))
		check(t, err)
		defer w.Stop()
		result := make(chan error, 1)
		go func() { result <- client.Create(t.Context(), newBackup("held")) }()
		check(t, client.Create(t.Context(), newBackup("b")))
		receive(t, w.ResultChan(), "an event")
		p.Close()
		for range w.ResultChan() { // ends
		}
		if err := receive(t, result, "the client that was held"); err == nil {
			t.Error("a request that was held when the proxy closed got an answer")
		}
		if got := phaseOf(s, "held"); got != "no object" {
			t.Error("a request that was held when the proxy closed was passed on")
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", strings.TrimPrefix(c.Host, "https://"))
		if err != nil {
			t.Fatalf("the port is not free: %v", err)
		}
		check(t, l.Close())
		if err := client.Create(t.Context(), newBackup("late")); err == nil || len(h.writes()) != 1 {
			t.Errorf("after Close: %v, told of %d writes", err, len(h.writes()))
		}
		p.Close() // again: no harm
	})
}
