package virtual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	writer       writer // who makes the write that is being applied
	user         cluster.User
	names        *scenario.Naming
	phases       map[string]string // by object; scenario.Deleted: it is gone
	changes      int               // of phases, creations and deletions
	failed       error             // what the user could not do
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
	r := &run{
		world: w, job: job, sched: sched.New(job.Seed, &w.steps), log: logrus.New(), objects: objects{}, phases: map[string]string{},
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
	r.user = cluster.User{Cluster: r.cluster, Client: r.userClient(), Names: r.names, Created: r.created}
	return r, nil
}

// run lets the user play, and leaves nothing in the bubble.
func (r *run) run(ctx context.Context, play func(*run, context.Context) (trace.End, error)) (trace.End, error) {
	r.start()
	end, err := play(r, ctx)
	if err == nil {
		r.rest()
		if end.Reason == trace.Settled {
			r.stop(ctx)
		}
	}
	end.At = r.rec.now()
	sinkErr := r.rec.close()
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
		return len(r.timers) == 0 && !r.current().proc.Dead() && r.current().reconciling.Load() == 0 && r.ended()
	}
	for {
		if end, ok := r.advance(ctx, quiet, r.bound()); !ok {
			return end
		}
		changes := r.changes
		if end, ok := r.wait(ctx, r.cluster.Settling(r.job.Scenario.Server.ItemOperationSyncFrequency.Duration)+slack); !ok {
			return end
		}
		if quiet() && changes == r.changes {
			return trace.End{Reason: trace.Settled}
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

// ended reports whether every object that was created has come to its end.
func (r *run) ended() bool {
	for object, phase := range r.phases {
		kind, _, _ := strings.Cut(object, "/")
		if (kind == "backup" || kind == "restore") && !cluster.Ended(phase) {
			return false
		}
	}
	return true
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
		switch {
		case err != nil:
			return trace.End{Reason: trace.Environment, Detail: err.Error()}, false
		case r.failed != nil:
			return trace.End{Reason: trace.Environment, Detail: r.failed.Error()}, false
		case r.rec.failed() != nil:
			return trace.End{Reason: trace.Environment, Detail: r.rec.failed().Error()}, false
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
	// Velero's longest back-off grows fivefold (pkg/client/retry.go). With their context ended they would no longer try
	// anything. What waits for a cache that never syncs, ends with its context only.
	for wait := 10 * time.Minute; wait < 2*time.Hour; wait *= 2 {
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

// wrote is called with every write to the API server, by whoever makes it.
func (r *run) wrote(w apiserver.Write) {
	if o := cmp.Or(w.New, w.Old); w.Name == "" && o != nil { // the server has made up the name, or it is one of many
		w.Name = o.GetName()
	}
	by, object := r.writer, objectOf(w.Request)
	body := trace.Write{Client: by.client, Verb: w.Verb, Resource: w.Resource, Name: strings.TrimPrefix(w.Namespace+"/"+w.Name, "/")}
	if w.Verb == "patch" {
		body.Change = string(w.Body)
	}
	if w.New != nil {
		body.ResourceVersion = w.New.GetResourceVersion()
	}
	if w.Err != nil {
		body.Error = w.Err.Error()
	}
	r.rec.add(by.incarnation, object, trace.Body{Write: &body})
	object = r.names.Of(object)
	switch {
	case w.Err != nil:
	case w.New == nil && w.Old != nil:
		r.gone(object)
	case w.Old == nil && w.New != nil && by.incarnation > 0:
		r.made(object, w.New)
		fallthrough
	case w.New != nil:
		r.phase(by.incarnation, object, phaseOf(w.New))
	}
}

// phase records the phase that the object was written with, if it is another.
func (r *run) phase(incarnation int, object, to string) {
	from := r.phases[object]
	if from == scenario.Deleted { // it is back
		from = ""
	}
	if from == to {
		return
	}
	r.phases[object] = to
	r.changes++
	r.rec.add(incarnation, object, trace.Body{Phase: &trace.Phase{From: from, To: to}})
	r.faults.phase(object, to)
}

// gone records that the object is no longer there.
func (r *run) gone(object string) {
	if _, known := r.phases[object]; !known {
		return
	}
	r.phases[object] = scenario.Deleted
	r.changes++
	r.rec.add(r.writer.incarnation, object, trace.Body{Deleted: &trace.Deleted{}})
}

// made records a backup that a schedule has made. The user pauses the schedule when it is the last one.
func (r *run) made(object string, o *unstructured.Unstructured) {
	schedule := r.job.Scenario.ScheduleOf(o.GetName())
	if !strings.HasPrefix(object, "backup/") || schedule == nil {
		return
	}
	r.created(object, trace.Created{
		Name: o.GetName(), Schedule: schedule.Name, ItemOperationTimeout: trace.Time(schedule.Template.ItemOperationTimeout.Duration),
	})
	if object == fmt.Sprintf("backup/%s-%d", schedule.Name, schedule.Backups) {
		r.after(0, func() { r.try(r.user.Pause(context.Background(), schedule.Name)) })
	}
}

// created records that an object is created.
func (r *run) created(object string, c trace.Created) {
	r.phases[object] = ""
	r.changes++
	r.rec.add(0, object, trace.Body{Created: &c})
	r.faults.phase(object, string(velerov1.BackupPhaseNew))
}

// try keeps the error of what the user does, with which the run cannot go on.
func (r *run) try(err error) { r.failed = errors.Join(r.failed, err) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// kill ends the current incarnation and starts the next one later.
func (r *run) kill(k *scenario.Kill) {
	r.current().kill()
	r.timers = append(r.timers, timer{at: time.Now().Add(k.RestartAfter.Duration), do: r.start, restart: true})
}
