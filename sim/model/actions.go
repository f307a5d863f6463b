package model

import (
	"slices"

	"github.com/velosim/velosim/sim/phase"
)

// explored are the actions that an exploration with actions has. Two plugins that have both show what becomes of the second when the first
// fails, and the third that what has no pre-action is called in any case.
func explored() [phase.MaxActions]phase.PluginActions {
	both := phase.PluginActions{Pre: phase.ActionDue, Post: phase.ActionDue}
	return [phase.MaxActions]phase.PluginActions{both, both, {Post: phase.ActionDue}}
}

// prepare is a run before its items.
func (m Machine) prepare(s State, yield func(Step, State, phase.Effects)) {
	m.apply(s, Step{Actor: Server, Input: input(phase.PreActionStarted)}, yield)
	m.apply(s, Step{Actor: Plugin, Input: input(phase.PreActionSucceeded)}, yield)
	m.apply(s, Step{Actor: Plugin, Input: input(phase.PreActionFailed)}, yield)
	if !slices.ContainsFunc(s.Object.Actions[:], func(a phase.PluginActions) bool { return a.Pre == phase.ActionFailed }) {
		if s.Left.Store > 0 {
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.RunFailed)}, yield)
		}
		return
	}
	m.apply(s, Step{Actor: Server, Input: input(phase.RunFailed)}, yield)
	if s.Left.API > 0 {
		m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.RunPatchLost)}, yield)
	}
}

// resume is the post-actions.
func (m Machine) resume(s State, yield func(Step, State, phase.Effects)) {
	m.apply(s, Step{Actor: Server, Input: input(phase.PostActionStarted)}, yield)
	m.apply(s, Step{Actor: Plugin, Input: input(phase.PostActionSucceeded)}, yield)
	m.apply(s, Step{Actor: Plugin, Input: input(phase.PostActionFailed)}, yield)
}

// ended reports whether nothing is left to be done about the object: its post-actions have ended, whatever it says of them itself.
func ended(o phase.State) bool { return o.Ended() && !quiesced(o) }

// quiesced reports whether a pre-action has begun whose plugin's post-action has not ended.
func quiesced(o phase.State) bool {
	return slices.ContainsFunc(o.Actions[:], func(a phase.PluginActions) bool {
		return a.Pre.Begun() && a.Post != phase.NoAction && !a.Post.Ended()
	})
}

// ruled is a property, and whether it holds.
type ruled struct {
	property
	holds bool
}

// aboutActions are the properties of pre- and post-actions, beside the invariants.
func aboutActions(before phase.State, step Step, after phase.State) []ruled {
	if after.Actions == [phase.MaxActions]phase.PluginActions{} {
		return nil
	}
	again, outlived, unreturned := false, false, false
	for i, was := range before.Actions {
		is := after.Actions[i]
		again = again || was.Post.Ended() && is.Post != was.Post || was.Pre.Begun() && was.Pre != phase.ActionRunning && is.Pre != was.Pre
		outlived = outlived || after.Down && (is.Pre == phase.ActionRunning || is.Post == phase.ActionRunning)
		unreturned = unreturned ||
			is.Pre != was.Pre && is.Pre.Ended() && step.Input != input(phase.PreActionSucceeded) && step.Input != input(phase.PreActionFailed) ||
			is.Post != was.Post && is.Post.Ended() && step.Input != input(phase.PostActionSucceeded) && step.Input != input(phase.PostActionFailed)
	}
	return []ruled{
		{property{"action-is-not-called-again", "A pre-action that has begun is not called again, nor is a post-action that has ended."}, !again},
		{property{"call-ends-with-its-server", "A server that dies calls no action any more."}, !outlived},
		{property{"action-ends-by-its-return", "An action has ended only if it has returned, or was given up."}, !unreturned},
		{
			property{"run-is-marked", "An object with actions is marked from InProgress on, so that its post-actions are called."},
			after.Marked || !before.Marked && after.Phase != phase.InProgress,
		},
	}
}
