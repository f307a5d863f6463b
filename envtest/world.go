package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/controlplane/velerocrds"
	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// logName is how the log of etcd and kube-apiserver is called.
const logName = "control-plane.log"

// parallel is how many jobs run at a time, at most.
const parallel = 8

// Options say what to run. All paths but those of ActionsServer and Extra are required.
type Options struct {
	// Assets is the folder of etcd and kube-apiserver.
	Assets string
	// Server is the velero executable, and Velero its release, without a "v".
	Server, Velero string
	// ActionsServer is the executable that stands in for velero where plugins have pre- and post-actions (sim/velero/cmd/velosim-server), of the
	// same release; empty: they cannot be run.
	ActionsServer string
	// Plugins is the executable that serves scripted plugins (velosim-plugins).
	Plugins string
	// Extra are further plugin executables that the server gets.
	Extra []string
	// CRDs are files with definitions of custom resources, in YAML, that the control plane has beside Velero's.
	CRDs []string
	// Exclusive: the server's ports exclude another one, so that one job runs at a time.
	Exclusive bool
}

// World runs scenarios on a control plane that the first one starts.
type World struct {
	options Options

	mu       sync.Mutex
	plane    *controlplane.ControlPlane
	probed   bool // the extra plugins were, and unusable is why no run can be
	unusable error
	taken    registrations // by the extra plugins
	log      *os.File      // of the control planes; nil: none was started

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
		Capabilities: []string{world.CanBackup, world.CanRestore, world.CanKill, world.CanPause, world.CanSever, world.CanStore}, // all its servers share their CRDs
	}
	if w.options.Exclusive {
		info.Parallel = 1
	} else {
		info.Capabilities = append(info.Capabilities, world.CanRollOut)
	}
	if w.options.ActionsServer != "" {
		info.Capabilities = append(info.Capabilities, world.CanAct)
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
	if err := room(os.TempDir()); err != nil {
		return nil, err
	}
	crds, err := w.options.definitions()
	if err != nil {
		return nil, err
	}
	if w.log == nil {
		if w.log, err = os.CreateTemp("", logName); err != nil {
			return nil, err
		}
	}
	pprof.SetGoroutineLabels(context.Background()) // what is started now is no job's (world.Serve)
	defer pprof.SetGoroutineLabels(ctx)
	plane, err := controlplane.Start(ctx, controlplane.Options{Assets: w.options.Assets, CRDs: append(actions.ExtendCRDs(velerocrds.All()), crds...), Log: w.log})
	if err != nil {
		return nil, fmt.Errorf("failed to start the %w\n(--out keeps its whole log, %s)", err, logName)
	}
	w.plane = plane
	return plane, nil
}

// usable says why no scenario can be run: a plugin of the user's is unusable.
func (w *World) usable(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.probed {
		w.taken, w.unusable = w.options.probe(ctx, os.TempDir())
		w.probed = true
	}
	return w.unusable
}

// keepLog copies the control plane's log into a job's folder, if it has one.
func (w *World) keepLog(folder string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log == nil || folder == "" {
		return nil
	}
	b, err := os.ReadFile(w.log.Name())
	return errors.Join(err, os.WriteFile(filepath.Join(folder, logName), b, 0o600))
}

// Close ends the control plane.
func (w *World) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log != nil {
		defer os.Remove(w.log.Name())
		defer w.log.Close()
	}
	if w.plane == nil {
		return nil
	}
	plane := w.plane
	w.plane = nil
	return plane.Stop()
}

// Run implements world.World.
func (w *World) Run(ctx context.Context, job world.Job, sink func(trace.Event) error) (_ trace.End, err error) {
	defer func() { err = errors.Join(err, w.keepLog(job.Keep)) }()
	p := &position{asked: time.Now()}
	w.positions.Store(job.ID, p)
	defer w.positions.Delete(job.ID)
	plane, err := w.controlPlane(ctx)
	if err == nil && job.Direct == nil {
		err = w.usable(ctx)
	}
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
	r, err := newRun(ctx, w, job, plane, folder, &recorder{position: p, sink: sink, names: scenario.NewNaming(job.Scenario), dead: map[int]bool{}})
	if err != nil {
		return trace.End{}, err
	}
	defer r.close()
	if job.Direct != nil {
		return r.direct()
	}
	return r.run()
}
