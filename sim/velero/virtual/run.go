package virtual

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/apiserver"
	"github.com/velosim/velosim/sim/velero/sched"
	"github.com/velosim/velosim/sim/world"
)

const (
	// pause is how long the user waits for the server to have started and seen its location: longer than any latency that
	// the scheduler makes up. A backup created at once can be FailedValidation, as the cache does not show the location as
	// available yet, or ignored, as the backup controller has no handler yet.
	pause = 5 * time.Second
	// slack is how much longer than it must a run goes on when everything is final, as of latencies.
	slack = 5 * time.Second
	// longestPause is how long a run that is over waits at most for the next try of what is tried again.
	longestPause = 200 * time.Hour
)

// run is one job, inside its bubble.
type run struct {
	world *World
	job   world.Job
	rec   *recorder
	sched *sched.Scheduler
	log   *logrus.Logger

	// What outlives the server.
	cluster    cluster.Cluster
	api        *apiserver.Server
	scheme     *runtime.Scheme
	mapper     meta.RESTMapper
	objects    objects
	operations *fakeplugins.Operations

	incarnations []*incarnation
	acting       *incarnation   // that has been let go last; nil: the world acts
	writer       writer         // who makes the write that is being applied
	writing      *cluster.Write // it, if the server makes it
	user         cluster.User
	names        *scenario.Naming
	phases       map[string]string // by object; scenario.Deleted: it is gone
	changes      int               // of phases, creations and deletions
	held         map[string]bool   // objects whose post-actions are to come, or under way
	failed       error             // what the user could not do
	over         atomic.Bool       // what follows is no part of the run
	faults       *faults
	timers       []timer
}

// writer is who writes to the API server.
type writer struct {
	incarnation int
	client      string
}

// timer is something that the world does at a time.
type timer struct {
	at      time.Time
	do      func()
	restart bool // of the server: ahead of what strikes it at the same instant
}

func newRun(w *World, job world.Job, sink func(trace.Event) error) (*run, error) {
	var own []scenario.Plugin
	job.Scenario, own = job.Scenario.Scripted()
	if err := w.missing(own); err != nil {
		return nil, err
	}
	r := &run{
		world: w, job: job, sched: sched.New(job.Seed, &w.steps), log: logrus.New(), objects: objects{}, phases: map[string]string{}, held: map[string]bool{},
		rec: &recorder{start: time.Now(), sink: sink}, cluster: cluster.Cluster{Scenario: job.Scenario, Velero: veleroNamespace},
	}
	r.log.Out, r.log.Level = io.Discard, logrus.PanicLevel
	r.names = scenario.NewNaming(job.Scenario)
	r.rec.names = r.names
	r.operations = fakeplugins.NewOperations(r.rec.start, r.names.Of)
	r.faults = newFaults(r)
	if err := r.newCluster(); err != nil {
		return nil, err
	}
	r.api.OnWrite(r.wrote)
	r.user = cluster.User{Cluster: r.cluster, Client: r.userClient(), Names: r.names, Location: location(), Created: r.created, Requested: r.requested}
	return r, nil
}

// run lets the user play, and leaves nothing in the bubble.
func (r *run) run(ctx context.Context, play func(*run, context.Context) (trace.End, error)) (trace.End, error) {
	r.start()
	end, err := play(r, ctx)
	if err == nil {
		err = r.rest(ctx)
		if end.Reason == trace.Settled {
			r.stop(ctx)
		}
	}
	end.At = r.rec.now()
	sinkErr := r.rec.close()
	r.over.Store(true)
	for _, inc := range r.incarnations {
		inc.killOwns()
	}
	r.drain()
	return end, errors.Join(err, sinkErr)
}

// play does what the user does, one thing after another.
func (r *run) play(ctx context.Context) (end trace.End, err error) {
	await := func(done func() bool) (ok bool) {
		end, ok = r.advance(ctx, done, r.bound())
		return ok
	}
	if !await(r.has(cluster.LocationObject, "Available")) {
		return end, nil
	}
	if end, ok := r.wait(ctx, pause); !ok {
		return end, nil
	}
	err = r.user.Play(ctx, await, func(object string) string { return r.phases[object] })
	if err != nil || end.Reason != "" {
		return end, errors.Join(err, r.failed)
	}
	return r.settle(ctx), r.failed
}

// settle lets the run go on until nothing is left to happen to the server, and a while longer.
func (r *run) settle(ctx context.Context) trace.End {
	quiet := func() bool {
		return len(r.timers) == 0 && !r.current().proc.Dead() && r.current().reconciling.Load() == 0 && cluster.Resting(r.phases) && len(r.held) == 0
	}
	for {
		if end, ok := r.advance(ctx, quiet, r.bound()); !ok {
			return end
		}
		changes := r.changes
		if end, ok := r.wait(ctx, r.cluster.Settling()+slack); !ok {
			return end
		}
		if quiet() && changes == r.changes {
			return trace.End{Reason: trace.Settled}
		}
		if !time.Now().Before(r.bound()) {
			return trace.End{Reason: trace.Bound}
		}
	}
}

