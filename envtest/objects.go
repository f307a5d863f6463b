package envtest

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// created records that an object is created, before the server can see it, and lets strike what strikes then.
func (r *run) created(object string, c trace.Created) {
	r.changeOf(object, "")
	r.rec.add(0, object, trace.Body{Created: &c})
	for _, x := range r.points.Phase(object, string(velerov1.BackupPhaseNew)) {
		r.strike(r.current(), x)
	}
}

// made records a backup that a schedule makes; one that backup sync brings back was made before. The user pauses the schedule when it is
// the last one.
func (r *run) made(object, name string) {
	created, last, ok := r.user.Made(object, name)
	if !ok || r.lastPhase(object) != nil {
		return
	}
	r.created(object, created)
	if last {
		r.after(0, func() { r.try(r.user.Pause(r.ctx, created.Schedule)) })
	}
}

// userDoes does what the user does.
func (r *run) userDoes(x scenario.Fault) {
	what, missed, err := r.user.Do(r.ctx, x.Do)
	r.try(err)
	if what != "" && err == nil {
		r.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: what, Missed: missed}})
	}
	if x.Do.Location == scenario.Removed && err == nil && missed == "" {
		r.gone(cluster.LocationObject)
	}
	for _, object := range []string{x.Do.Delete, x.Do.Remove} {
		if object != "" && err == nil && missed == "" && !r.user.Has(r.ctx, object) {
			r.gone(object)
		}
	}
}

// gone records that the object is no longer there, if the server has not done it.
func (r *run) gone(object string) {
	if p := r.lastPhase(object); p == nil || *p == scenario.Deleted {
		return
	}
	r.rec.add(0, object, trace.Body{Deleted: &trace.Deleted{}})
	r.changeOf(object, scenario.Deleted)
}

// requested knows of a request that is yet to be granted.
func (r *run) requested(object string) {
	r.change(func() {
		if _, known := r.phases[object]; !known {
			r.phases[object] = ""
		}
	})
}

// try keeps the error of what the user does, with which the run cannot go on.
func (r *run) try(err error) {
	if err != nil && r.ctx.Err() == nil {
		r.fail(err)
	}
}

// lastPhase of an object; nil: it is not known yet.
func (r *run) lastPhase(object string) *string {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.phases[object]
	if !ok {
		return nil
	}
	return &p
}

func (r *run) changeOf(object, phase string) {
	r.change(func() { r.phases[object] = phase; r.changes++ })
}

// current is the server that runs, or did last.
func (r *run) current() *server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[len(r.servers)-1]
}
