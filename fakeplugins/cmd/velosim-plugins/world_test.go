package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	hcplugin "github.com/hashicorp/go-plugin"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestFiftyProcesses(t *testing.T) {
	s := serveWorld(t, movers(scenario.Plugin{Operation: new(scenario.Operation)}))
	r, err := s.registry()
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	ids := make([]string, n)
	var wg sync.WaitGroup
	var up sync.WaitGroup // all of them at once
	up.Add(n)
	for i := range n {
		wg.Go(func() {
			m := clientmgmt.NewManager(s.log, s.log.Level, r)
			defer m.CleanupClients()
			a, err := m.GetBackupItemActionV2(name)
			up.Done()
			up.Wait()
			if err == nil {
				ids[i], err = execute(a)
			}
			if err == nil {
				_, err = a.Progress(ids[i], backup(""))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != n || seen[""] {
		t.Errorf("%d operations, want %d", len(seen), n)
	}
	for _, p := range s.all() {
		gone(t, p.PID)
	}
}

// The host does not answer, as it has killed the server: the call has no effect, and the world goes on.
func TestBlockedHost(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	var s *server
	first := true
	s = serveWorld(t, movers(scenario.Plugin{Operation: new(scenario.Operation)}), func(o *host.Options) {
		o.Journal = func(host.Process) fakeplugins.Journal {
			return func(object string, c trace.Call) func(trace.Return) {
				s.mu.Lock()
				blocks := first
				first = false
				s.mu.Unlock()
				returned := s.journal(object, c)
				if blocks {
					<-block
				}
				return returned
			}
		}
	})
	a := action(t, s.manager())
	done := later(func() error { _, err := execute(a); return err })
	within(t, s.calls)
	kill(t, s.last().PID)
	if err := within(t, done); err == nil {
		t.Error("a call of a process that was killed succeeded")
	}
	var id string
	if err := again(t, func() (err error) { id, err = execute(a); return err }); id != "backup-1/mover-1" || err != nil {
		t.Errorf("the next Execute: %s, %v", id, err)
	}
}

// The world ends while a plugin hangs: the process ends by itself.
func TestWorldEnds(t *testing.T) {
	script := scenario.Plugin{Operation: new(scenario.Operation)}
	script.Execute.Hang = true
	s := serveWorld(t, movers(script))
	a := action(t, s.manager())
	done := later(func() error { _, err := execute(a); return err })
	within(t, s.calls)
	s.host.Close()
	if err := within(t, done); err == nil {
		t.Error("the call succeeded")
	}
	gone(t, s.last().PID)
	_, err := s.registry()
	contains(t, err, exited)
	s.wantLogged("may have ended")
}

// worldVariable makes a test binary a world that has its socket in the folder that it names, until its stdin ends.
const worldVariable = "VELOSIM_TEST_WORLD"

func beWorld(folder string) int {
	h, err := host.Listen(context.Background(), folder, host.Options{Executables: map[string]host.Executable{"velero": {}}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer h.Close()
	fmt.Println(h.Env())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// The world is killed: its plugins end by themselves.
func TestWorldIsKilled(t *testing.T) {
	folder, err := os.MkdirTemp("", "velosim-plugins-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	world := exec.Command(self)
	world.Env = append(os.Environ(), worldVariable+"="+folder)
	stdin, err := world.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := world.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Start(); err != nil {
		t.Fatal(err)
	}
	env, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), strings.TrimSpace(env))
	client := hcplugin.NewClient(&hcplugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), AllowedProtocols: []hcplugin.Protocol{hcplugin.ProtocolGRPC},
		Plugins: map[string]hcplugin.Plugin{}, Cmd: cmd, Logger: hclog.NewNullLogger(),
	})
	defer client.Kill()
	if _, err := client.Start(); err != nil {
		t.Fatal(err)
	}
	kill(t, world.Process.Pid)
	if err := world.Wait(); err == nil {
		t.Error("the world was not killed")
	}
	gone(t, cmd.Process.Pid)
	if _, err := wire.Dial(strings.TrimPrefix(strings.TrimSpace(env), wire.SocketEnv+"=")); err == nil {
		t.Error("there is a world still")
	}
}
