package model

import (
	"fmt"

	"github.com/velosim/velosim/sim/phase"
)

// property is what a step or a state has violated.
type property struct{ name, statement string }

// violated are the properties of safety that the step violates.
func violated(before State, step Step, after State, effects phase.Effects) []property {
	var found []property
	view := after.Object.View()
	view.From = before.Object.Phase
	view.Attempted = int(after.Started) + view.Lost
	for _, inv := range phase.Invariants() {
		if !inv.Holds(view) {
			found = append(found, property{inv.Name, inv.Statement})
		}
	}
	o := after.Object
	finalized := before.Object.Phase != o.Phase && (o.Phase == phase.Completed || o.Phase == phase.PartiallyFailed)
	for _, p := range append([]ruled{
		{
			property{"timed-out-operation-is-cancelled", "Cancel is called on an operation that has timed out."},
			step.Input != input(phase.OperationTimedOut) && step.Input != input(phase.CancelHung) || effects.Has(phase.CancelCalled),
		},
		{
			property{"completed-means-every-operation-completed", "An object is Completed only if each of its operations has."},
			o.Phase != phase.Completed || after.count(Completed) == int(after.Started) && o.Lost == 0,
		},
		{
			property{"outcome-is-stored", "What became of the operations is in the object store before the finalizer begins."},
			o.Phase != phase.Finalizing && o.Phase != phase.FinalizingPartiallyFailed || o.Abandoned || after.stored(),
		},
		{
			property{"counts-are-the-operations", "The counts of a waiting or finalizing object are those of its operations."},
			o.Down || o.Abandoned || o.Unstored || !waitsOrFinalizes(o.Phase) ||
				int(o.Running) == after.count(Running) && int(o.Completed) == after.count(Completed) && int(o.Failed) == after.count(Failed),
		},
		{
			property{"phase-is-uploaded", "The object store is told the phase that a pass or the finalizer brings a backup to."},
			o.Kind != phase.Backup || o.Abandoned || !waitsOrFinalizes(o.Phase) && !finalized || o.Phase == before.Object.Phase || effects.Has(phase.MetadataUploaded),
		},
		{
			property{"partial-failure-has-a-reason", "An object fails partially only if it has errors, or something was not found."},
			!failsPartially(o.Phase) || o.Errors > 0 || o.Abandoned || step.Input == input(phase.BackupNotFound) || before.Object.Phase == o.Phase,
		},
		{
			property{"failure-has-a-reason", "An object is Failed only if its run has failed, or the server died in it."},
			o.Phase != phase.Failed || before.Object.Phase == phase.Failed ||
				before.Object.Phase == phase.InProgress && (step.Input == input(phase.RunFailed) || step.Input == input(phase.ServerStarted)),
		},
		{
			property{"abandoned-has-a-reason", "Operations are abandoned only if the location or backup could not be looked up."},
			!o.Abandoned || before.Object.Abandoned || step.Input == input(phase.LookupFailed),
		},
		{
			property{"ended-backup-is-not-tracked", "The tracker lets go of a backup that has ended."},
			!o.Phase.Final() || o.Tracked == phase.Untracked,
		},
		{
			property{"running-backup-is-tracked", "The tracker keeps a backup that has not ended, so that it is not deleted."},
			o.Phase.Final() || o.Down || before.Object.Tracked == phase.Untracked || o.Tracked != phase.Untracked ||
				step.Input == input(phase.FinalPatchLost), // the tracker lets go before the patch
		},
	}, aboutActions(before.Object, step, o)...) {
		if !p.holds {
			found = append(found, p.property)
		}
	}
	return found
}

// stuck is the violation of a state that nothing leads on from.
func stuck(s State) property {
	o := s.Object
	switch {
	case o.Phase.Final() && quiesced(o):
		return property{"what was quiesced is resumed", "What a pre-action has stopped is started again: its plugin's post-action ends, whatever becomes of the object."}
	case o.Phase.Final():
		return property{"post-action is called", "A post-action without a pre-action ends, whatever becomes of the object."}
	case o.Hung != phase.NoCall:
		return property{
			fmt.Sprintf("%s that hangs is given up", o.Hung),
			fmt.Sprintf("An object does not stay %s for ever because a call of %s hangs.", o.Phase, o.Hung),
		}
	case o.Forgotten:
		return property{
			fmt.Sprintf("%s is not forgotten", o.Phase),
			fmt.Sprintf("An object that is %s is taken up by a controller.", o.Phase),
		}
	}
	return property{fmt.Sprintf("%s is left", o.Phase), fmt.Sprintf("An object does not stay %s for ever.", o.Phase)}
}

func waitsOrFinalizes(p phase.Phase) bool {
	switch p {
	case phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed, phase.Finalizing, phase.FinalizingPartiallyFailed:
		return true
	}
	return false
}

func failsPartially(p phase.Phase) bool {
	switch p {
	case phase.WaitingForPluginOperationsPartiallyFailed, phase.FinalizingPartiallyFailed, phase.PartiallyFailed:
		return true
	}
	return false
}

// count is how many operations the server's memory has in that outcome.
func (s *State) count(o Outcome) int {
	n := 0
	for _, op := range s.ops() {
		if op.Memory == o {
			n++
		}
	}
	return n
}

// stored reports whether the object store has what the server's memory has.
func (s *State) stored() bool {
	for _, op := range s.ops() {
		if op.Memory != op.Stored {
			return false
		}
	}
	return true
}
