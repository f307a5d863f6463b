package virtual

import (
	"context"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// faults are the scenario's.
type faults struct {
	run    *run
	points *cluster.Points
	// outages of the object store that go on.
	outages    int
	connection connection
	// fired are those that have struck, by their IDs.
	fired map[string]bool
}

func newFaults(r *run) *faults {
	return &faults{run: r, points: cluster.NewPoints(r.job.Scenario), fired: map[string]bool{}}
}

// phase lets the faults strike whose point is that the object was written with this phase.
func (f *faults) phase(object, phase string) {
	for _, x := range f.points.Phase(f.run.names.Of(object), phase) {
		f.strike(x)
	}
}

// call lets the faults strike whose point is this call, before (after false) or after it has had its effect. It reports whether the
// plugin's process ends.
func (f *faults) call(c trace.Call, after bool) (crashes bool) {
	for _, x := range f.points.Call(c, after) {
		if x.Do.Crash != nil {
			f.struck(x, cluster.Crashed(c.Plugin+"'s", c.Method, after))
			crashes = true
			continue
		}
		f.strike(x)
	}
	return crashes
}

// strike lets a fault strike that is no matter of an access, now or after its delay.
func (f *faults) strike(x scenario.Fault) {
	do, now := f.user, false // the user's requests are made when nothing else is under way
	switch {
	case x.Do.Outage.Duration > 0:
		do, now = f.outage, true
	case x.Do.Severs():
		do, now = f.sever, true
	case x.Do.OnServer():
		do, now = f.onServer, true
	}
	if now && x.At.Delay.Duration == 0 {
		do(x)
		return
	}
	f.run.after(x.At.Delay.Duration, func() { do(x) })
}

// struck records that a fault strikes: once, if it goes on to.
func (f *faults) struck(x scenario.Fault, what string) {
	if f.fired[x.ID] {
		return
	}
	f.fired[x.ID] = true
	f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: what}})
}

// user does what the user does.
func (f *faults) user(x scenario.Fault) {
	what, missed, err := f.run.user.Do(context.Background(), x.Do)
	f.run.try(err)
	if what != "" {
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: what, Missed: missed}})
	}
}
