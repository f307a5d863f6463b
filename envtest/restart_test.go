package envtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// TestKilledWhileItStarts: a fault that strikes when the trace says that the server has started, and its process is still being made,
// kills this one.
func TestKilledWhileItStarts(t *testing.T) {
	folder, err := os.MkdirTemp("", "restart-") // shorter than t.TempDir, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	velero := filepath.Join(folder, "velero")
	if err := os.WriteFile(velero, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &run{
		job: world.Job{Scenario: &scenario.Scenario{}}, world: New(Options{Server: velero}), config: &rest.Config{Host: "http://127.0.0.1:1"}, folder: folder, kept: folder,
		cluster: cluster.Cluster{Velero: "velero"}, changed: make(chan struct{}), phases: map[string]string{}, line: proxy.NewLine(),
	}
	r.ctx, r.cancel = context.WithCancel(t.Context())
	fault := func(id string) scenario.Fault {
		return scenario.Fault{ID: id, At: scenario.Point{Delay: scenario.Duration{Duration: 1}}, Do: scenario.Do{Kill: &scenario.Kill{}}}
	}
	var told []string
	third := make(chan struct{})
	r.rec = &recorder{position: &position{start: time.Now()}, names: scenario.NewNaming(&scenario.Scenario{}), dead: map[int]bool{}, sink: func(e trace.Event) error {
		switch {
		case e.Fault != nil && e.Fault.Missed != "":
			told = append(told, e.Fault.ID+" missed: "+e.Fault.Missed)
			close(third)
		case e.Fault != nil:
			told = append(told, e.Fault.ID)
		case e.Process != nil:
			if told = append(told, e.Process.State); e.Incarnation == 2 && e.Process.State == "started" {
				r.strike(nil, fault("second"))
			} else if e.Incarnation == 3 {
				close(third)
			}
		}
		return nil
	}}
	if r.plugins, err = host.Listen(r.ctx, folder, host.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	r.strike(nil, fault("first"))
	select {
	case <-third:
	case <-time.After(time.Minute):
		t.Error("it hangs")
	}
	r.close()
	if want := []string{"started", "first", "killed", "started", "second", "killed", "started"}; !cmp.Equal(want, told) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, told))
	}
	if r.err != nil {
		t.Error(r.err)
	}
	for _, s := range r.servers {
		select {
		case <-s.process.Done():
		default:
			t.Errorf("server %d still runs", s.incarnation)
		}
	}
}
