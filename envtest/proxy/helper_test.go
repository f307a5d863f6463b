package proxy_test

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/envtest/proxy"
)

const (
	serverAgent = "velero-server/v1.18.3 (linux/amd64) -"
	patience    = 10 * time.Second
)

// told is a write and its answer.
type told struct {
	*proxy.Request
	*proxy.Response
}

// hooks are made of functions, any of which may be nil, and keep what they were told.
type hooks struct {
	before func(*proxy.Request) proxy.Action
	after  func(*proxy.Request, *proxy.Response) proxy.Action

	mu   sync.Mutex
	told []told
}

func (h *hooks) Before(q *proxy.Request) proxy.Action {
	if h.before == nil {
		return proxy.Action{}
	}
	return h.before(q)
}

func (h *hooks) After(q *proxy.Request, r *proxy.Response) proxy.Action {
	h.mu.Lock()
	h.told = append(h.told, told{q, r})
	h.mu.Unlock()
	if h.after == nil {
		return proxy.Action{}
	}
	return h.after(q, r)
}

func (h *hooks) writes() []told {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]told(nil), h.told...)
}

// logged is what a proxy logs, for the test's log.
type logged struct{ testing.TB }

func (l logged) Write(b []byte) (int, error) {
	l.Logf("proxy: %s", bytes.TrimSpace(b))
	return len(b), nil
}

// start starts a proxy before an API server, both to be gone when the test has ended, with all goroutines.
func start(t testing.TB, kind string, h *hooks) (*apiServer, *proxy.Proxy) {
	t.Helper()
	return startOver(t, kind, h, nil)
}

// startOver is start over a line.
func startOver(t testing.TB, kind string, h *hooks, line *proxy.Line) (*apiServer, *proxy.Proxy) {
	t.Helper()
	leavesNothing(t)
	s, upstream := newAPIServer(t, kind)
	p, err := proxy.Start(proxy.Options{Upstream: upstream, Hooks: h, Line: line, Log: logged{t}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return s, p
}

// leavesNothing fails the test if its clean-up leaves goroutines behind.
func leavesNothing(t testing.TB) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks.String())
		}
	})
}

// eventually polls, for what nothing tells of.
func eventually(f func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !f(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// receive waits for what a channel brings.
func receive[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// config is the proxy's, as a server's, without limits to its rate.
func config(p *proxy.Proxy) *rest.Config {
	c := p.Config()
	c.QPS, c.UserAgent = -1, serverAgent
	return c
}

// http1 keeps c's clients from HTTP/2.
func http1(c *rest.Config) *rest.Config {
	c.NextProtos = []string{"http/1.1"}
	return c
}

var backups = velerov1.SchemeGroupVersion.WithResource("backups")

func dynamicClient(t testing.TB, c *rest.Config) dynamic.ResourceInterface {
	t.Helper()
	d, err := dynamic.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return d.Resource(backups).Namespace("velero")
}

func ctrlClient(t testing.TB, c *rest.Config) ctrlclient.WithWatch {
	t.Helper()
	scheme := kruntime.NewScheme()
	if err := velerov1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(velerov1.SchemeGroupVersion.WithKind("Backup"), meta.RESTScopeNamespace)
	client, err := ctrlclient.NewWithWatch(c, ctrlclient.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func newBackup(name string) *velerov1.Backup {
	return &velerov1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: name}}
}

// setPhase writes a backup's phase as Velero does.
func setPhase(ctx context.Context, c ctrlclient.Client, b *velerov1.Backup, phase velerov1.BackupPhase) error {
	old := b.DeepCopy()
	b.Status.Phase = phase
	return c.Patch(ctx, b, ctrlclient.MergeFrom(old))
}

func httpClient(t testing.TB, c *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
