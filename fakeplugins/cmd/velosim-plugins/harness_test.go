package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt/process"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// The tests are Velero's own client side: its registry and plugin manager start the executable, which TestMain builds.
func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if folder := os.Getenv(worldVariable); folder != "" {
		return beWorld(folder)
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "velosim-plugins-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's temporary folder
	executable := filepath.Join(dir, "velero")
	if out, err := exec.Command("go", "build", "-o", executable, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "failed to build the executable: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv("TMPDIR", dir); err != nil { // where plugins that are killed leave their sockets
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Velero's client side starts its own executable for the plugins that are part of it, and passes the arguments on.
	os.Args = []string{executable, "server", "--log-level", "debug", "--plugin-dir", dir, "--metrics-address=127.0.0.1:0"}
	return m.Run()
}

const deadline = 30 * time.Second

// server is what of Velero's server starts plugins, and the world around it.
type server struct {
	t     testing.TB
	dir   string // of the plugins
	store string // the object store's folder
	host  *host.Host
	log   *logrus.Logger // Velero's

	mu        sync.Mutex
	processes []host.Process
	events    []string
	logged    strings.Builder
	calls     chan trace.Call // those that have begun
}

// serve makes a world of these executables.
func serveWorld(t testing.TB, executables map[string]host.Executable, options ...func(*host.Options)) *server {
	t.Helper()
	root, err := os.MkdirTemp("", "velosim-plugins-test-")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: filepath.Join(root, "plugins"), store: filepath.Join(root, "store"), calls: make(chan trace.Call, 1000)}
	s.log = &logrus.Logger{Out: io.Discard, Formatter: new(logrus.JSONFormatter), Hooks: logrus.LevelHooks{}, Level: logrus.DebugLevel}
	s.log.AddHook(s)
	all := map[string]host.Executable{"velero": {}}
	for _, d := range []string{s.dir, s.store} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, e := range executables {
		all[name] = e
		if err := os.Link(os.Args[0], filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	o := host.Options{
		Executables: all,
		Journal:     func(host.Process) fakeplugins.Journal { return s.journal },
		Access:      s.access,
		Started:     s.started,
		Failed:      func(err error) { s.record("failed: %v", err) },
	}
	for _, f := range options {
		f(&o)
	}
	if s.host, err = host.Listen(t.Context(), filepath.Join(root, "socket"), o); err != nil {
		t.Fatal(err)
	}
	name, value, _ := strings.Cut(s.host.Env(), "=")
	t.Setenv(name, value)
	t.Cleanup(func() {
		s.host.Close()
		for _, p := range s.all() {
			gone(t, p.PID)
		}
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *server) journal(object string, c trace.Call) func(trace.Return) {
	s.record("%s %s %s %s%s %s", object, c.Plugin, c.Method, c.Item, c.Operation, c.Phase)
	s.calls <- c
	return func(r trace.Return) {
		p := ""
		if r.Progress != nil {
			p = fmt.Sprintf("%d of %d", r.Progress.Done, r.Progress.Of)
		}
		if r.Ready != nil && *r.Ready {
			p = "ready"
		}
		s.record("%s: %s%s%s", c.Method, r.Operation, r.Error, p)
	}
}

func (s *server) access(_ host.Process, a trace.Store) (host.StoreFault, func(trace.Store)) {
	return host.StoreFault{}, func(o trace.Store) { s.record("%s %s: %d %s", a.Verb, a.Key, o.Size, o.Error) }
}

func (s *server) started(p host.Process, _ wire.Start) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = append(s.processes, p)
}

func (s *server) record(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Levels and Fire implement logrus.Hook.
func (s *server) Levels() []logrus.Level { return logrus.AllLevels }

func (s *server) Fire(e *logrus.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logged.WriteString(e.Message + "\n")
	return nil
}

// wantLogged waits until Velero's log has an entry with the text.
func (s *server) wantLogged(text string) {
	s.t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		log := s.logged.String()
		s.mu.Unlock()
		if strings.Contains(log, text) {
			return
		}
		if time.Now().After(end) {
			s.t.Errorf("Velero has not logged %q, but %d bytes, at last %q", text, len(log), log[max(0, len(log)-300):])
			return
		}
	}
}

// all are the processes that have registered.
func (s *server) all() []host.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]host.Process(nil), s.processes...)
}

func (s *server) last() host.Process { all := s.all(); return all[len(all)-1] }

// registry lists the plugins, as the server does when it starts.
func (s *server) registry() (process.Registry, error) {
	r := process.NewRegistry(s.dir, s.log, s.log.Level)
	return r, r.DiscoverPlugins()
}

// manager is a new plugin manager, as every reconcile has one: its processes are new. It is cleaned up with the test.
func (s *server) manager() clientmgmt.Manager {
	s.t.Helper()
	r, err := s.registry()
	if err != nil {
		s.t.Fatal(err)
	}
	m := clientmgmt.NewManager(s.log, s.log.Level, r)
	s.t.Cleanup(m.CleanupClients)
	return m
}

// gone waits until the process is no more.
func gone(t testing.TB, pid int) {
	t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		err := syscall.Kill(pid, 0)
		switch {
		case errors.Is(err, syscall.ESRCH):
			return
		case time.Now().After(end):
			t.Errorf("process %d is left", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL) // a child of this test
			return
		}
	}
}

// within waits for what comes.
func within[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(deadline):
		t.Fatal("it takes too long")
		panic("unreachable")
	}
}

// again calls f until Velero has seen that the former process has ended, and has started another one.
func again(t testing.TB, f func() error) error {
	t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(5 * time.Millisecond) {
		err := f()
		if err == nil || !strings.Contains(err.Error(), "Unavailable") || time.Now().After(end) {
			return err
		}
	}
}

// later calls f in a goroutine.
func later(f func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- f() }()
	return c
}

func movers(script scenario.Plugin) map[string]host.Executable {
	script.Name = "example.io/mover"
	if script.Action == "" {
		script.Action = scenario.BackupItemAction
	}
	return map[string]host.Executable{"movers": {Plugins: []scenario.Plugin{script}}}
}

func struckBy(script scenario.Plugin, strikes ...host.Strike) map[string]host.Executable {
	m := movers(script)
	e := m["movers"]
	e.Strikes = strikes
	m["movers"] = e
	return m
}

func backup(phase velerov1.BackupPhase) *velerov1.Backup {
	b := new(velerov1.Backup)
	b.Name, b.Status.Phase = "backup-1", phase
	return b
}

func settings() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "app", "name": "settings"},
	}}
}
