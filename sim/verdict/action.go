package verdict

import (
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// check follows an object through the machine, with the actions that are called once for it.
func (r *run) check(rules phase.Rules, name string) (*model.Misfit, error) {
	return model.Check(rules, name, r.trace, r.scenario.ActionsOf(name)...)
}

// legal are the changes of phase that the reading allows the object.
func (r *run) legal(rules phase.Rules, o *object) map[phase.Edge][]phase.Input {
	if len(r.scenario.ActionsOf(o.name)) > 0 {
		return rules.LegalWithActions(o.kind)
	}
	return rules.Legal(o.kind)
}

// ofAction reports whether the event is about a call of a pre- or post-action of the object.
func (r *run) ofAction(o *object, event int) bool {
	c := r.calls[event]
	return c != nil && slices.ContainsFunc(r.scenario.ActionsOf(o.name), c.acts)
}

// acts reports whether the call is one of the plugin's action, which is called once for an object, and for no item. A pre-action is called
// in InProgress, and a post-action later.
func (c *call) acts(p scenario.Plugin) bool {
	return p.Action.Once() && p.Name == c.Plugin && c.Method == execute && c.Item == "" && p.Action.Pre() == (c.Phase == phase.InProgress.String())
}

// deadlineOf is the call's own deadline, in the trace's time, if it is one of a pre- or post-action: those have one in every reading.
func (r *run) deadlineOf(c *call) (trace.Time, bool) {
	s := r.scenario
	if !s.HasActions() {
		return 0, false
	}
	if scale := r.trace.Header.Scale; scale != 0 && scale != 1 {
		s = s.RealTime()
	}
	for _, p := range s.ActionsOf(c.object.name) {
		if c.acts(p) {
			return trace.Time(p.Deadline.Duration), true
		}
	}
	return 0, false
}

// acted is what has become of an action of the object, by its last call, and how often it was called.
func (o *object) acted(p scenario.Plugin) (scenario.ActionPhase, int) {
	status, calls := scenario.ActionSkipped, 0
	for _, c := range o.calls {
		if !c.acts(p) {
			continue
		}
		calls++
		switch {
		case c.reply == nil:
			status = scenario.ActionInProgress
		case c.reply.Error != "":
			status = scenario.ActionFailed
		default:
			status = scenario.ActionCompleted
		}
	}
	return status, calls
}

// actions compares what has become of the object's actions with what is expected.
func (r *run) actions(o *object, want []scenario.ActionOutcome) (found []Finding) {
	for _, a := range want {
		status, calls := o.acted(scenario.Plugin{Name: a.Plugin, Action: a.Action})
		name := fmt.Sprintf("%s of %s", a.Action, a.Plugin)
		if a.Phase != "" && status != a.Phase {
			found = append(found, r.atEnd("expectation", o.name, fmt.Sprintf("%s %s", name, a.Phase), string(status)))
		}
		if a.Calls != nil && calls != *a.Calls {
			found = append(found, r.atEnd("expectation", o.name, fmt.Sprintf("%d calls of %s", *a.Calls, name), fmt.Sprintf("%d", calls)))
		}
	}
	return found
}

// unresumed finds, of an object that has ended, post-actions that were not called, or have not returned: those of plugins whose pre-action
// has begun, or that have none. One that cannot be started may have none of its own.
func (r *run) unresumed(o *object) (found []Finding) {
	ran := slices.ContainsFunc(o.changes, func(c change) bool { return c.To == phase.InProgress.String() })
	plugins := r.scenario.ActionsOf(o.name)
	for _, post := range plugins {
		if !ran || !final(o.phase()) || post.Action.Pre() || r.scenario.StartOf(post.Name).Fails() {
			continue
		}
		due, why := true, "it has no pre-action"
		for _, pre := range plugins {
			if pre.Name == post.Name && pre.Action.Pre() {
				_, calls := o.acted(pre)
				due, why = calls > 0, "its pre-action has begun"
			}
		}
		status, _ := o.acted(post)
		if due && status != scenario.ActionCompleted && status != scenario.ActionFailed {
			found = append(found, r.atEnd("liveness", o.name, fmt.Sprintf("the %s of %s ends, as %s", post.Action, post.Name, why),
				fmt.Sprintf("phase %s, and the action is %s", named(o.phase()), status)))
		}
	}
	return found
}
