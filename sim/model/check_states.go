package model

import (
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// repeats are the inputs by which the object is taken for what it was before: it must have been that.
func (c *checker) repeats() []phase.Input {
	repeats := []phase.Input{phase.RunRepeated}
	if c.shown[phase.WaitingForPluginOperations] {
		repeats = append(repeats, phase.PassRepeated)
	}
	if c.shown[phase.WaitingForPluginOperationsPartiallyFailed] {
		repeats = append(repeats, phase.FailedPassRepeated)
	}
	if c.shown[phase.Finalizing] {
		repeats = append(repeats, phase.FinalizerRepeated)
	}
	if c.failing {
		repeats = append(repeats, phase.RunPatchRepeated)
	}
	return repeats
}

// changed are the states after one of the inputs has made the change of phase.
func (c *checker) changed(before map[phase.State]bool, p *trace.Phase, by []phase.Input) map[phase.State]bool {
	to, err := phase.Parse(p.To)
	next := map[phase.State]bool{}
	for s := range before {
		for _, in := range by {
			if after, _ := c.rules.Step(s, in); err == nil && s.Phase != to && after.Phase == to && named(p.From) == named(written(s.Phase)) {
				next[after] = true
			}
		}
	}
	return next
}

// steps are the inputs that may change a phase.
func (c *checker) steps() []phase.Input {
	if c.busy() {
		return []phase.Input{phase.RunFailed, phase.DeletionRequested, phase.DeletionOvertaken}
	}
	steps := []phase.Input{
		phase.Enqueued, phase.Dequeued, phase.DequeuedUnwatched, phase.Requeued, phase.Validated, phase.Rejected, phase.BackupUnfinished,
		phase.PassEnded, phase.FinalizerSucceeded, phase.DeletionRequested, phase.DeletionOvertaken,
		phase.RunFailed, phase.FinalizerFailed, // for reasons that no event shows, such as hooks
	}
	if c.up {
		steps = append(steps, phase.ServerStarted)
	}
	if c.failing {
		steps = append(steps, phase.LookupFailed, phase.RunUploadFailed, phase.FinalUploadFailed, phase.BackupNotFound, phase.BeginUnseen)
	}
	if c.failing && !c.read {
		steps = append(steps, phase.OperationsMissing)
	}
	return steps
}

// after is the frontier after an input, which must be possible.
func (c *checker) after(in phase.Input) map[phase.State]bool {
	next := map[phase.State]bool{}
	for s := range c.closed() {
		if c.rules.Enabled(s, in) {
			after, _ := c.rules.Step(s, in)
			next[after] = true
		}
	}
	return next
}

// closed is the frontier, with what may have happened unseen.
func (c *checker) closed() map[phase.State]bool {
	// An item can fail for reasons of its own.
	hidden := []phase.Input{phase.InformerResynced, phase.ExecuteFailed}
	if len(c.acting) > 0 { // an action's status comes before its call, and one whose plugin cannot be started has none
		hidden = append(hidden, phase.PreActionStarted, phase.PostActionStarted)
	}
	if len(c.acting) > 0 && (c.failing || c.acting.missed(c.missed)) {
		hidden = append(hidden, phase.PreActionFailed, phase.PostActionFailed)
	}
	if c.up {
		hidden = append(hidden, phase.ServerStarted)
	}
	if !c.busy() {
		hidden = append(hidden, phase.PassEnded)
	}
	if c.failing && !c.busy() {
		hidden = append(hidden, phase.Described, phase.PassUploadFailed, phase.PassPatchLost, phase.RunPatchLost, phase.FinalPatchLost, phase.FinalUploadFailed, phase.ContentsDisappeared)
		if c.up {
			hidden = append(hidden, phase.MarkLost)
		}
	}
	all := maps.Clone(c.frontier)
	for todo := slices.Collect(maps.Keys(c.frontier)); len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range hidden {
			if in == phase.ExecuteFailed && s.Errors > 0 { // once is enough
				continue
			}
			if next, _ := c.rules.Step(s, in); next.Phase == s.Phase && !all[next] {
				all[next] = true
				todo = append(todo, next)
			}
		}
	}
	return all
}

// allowed are the phases that the object could have gone to, if the event is a change of phase.
func (c *checker) allowed(e trace.Event) []string {
	if e.Phase == nil || c.gone {
		return nil
	}
	var phases []string
	for s := range c.closed() {
		for _, in := range c.steps() {
			if next, _ := c.rules.Step(s, in); next.Phase != s.Phase {
				phases = append(phases, next.Phase.String())
			}
		}
	}
	slices.Sort(phases)
	return slices.Compact(phases)
}

// written is how Velero writes the phase; New is written empty.
func written(p phase.Phase) string {
	if p == phase.New {
		return ""
	}
	return p.String()
}

func named(p string) string {
	if p == "" || p == phase.New.String() {
		return "no phase"
	}
	return p
}
