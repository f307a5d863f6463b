package phase_test

import (
	"fmt"

	"github.com/velosim/velosim/sim/phase"
)

// A backup with one operation, which is still running at the end of InProgress.
func Example() {
	rules := phase.Demanded()
	state := phase.Initial(phase.Backup)
	for _, in := range []phase.Input{
		phase.Enqueued, phase.Dequeued, phase.Validated, phase.OperationStarted, phase.PassEnded,
		phase.ProgressCompleted, phase.PassEnded, phase.FinalizerSucceeded,
	} {
		var effects phase.Effects
		state, effects = rules.Step(state, in)
		if effects.Has(phase.PhaseWritten) {
			fmt.Printf("%s: %s\n", in, state.Phase)
		}
	}
	// Output:
	// enqueued: Queued
	// dequeued: ReadyToStart
	// validated: InProgress
	// a pass over the operations ended: WaitingForPluginOperations
	// a pass over the operations ended: Finalizing
	// the finalizer succeeded: Completed
}

func ExampleRules_Stalls() {
	backup := phase.State{Phase: phase.WaitingForPluginOperations, Running: 1, Hung: phase.ProgressCall}
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(release.Name, release.Stalls(backup))
	fmt.Println(phase.Demanded().Name, phase.Demanded().Stalls(backup))
	// Output:
	// v1.18 true
	// demanded false
}
