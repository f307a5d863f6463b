package envtest

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestCut: a call ends with its process, once, and not if that ends with the server.
func TestCut(t *testing.T) {
	var told []trace.Body
	r := &run{changed: make(chan struct{}), rec: &recorder{
		position: &position{start: time.Now()}, names: scenario.NewNaming(&scenario.Scenario{}), dead: map[int]bool{},
		sink: func(e trace.Event) error { told = append(told, e.Body); return nil },
	}}
	s := &server{incarnation: 1, run: r, acting: map[int]acting{}}
	call := func(id int) *exec.Cmd {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.begins(host.Process{PID: cmd.Process.Pid}, "backup/backup-1", trace.Call{ID: id, Plugin: "example.io/quiesce"})
		return cmd
	}
	kill := func(cmd *exec.Cmd) {
		cmd.Process.Kill() //nolint:errcheck // it runs
		cmd.Wait()         //nolint:errcheck // it was killed
	}
	first, second := call(1), call(2)
	s.cut()
	kill(first)
	s.cut()
	if s.ends(1) {
		t.Error("a call that was cut has ended again")
	}
	s.claim()
	kill(second)
	s.cut()
	want := []trace.Body{
		{Return: &trace.Return{ID: 1, Error: cluster.CrashError}},
		{Process: &trace.Process{Name: "example.io/quiesce", State: "killed"}},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