// wait lets the server act for a while; not ok: the run has to end.
func (r *run) wait(ctx context.Context, d time.Duration) (trace.End, bool) {
	end, _ := r.advance(ctx, func() bool { return false }, time.Now().Add(d))
	return end, end.Reason == trace.Bound
}

func (r *run) bound() time.Time { return r.rec.start.Add(time.Duration(r.job.Bound)) }

func (r *run) has(object, phase string) func() bool {
	return func() bool { return r.phases[object] == phase }
}

// advance lets the server act until done, or the deadline; else it says why the run has to end.
func (r *run) advance(ctx context.Context, done func() bool, deadline time.Time) (trace.End, bool) {
	for {
		next := deadline
		for _, t := range r.timers {
			if t.at.Before(next) {
				next = t.at
			}
		}
		timers := len(r.timers)
		stop := func() bool {
			r.world.at.Store(int64(r.rec.now()))
			return done() || len(r.timers) != timers || r.failed != nil || r.rec.failed() != nil || r.exited() != nil
		}
		_, err := r.sched.Run(ctx, stop, next)
		r.acting = nil
		switch {
		case err != nil:
			return trace.End{Reason: trace.Environment, Detail: err.Error()}, false
		case r.failed != nil:
			return trace.End{Reason: trace.Environment, Detail: r.failed.Error()}, false
		case r.rec.failed() != nil:
			return trace.End{Reason: trace.Environment, Detail: r.rec.failed().Error()}, false
		case errors.Is(r.exited(), errNotStarted):
			r.current().record("", trace.Body{Process: &trace.Process{Name: "server", State: "stopped"}})
			return trace.End{Reason: trace.NotStarted, Detail: r.exited().Error()}, false
		case r.exited() != nil:
			return trace.End{Reason: trace.Environment, Detail: fmt.Sprintf("the server ended by itself: %v", r.exited())}, false
		case done():
			return trace.End{}, true
		}
		r.fireTimers()
		if !time.Now().Before(deadline) {
			return trace.End{Reason: trace.Bound}, false
		}
	}
}

// after makes the world do something later.
func (r *run) after(d time.Duration, do func()) {
	r.timers = append(r.timers, timer{at: time.Now().Add(d), do: do})
}

func (r *run) fireTimers() {
	var due []timer
	r.timers = slices.DeleteFunc(r.timers, func(t timer) bool {
		if t.at.After(time.Now()) {
			return false
		}
		due = append(due, t)
		return true
	})
	for _, restart := range []bool{true, false} {
		for _, t := range due {
			if t.restart == restart {
				t.do()
			}
		}
	}
}

// current is the incarnation that lives, or did last.
func (r *run) current() *incarnation { return r.incarnations[len(r.incarnations)-1] }

// exited is why the current incarnation has ended by itself; nil: it has not.
func (r *run) exited() error {
	inc := r.current()
	if !inc.over() || inc.proc.Dead() {
		return nil
	}
	if inc.err == nil {
		return errors.New("no error")
	}
	return inc.err
}

// stop ends the server as SIGTERM does, so that what it leaves behind shows.
func (r *run) stop(ctx context.Context) {
	inc := r.current()
	if inc.proc.Dead() {
		return
	}
	// A manager that is told to stop before it has started its controllers would spin, and time stand still. What Velero
	// retries without end, once the context has ended it would retry in vain.
	ready := func() bool { return (inc.elected() || inc.over()) && inc.reconciling.Load() == 0 }
	if ok, _ := r.sched.Run(ctx, ready, time.Now().Add(time.Hour)); !ok {
		return
	}
	inc.cancel()
	if over, _ := r.sched.Run(ctx, inc.over, time.Now().Add(time.Minute)); over {
		inc.record("", trace.Body{Process: &trace.Process{Name: "server", State: "stopped"}})
	}
}

// drain ends every goroutine of the bubble. What they still do is not recorded.
func (r *run) drain() {
	for _, inc := range r.incarnations {
		if inc.mgr != nil && !inc.elected() && !inc.over() {
			// Ended before its caches have synced, the manager would spin, and time stand still.
			inc.proc.Thaw()
			_, _ = r.sched.Run(context.Background(), func() bool { return inc.elected() || inc.over() }, time.Now().Add(time.Hour))
		}
	}
	r.sched.Drain()
	for _, inc := range r.incarnations {
		inc.die()
	}
	// Reconciles come to their end before their workers are told to. Retries do not end by themselves, but at their next try:
	// Velero's longest back-off grows fivefold (pkg/client/retry.go), and so may be five times as long as the run. With their context
	// ended they would no longer try anything. What waits for a cache that never syncs, ends with its context only.
	pause := min(6*time.Duration(r.rec.now()), longestPause)
	for wait := 10 * time.Minute; wait < max(2*time.Hour, pause); wait *= 2 {
		time.Sleep(wait)
		if !slices.ContainsFunc(r.incarnations, func(inc *incarnation) bool { return inc.reconciling.Load() > 0 }) {
			break
		}
	}
	for _, inc := range r.incarnations {
		inc.cancel()
		<-inc.ended
	}
	time.Sleep(24 * time.Hour) // what retries still has come to its end
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
