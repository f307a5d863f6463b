package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	hcplugin "github.com/hashicorp/go-plugin"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
)

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

var starts = scenario.Plugin{Operation: new(scenario.Operation)}

// exited are the two errors that go-plugin makes of a process that ends before its handshake, depending on what it sees first.
const exited = "plugin exited before we could connect|the plugin failed to negotiate the initial go-plugin protocol handshake"

// TestStarts has the executable go wrong when the server lists its plugins: the server does not start.
func TestStarts(t *testing.T) {
	status := 3
	for name, tt := range map[string]struct {
		start  wire.Start
		want   string
		logged string
	}{
		"exits":            {wire.Start{Stderr: "cannot find the cloud\n", Exit: &status}, exited, "cannot find the cloud"},
		"panics":           {wire.Start{Panic: "no credentials"}, exited, "panic: no credentials"},
		"is killed":        {wire.Start{Strike: &wire.Strike{Do: wire.Kill}}, exited, ""},
		"writes something": {wire.Start{Handshake: "Hello!"}, "Unrecognized remote plugin message: Hello!", ""},
		"another version":  {wire.Start{ProtocolVersion: 3}, "Plugin version: 3, Client versions: [2]", ""},
		"is another":       {wire.Start{}, exited, `no plugin executable "others"`},
	} {
		t.Run(name, func(t *testing.T) {
			m := movers(starts)
			e := m["movers"]
			e.Starts = []host.Start{{Start: tt.start}}
			m["movers"] = e
			s := serveWorld(t, m)
			if name == "is another" {
				if err := os.Rename(filepath.Join(s.dir, "movers"), filepath.Join(s.dir, "others")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.registry()
			contains(t, err, tt.want)
			if tt.logged != "" {
				s.wantLogged(tt.logged)
			}
		})
	}
}

// A slow start, and one with much to say, are starts; only the second goes wrong.
func TestSlowStartAndLaterStarts(t *testing.T) {
	const delay = 300 * time.Millisecond
	m := movers(starts)
	e := m["movers"]
	e.Starts = []host.Start{
		{Times: 1, Start: wire.Start{Delay: delay, LogLines: 5000}},
		{Nth: 2, Times: 1, Start: wire.Start{Panic: "the second"}},
	}
	m["movers"] = e
	s := serveWorld(t, m)
	began := time.Now()
	mgr := s.manager()
	if took := time.Since(began); took < delay {
		t.Errorf("the start took %s, want at least %s", took, delay)
	}
	s.wantLogged("line 5000 of 5000 from a plugin")
	_, err := mgr.GetBackupItemActionV2(name)
	contains(t, err, exited)
	if id, err := execute(action(t, mgr)); id != "backup-1/mover-1" || err != nil {
		t.Errorf("after the third start: %s, %v", id, err)
	}
}

// go-plugin ends a process that does not shake hands, after a minute in Velero.
func TestNoHandshake(t *testing.T) {
	m := movers(starts)
	e := m["movers"]
	e.Starts = []host.Start{{Start: wire.Start{NoHandshake: true}}}
	m["movers"] = e
	s := serveWorld(t, m)
	client := hcplugin.NewClient(&hcplugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), AllowedProtocols: []hcplugin.Protocol{hcplugin.ProtocolGRPC},
		Plugins: map[string]hcplugin.Plugin{}, Cmd: exec.Command(filepath.Join(s.dir, "movers")), StartTimeout: time.Second, Logger: hclog.NewNullLogger(),
	})
	defer client.Kill()
	_, err := client.Start()
	contains(t, err, "timeout while waiting for plugin to start")
	gone(t, s.last().PID)
}

// TestStrikes has the process end in Execute: what is told is not lost, and Velero starts another process.
func TestStrikes(t *testing.T) {
	const begun = "backup/backup-1 example.io/mover Execute configmaps/app/settings InProgress"
	for name, tt := range map[string]struct {
		do     wire.Deed
		after  bool
		next   string
		events []string
		logged string
	}{
		"killed before": {wire.Kill, false, "backup-1/mover-1", []string{begun, begun, "Execute: backup-1/mover-1"}, ""},
		"killed after":  {wire.Kill, true, "backup-1/mover-2", []string{begun, "Execute: backup-1/mover-1", begun, "Execute: backup-1/mover-2"}, ""},
		"panic before":  {wire.Panic, false, "backup-1/mover-1", []string{begun, begun, "Execute: backup-1/mover-1"}, "panic in a goroutine"},
		"panic after":   {wire.Panic, true, "backup-1/mover-2", []string{begun, "Execute: backup-1/mover-1", begun, "Execute: backup-1/mover-2"}, "panic in a goroutine"},
		"exit after":    {wire.Exit, true, "backup-1/mover-2", []string{begun, "Execute: backup-1/mover-1", begun, "Execute: backup-1/mover-2"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveWorld(t, struckBy(starts, host.Strike{Method: "Execute", Times: 1, After: tt.after, Strike: wire.Strike{Do: tt.do}}))
			a := action(t, s.manager())
			struck := s.last().PID
			if id, err := execute(a); err == nil {
				t.Errorf("Execute returned %s", id)
			}
			gone(t, struck)
			var id string
			if err := again(t, func() (err error) { id, err = execute(a); return err }); id != tt.next || err != nil {
				t.Errorf("the next Execute: %s, %v; want %s", id, err, tt.next)
			}
			if tt.logged != "" {
				s.wantLogged(tt.logged)
			}
			s.wantEvents(tt.events...)
			if _, err := progress(a); err != nil {
				t.Errorf("Progress: %v", err)
			}
		})
	}
}

// A process that is stopped answers when it goes on.
func TestStopped(t *testing.T) {
	s := serveWorld(t, struckBy(starts, host.Strike{Method: "Progress", Times: 1, Strike: wire.Strike{Do: wire.Stop}}))
	a := action(t, s.manager())
	if _, err := execute(a); err != nil {
		t.Fatal(err)
	}
	done := later(func() error { _, err := progress(a); return err })
	within(t, s.calls)
	within(t, s.calls)
	pid := s.last().PID
	for end := time.Now().Add(deadline); state(t, pid) != "T"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the process is %s, want T (stopped)", state(t, pid))
		}
	}
	select {
	case err := <-done:
		t.Errorf("the call of a process that was stopped returned: %v", err)
	default:
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := within(t, done); err != nil {
		t.Error(err)
	}
}

// state is the state letter of a process, by proc(5).
func state(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

func TestLogFlood(t *testing.T) {
	const lines = 20000
	s := serveWorld(t, struckBy(starts, host.Strike{Method: "Execute", After: true, Strike: wire.Strike{LogLines: lines}}))
	if id, err := execute(action(t, s.manager())); id != "backup-1/mover-1" || err != nil {
		t.Errorf("Execute: %s, %v", id, err)
	}
	s.wantLogged("line 20000 of 20000 from a plugin")
}
