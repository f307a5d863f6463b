package virtual

import (
	"context"
	"errors"
	"fmt"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// faults are the scenario's.
type faults struct {
	run    *run
	points *cluster.Points
}

func newFaults(r *run) *faults { return &faults{run: r, points: cluster.NewPoints(r.job.Scenario)} }

// phase lets the faults strike whose point is that the object was written with this phase.
func (f *faults) phase(object, phase string) {
	for _, x := range f.points.Phase(f.run.names.Of(object), phase) {
		f.strike(x) //nolint:errcheck // nothing is accessed
	}
}

// call lets the faults strike whose point is this call, before (after false) or after it has had its effect.
func (f *faults) call(c trace.Call, after bool) {
	for _, x := range f.points.Call(c, after) {
		f.strike(x) //nolint:errcheck // nothing is accessed
	}
}

// access lets the faults strike whose point is this access to the object at path, before or after it. The error is what the
// access has to fail with.
func (f *faults) access(verb, path string, after bool) (err error) {
	for _, x := range f.points.Access(verb, path, after) {
		err = errors.Join(err, f.strike(x))
	}
	return err
}

// strike lets a fault strike, now or after its delay. The error is what it makes of an access to the object store.
func (f *faults) strike(x scenario.Fault) error {
	switch {
	case x.Do.Fail != "":
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: "the access fails: " + x.Do.Fail}})
		return errors.New(x.Do.Fail)
	case x.Do.Lose != nil:
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: x.At.Store.Key + " is gone"}})
		delete(f.run.objects, cluster.Bucket+"/"+x.At.Store.Key)
	case x.Do.Kill == nil: // the user's requests are made when nothing else is under way
		f.run.after(x.At.Delay.Duration, func() { f.user(x) })
	case x.At.Delay.Duration > 0:
		f.run.after(x.At.Delay.Duration, func() { f.kill(x) })
	default:
		f.kill(x)
	}
	return nil
}

// kill kills the server.
func (f *faults) kill(x scenario.Fault) {
	k := x.Do.Kill
	if f.run.current().proc.Dead() {
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: "the server was down"}})
		return
	}
	f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{
		ID: x.ID, What: fmt.Sprintf("the server is killed, and restarted after %s", k.RestartAfter),
	}})
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
