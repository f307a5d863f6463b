package envtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

const (
	// pause is how long the user waits for the server once its location is available: its caches may not show that yet.
	pause = time.Second
	// userTimeout bounds each of the user's requests.
	userTimeout = 30 * time.Second
)

// run is one job.
type run struct {
	world   *World
	job     world.Job
	rec     *recorder
	config  *rest.Config  // of the administrator
	client  client.Client // of the user
	user    cluster.User
	names   *scenario.Naming
	cluster cluster.Cluster
	folder  string // of the run's own
	kept    string // for logs and the object store: the job's, if it has one
	plugins *host.Host
	points  *cluster.Points
	line    *proxy.Line // of all its servers

	ctx    context.Context // of all that the run starts
	cancel context.CancelFunc
	later  sync.WaitGroup // what after does

	starting sync.Mutex // held while a server starts: the last one is none to kill any more

	mu      sync.Mutex
	changed chan struct{}     // closed, and made anew, when something of what follows has changed
	phases  map[string]string // by object; scenario.Deleted: it is gone
	changes int               // of phases, creations and deletions
	held    map[string]bool   // objects whose post-actions are to come, or under way
	fired   map[string]bool   // the faults that have struck, by their IDs
	servers []*server         // the last one is current
	timers  int               // that are to go off
	outages int               // of the object store, that go on
	down    string            // the last word of a server that a plugin has kept from starting
	err     error             // why the run cannot go on
}

// newRun makes what outlives the servers of the run.
func newRun(ctx context.Context, w *World, job world.Job, plane *controlplane.ControlPlane, folder string, rec *recorder) (*run, error) {
	var own []scenario.Plugin
	if job.Scenario, own = job.Scenario.Scripted(); job.Direct == nil {
		if err := w.taken.missing(own); err != nil {
			return nil, err
		}
	}
	name := fmt.Sprintf("j%d", w.jobs.Add(1))
	suffix := "-" + name
	r := &run{
		world: w, job: job, config: plane.Config(), folder: folder, kept: cmp.Or(job.Keep, folder), phases: map[string]string{}, held: map[string]bool{}, fired: map[string]bool{}, changed: make(chan struct{}),
		rec:     rec,
		cluster: cluster.Cluster{Scenario: job.Scenario, Velero: "velero" + suffix, Suffix: suffix},
		names:   rec.names,
		points:  cluster.NewPoints(job.Scenario),
		line:    proxy.NewLine(),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	scheme, err := userScheme()
	if err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-plane.Done():
			r.fail(fmt.Errorf("the control plane ended: %w", plane.Err()))
		case <-r.ctx.Done():
		}
	}()
	user := rest.CopyConfig(r.config)
	user.Timeout = userTimeout
	if r.client, err = client.New(user, client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("failed to reach the control plane: %w", err)
	}
	r.user = cluster.User{Cluster: r.cluster, Client: r.client, Names: r.names, Location: r.location(), Created: r.created, Requested: r.requested}
	if err := r.prepare(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// userScheme has what the user deals with.
func userScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), velerov1.AddToScheme(scheme))
}

// prepare makes the folders, the plugins and what is in the cluster before the server starts.
func (r *run) prepare() error {
	for _, dir := range []string{filepath.Join(r.folder, "plugins"), filepath.Join(r.kept, "store", cluster.Bucket)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if r.job.Direct == nil {
		if err := r.startPlugins(); err != nil {
			return err
		}
	}
	objects, err := r.cluster.Objects(r.location())
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := r.client.Create(r.ctx, o); err != nil {
			return fmt.Errorf("failed to create %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// location is where backups are stored.
func (r *run) location() cluster.Location {
	return cluster.Location{
		Provider: "velosim.io/object-store", Config: map[string]string{"root": filepath.Join(r.kept, "store")},
		Image: "velero/velero:v" + r.world.options.Velero,
	}
}

// close ends all that the run has started.
func (r *run) close() {
	r.cancel()
	r.rec.close()
	r.later.Wait() // it may be starting a server
	for _, s := range r.servers {
		s.end()
	}
	if r.plugins != nil {
		r.plugins.Close()
	}
}

// run plays the scenario.
func (r *run) run() (trace.End, error) {
	if err := r.start(); err != nil {
		return trace.End{}, err
	}
	end, err := r.play()
	if err == nil {
		err = r.rest()
	}
	if err == nil && end.Reason == trace.Settled {
		r.stop()
	}
	end.At = r.rec.now()
	return end, errors.Join(err, r.rec.failed())
}

// play does what the user does, one thing after another.
func (r *run) play() (end trace.End, err error) {
	await := func(done func() bool) (ok bool) {
		end, ok = r.await(done)
		return ok
	}
	if !await(r.is(cluster.LocationObject, "Available")) {
		return end, nil
	}
	r.sleep(pause)
	err = r.user.Play(r.ctx, await, func(object string) string { return r.phases[object] })
	if err != nil || end.Reason != "" {
		return end, err
	}
	return r.settle(), nil
}

// settle lets the run go on until nothing is left to happen to the server, and a while longer.
func (r *run) settle() trace.End {
	quiet := func() bool {
		return r.timers == 0 && !r.servers[len(r.servers)-1].ended && cluster.Resting(r.phases) && len(r.held) == 0
	}
	changes := 0
	for {
		if end, ok := r.await(func() bool { changes = r.changes; return quiet() }); !ok {
			return end
		}
		r.sleep(r.cluster.Settling() + time.Second)
		r.mu.Lock()
		done := quiet() && changes == r.changes
		r.mu.Unlock()
		if done {
			return trace.End{Reason: trace.Settled}
		}
		if !time.Now().Before(r.end()) {
			return trace.End{Reason: trace.Bound}
		}
	}
}

// await waits until done, which is called under the lock; else it says why the run has to end.
func (r *run) await(done func() bool) (trace.End, bool) {
	bound := time.NewTimer(time.Until(r.end()))
	defer bound.Stop()
	for {
		r.mu.Lock()
		ok, changed, down, err := done(), r.changed, r.down, r.err
		r.mu.Unlock()
		switch {
		case err != nil:
			return trace.End{Reason: trace.Environment, Detail: err.Error()}, false
		case r.rec.failed() != nil:
			return trace.End{Reason: trace.Environment, Detail: r.rec.failed().Error()}, false
		case down != "":
			return trace.End{Reason: trace.NotStarted, Detail: down}, false
		case ok:
			return trace.End{}, true
		}
		select {
		case <-changed:
		case <-bound.C:
			return trace.End{Reason: trace.Bound}, false
		case <-r.ctx.Done():
			return trace.End{Reason: trace.Environment, Detail: "interrupted"}, false
		}
	}
}

// end is the bound of the run.
func (r *run) end() time.Time { return r.rec.position.start.Add(time.Duration(r.job.Bound)) }

func (r *run) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
	}
}

// change changes the run's state, and wakes who waits for that.
func (r *run) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *run) fail(err error) {
	r.change(func() { r.err = errors.Join(r.err, err) })
}

func (r *run) is(object, phase string) func() bool {
	return func() bool { return r.phases[object] == phase }
}

// after does something later, unless the run has ended.
func (r *run) after(d time.Duration, do func()) {
	r.change(func() { r.timers++ })
	r.later.Go(func() {
		r.sleep(d)
		if r.ctx.Err() == nil {
			do()
		}
		r.change(func() { r.timers-- })
	})
}
