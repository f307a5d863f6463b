package envtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/controlplane/velerocrds"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// parallel is how many jobs run at a time, at most.
const parallel = 8

// Options say what to run. All paths are required.
type Options struct {
	// Assets is the folder of etcd and kube-apiserver.
	Assets string
	// Server is the velero executable, and Velero its release, without a "v".
	Server, Velero string
	// Plugins is the executable that serves scripted plugins (velosim-plugins).
	Plugins string
	// Extra are further plugin executables that the server gets. None is required.
	Extra []string
	// Exclusive: the server's ports exclude another one, so that one job runs at a time.
	Exclusive bool
}

// World runs scenarios on a control plane that the first one starts.
type World struct {
	options Options

	mu       sync.Mutex
	plane    *controlplane.ControlPlane
	probed   bool // the extra plugins were, and unusable is why one does not start
	unusable error

	jobs      atomic.Int64 // that were ever run
	positions sync.Map     // *position, by job
}

// position is how far a job is, from when it was asked for; its trace begins when the control plane is there.
type position struct {
	asked, start time.Time
	events       atomic.Int64
}

// New returns the world. Close it.
func New(o Options) *World { return &World{options: o} }

// Info implements world.World.
func (w *World) Info() world.Info {
	info := world.Info{
		World: "envtest", Velero: w.options.Velero, Scale: scenario.RealTimeScale, Parallel: parallel,
		Capabilities: []string{world.CanBackup, world.CanRestore, world.CanKill, world.CanStore},
	}
	if w.options.Exclusive {
		info.Parallel = 1
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		info.Build = b.GoVersion
	}
	return info
}

// Position implements world.World: time goes on by itself.
func (w *World) Position(job int) world.Position {
	p, ok := w.positions.Load(job)
	if !ok {
		return world.Position{}
	}
	at := p.(*position)
	return world.Position{At: trace.Time(time.Since(at.asked)), Steps: at.events.Load()}
}

// controlPlane returns the control plane, which the first call starts, and one that finds it ended.
func (w *World) controlPlane(ctx context.Context) (*controlplane.ControlPlane, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plane != nil {
		select {
		case <-w.plane.Done():
		default:
			return w.plane, nil
		}
	}
	for _, path := range w.options.Extra {
		if w.unusable == nil && !w.probed {
			w.unusable = probe(ctx, path, os.TempDir())
		}
	}
	if w.probed = true; w.unusable != nil {
		return nil, w.unusable
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Assets: w.options.Assets, CRDs: velerocrds.All()})
	if err != nil {
		return nil, fmt.Errorf("failed to start the control plane: %w", err)
	}
	w.plane = plane
	return plane, nil
}

// Close ends the control plane.
func (w *World) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plane == nil {
		return nil
	}
	plane := w.plane
	w.plane = nil
	return plane.Stop()
}

// Run implements world.World.
func (w *World) Run(ctx context.Context, job world.Job, sink func(trace.Event) error) (trace.End, error) {
	p := &position{asked: time.Now()}
	w.positions.Store(job.ID, p)
	defer w.positions.Delete(job.ID)
	plane, err := w.controlPlane(ctx)
	if err != nil {
		return trace.End{}, err
	}
	p.start = time.Now()
	folder, err := os.MkdirTemp("", "job-")
	if err != nil {
		return trace.End{}, fmt.Errorf("failed to make a folder for the run: %w", err)
	}
	defer os.RemoveAll(folder)
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return trace.End{}, err
	}
	r, err := newRun(ctx, w, job, plane, folder, &recorder{position: p, sink: sink, dead: map[int]bool{}})
	if err != nil {
		return trace.End{}, err
	}
	defer r.close()
	return r.run()
}
