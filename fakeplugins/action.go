package fakeplugins

import "github.com/velosim/velosim/sim/trace"

// Act is the call of an action that is made once for a backup or restore (backup/NAME or restore/NAME), which is in this phase.
func (p *Process) Act(object, phase string) error {
	_, err := p.call(object, trace.Call{Method: "Execute", Phase: phase})
	return err
}
