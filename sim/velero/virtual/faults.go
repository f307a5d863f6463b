package virtual

import (
	"errors"
	"fmt"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// faults are the scenario's, and how often each one's point has been passed.
type faults struct {
	run    *run
	passed map[string]int // by fault
}

func newFaults(r *run) *faults { return &faults{run: r, passed: map[string]int{}} }

// phase lets the faults strike whose point is that the object was written with this phase.
func (f *faults) phase(object, phase string) {
	for _, x := range f.run.job.Scenario.Faults {
		if x.At.Phase == phase && x.At.Object == object {
			f.pass(x) //nolint:errcheck // nothing is accessed
		}
	}
}

// call lets the faults strike whose point is this call, before (after false) or after it has had its effect.
func (f *faults) call(c trace.Call, after bool) {
	for _, x := range f.run.job.Scenario.Faults {
		if p := x.At.Call; p != nil && p.Plugin == c.Plugin && p.Method == c.Method && x.At.After == after {
			f.pass(x) //nolint:errcheck // nothing is accessed
		}
	}
}

// access lets the faults strike whose point is this access to the object at path, before or after it. The error is what the
// access has to fail with.
func (f *faults) access(verb, path string, after bool) (err error) {
	for _, x := range f.run.job.Scenario.Faults {
		if p := x.At.Store; p != nil && p.Verb == verb && bucket+"/"+p.Key == path && x.At.After == after {
			err = errors.Join(err, f.pass(x))
		}
	}
	return err
}

// pass counts an occurrence of the fault's point, and lets it strike at the right one. The error is what it makes of an access
// to the object store.
func (f *faults) pass(x scenario.Fault) error {
	f.passed[x.ID]++
	switch {
	case f.passed[x.ID] != max(x.At.Nth, 1):
	case x.Do.Fail != "":
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: "the access fails: " + x.Do.Fail}})
		return errors.New(x.Do.Fail)
	case x.Do.Lose != nil:
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: x.At.Store.Key + " is gone"}})
		delete(f.run.objects, bucket+"/"+x.At.Store.Key)
	case x.At.Delay.Duration > 0:
		f.run.after(x.At.Delay.Duration, func() { f.strike(x) })
	default:
		f.strike(x)
	}
	return nil
}

// strike kills the server.
func (f *faults) strike(x scenario.Fault) {
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
