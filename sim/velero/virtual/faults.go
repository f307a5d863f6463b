package virtual

import (
	"context"
	"fmt"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// faults are the scenario's.
type faults struct {
	run    *run
	points *cluster.Points
	// outages of the object store that go on.
	outages int
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
	switch {
	case x.Do.Outage.Duration > 0 && x.At.Delay.Duration > 0:
		f.run.after(x.At.Delay.Duration, func() { f.outage(x) })
	case x.Do.Outage.Duration > 0:
		f.outage(x)
	case x.Do.Kill == nil: // the user's requests are made when nothing else is under way
		f.run.after(x.At.Delay.Duration, func() { f.user(x) })
	case x.At.Delay.Duration > 0:
		f.run.after(x.At.Delay.Duration, func() { f.kill(x) })
	default:
		f.kill(x)
	}
}

// struck records that a fault strikes: once, if it goes on to.
func (f *faults) struck(x scenario.Fault, what string) {
	if f.fired[x.ID] {
		return
	}
	f.fired[x.ID] = true
	f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: what}})
}

// kill kills the server.
func (f *faults) kill(x scenario.Fault) {
	k := x.Do.Kill
	if f.run.current().proc.Dead() {
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: "the server was down"}})
		return
	}
	f.struck(x, fmt.Sprintf("the server is killed, and restarted after %s", k.RestartAfter))
	f.run.kill(k)
}

// user does what the user does.
func (f *faults) user(x scenario.Fault) {
	what, missed, err := f.run.user.Do(context.Background(), x.Do)
	f.run.try(err)
	if what != "" {
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: what, Missed: missed}})
	}
}
