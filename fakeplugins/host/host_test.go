package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

var mover = wire.Plugin{Name: "example.io/mover", Action: scenario.BackupItemAction}

// world is a host, and what it was told.
type world struct {
	*host.Host
	options  host.Options
	ended    chan host.Process
	failures chan error

	mu     sync.Mutex
	events []string
}

// listen makes a host of an executable "movers" with a plugin example.io/mover.
func listen(t *testing.T, script scenario.Plugin, o host.Options) *world {
	t.Helper()
	script.Name, script.Action = mover.Name, mover.Action
	w := &world{options: o, ended: make(chan host.Process, 100), failures: make(chan error, 100)}
	movers := o.Executables["movers"]
	movers.Plugins = []scenario.Plugin{script}
	w.options.Executables = map[string]host.Executable{"movers": movers}
	w.options.Ended = func(p host.Process) { w.ended <- p }
	w.options.Failed = func(err error) { w.failures <- err }
	if o.Journal == nil {
		w.options.Journal = func(host.Process) fakeplugins.Journal { return w.journal }
	}
	h, err := host.Listen(t.Context(), folder(t), w.options)
	if err != nil {
		t.Fatal(err)
	}
	w.Host = h
	t.Cleanup(h.Close)
	return w
}

// folder is a private folder with a short path.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "velosim-host-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (w *world) journal(object string, c trace.Call) func(trace.Return) {
	w.record("%s %s %s%s", object, c.Method, c.Item, c.Operation)
	return func(r trace.Return) { w.record("%s: %s%s", c.Method, r.Operation, r.Error) }
}

func (w *world) record(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// process is a plugin process, as the host sees it.
func (w *world) process(t *testing.T, strike func(wire.Strike)) (*wire.Client, wire.Registration) {
	t.Helper()
	c := w.dial(t)
	r, err := c.Register("movers", strike)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func (w *world) dial(t *testing.T) *wire.Client {
	t.Helper()
	c, err := wire.Dial(strings.TrimPrefix(w.Env(), wire.SocketEnv+"="))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// within waits for what comes.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("it takes too long")
		panic("unreachable")
	}
}

func begin(t *testing.T, c *wire.Client, method, operation string) fakeplugins.Begun {
	t.Helper()
	b, err := c.Caller(mover).Begin("backup/b", trace.Call{Method: method, Operation: operation})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func finish(t *testing.T, b fakeplugins.Begun) fakeplugins.Outcome {
	t.Helper()
	out, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRegistration(t *testing.T) {
	w := listen(t, scenario.Plugin{Version: 1}, host.Options{Executables: map[string]host.Executable{
		"movers": {ObjectStore: true, Starts: []host.Start{{Nth: 2, Times: 1, Start: wire.Start{NoHandshake: true}}}},
	}})
	for i, hangs := range []bool{false, true, false} {
		_, got := w.process(t, nil)
		want := wire.Registration{
			Plugins:     []wire.Plugin{{Name: mover.Name, Action: mover.Action, Version: 1}},
			ObjectStore: true, Start: wire.Start{NoHandshake: hangs},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("start %d (-want +got):\n%s", i+1, diff)
		}
	}
}

func TestOperationsOutliveProcesses(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		w := listen(t, scenario.Plugin{Operation: &scenario.Operation{Forgets: forgets}}, host.Options{})
		first, _ := w.process(t, nil)
		if out := finish(t, begin(t, first, "Execute", "")); out.Operation != "b/mover-1" {
			t.Fatalf("Execute: %+v", out)
		}
		other, _ := w.process(t, nil)
		for c, known := range map[*wire.Client]bool{first: true, other: !forgets} {
			if out := finish(t, begin(t, c, "Progress", "b/mover-1")); (out.Progress != nil) != known || (out.Error == "") != known {
				t.Errorf("forgets %t: %+v, want known %t", forgets, out, known)
			}
		}
	}
}

// A process that ends before it finishes its call has had no effect, and its call no outcome.
func TestProcessEndsBetweenBeginAndFinish(t *testing.T) {
	w := listen(t, scenario.Plugin{Operation: new(scenario.Operation)}, host.Options{})
	c, _ := w.process(t, nil)
	b := begin(t, c, "Execute", "")
	_ = c.Close()
	within(t, w.ended)
	if _, err := b.Finish(); err == nil {
		t.Error("a process that has ended finished its call")
	}
	next, _ := w.process(t, nil)
	finish(t, begin(t, next, "Execute", ""))
	want := []string{"backup/b Execute", "backup/b Execute", "Execute: b/mover-1"}
	if diff := cmp.Diff(want, w.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A hook that never returns holds up one call of one process, and neither others nor Close.
func TestHookThatBlocks(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	var blocked bool
	var w *world
	o := host.Options{Journal: func(host.Process) fakeplugins.Journal {
		return func(object string, c trace.Call) func(trace.Return) {
			w.mu.Lock()
			first := !blocked
			blocked = true
			w.mu.Unlock()
			if first {
				close(reached)
				<-release
			}
			return w.journal(object, c)
		}
	}}
	w = listen(t, scenario.Plugin{Operation: new(scenario.Operation)}, o)
	c, _ := w.process(t, nil)
	failed := make(chan error)
	go func() {
		_, err := c.Caller(mover).Begin("backup/b", trace.Call{Method: "Execute"})
		failed <- err
	}()
	within(t, reached)
	for _, p := range []*wire.Client{c, w.dial(t)} { // the same process and another
		if p != c {
			if _, err := p.Register("movers", nil); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error)
		go func() {
			_, err := p.Caller(mover).Begin("backup/b", trace.Call{Method: "Execute"})
			done <- err
		}()
		if err := within(t, done); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	if err := within(t, failed); err == nil {
		t.Error("the call that is held up succeeded")
	}
}

func TestCloseEndsProcesses(t *testing.T) {
	for name, end := range map[string]func(*world, context.CancelFunc){
		"Close":   func(w *world, _ context.CancelFunc) { w.Close(); w.Close() },
		"context": func(_ *world, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &world{ended: make(chan host.Process, 1)}
			w.options = host.Options{
				Executables: map[string]host.Executable{"movers": {}},
				Ended:       func(p host.Process) { w.ended <- p },
				Failed:      func(err error) { t.Errorf("failed: %v", err) },
			}
			dir := filepath.Join(folder(t), "made")
			var err error
			if w.Host, err = host.Listen(ctx, dir, w.options); err != nil {
				t.Fatal(err)
			}
			c, _ := w.process(t, nil)
			end(w, cancel)
			within(t, c.Closed())
			if p := within(t, w.ended); p.PID != os.Getpid() || p.Parent != os.Getppid() || p.Executable != "movers" {
				t.Errorf("ended %+v", p)
			}
			w.Close()
			if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
				t.Errorf("left over: %v, %v", left, err)
			}
			if _, err := wire.Dial(filepath.Join(dir, "plugins.sock")); err == nil {
				t.Error("there is a host still")
			}
		})
	}
}

func TestListenErrors(t *testing.T) {
	public := folder(t)
	if err := os.Chmod(public, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		public: "make it 0700",
		filepath.Join(folder(t), strings.Repeat("x", 100)): "set TMPDIR to a shorter one",
	} {
		if _, err := host.Listen(t.Context(), dir, host.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Listen: %v, want %s", err, want)
		}
	}
}
