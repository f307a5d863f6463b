package model

import (
	"testing"

	"github.com/velosim/velosim/sim/phase"
)

// planted is the demanded machine with one fault.
type planted struct {
	phase.Rules
	change func(before phase.State, in phase.Input, after phase.State, effects phase.Effects) (phase.State, phase.Effects)
	// never are inputs that do not happen.
	never func(phase.State, phase.Input) bool
}

func (p planted) Enabled(s phase.State, in phase.Input) bool {
	return p.Rules.Enabled(s, in) && (p.never == nil || !p.never(s, in))
}

func (p planted) Step(s phase.State, in phase.Input) (phase.State, phase.Effects) {
	after, effects := p.Rules.Step(s, in)
	if p.change == nil || !p.Enabled(s, in) {
		return after, effects
	}
	return p.change(s, in, after, effects)
}

// TestPlantedFaultsAreCaught plants mistakes that a server, or sim/phase, could make.
func TestPlantedFaultsAreCaught(t *testing.T) {
	type (
		state   = phase.State
		effects = phase.Effects
	)
	waits := func(p phase.Phase) bool {
		return p == phase.WaitingForPluginOperations || p == phase.WaitingForPluginOperationsPartiallyFailed
	}
	on := func(in phase.Input, change func(before state, after *state, e *effects)) planted {
		return planted{change: func(before state, got phase.Input, after state, e effects) (state, effects) {
			if got == in {
				change(before, &after, &e)
			}
			return after, e
		}}
	}
	never := func(is func(state, phase.Input) bool) planted { return planted{never: is} }
	faults := map[string]struct {
		planted
		restore bool
		want    string
	}{
		"a queued backup's turn never comes": {planted: never(func(s state, in phase.Input) bool { return in == phase.Dequeued }), want: "Queued is left"},
		"a ready backup is not queued again after a restart": {
			planted: never(func(s state, in phase.Input) bool {
				return in == phase.Requeued || s.Phase == phase.ReadyToStart && s.Tracked == phase.Untracked && in != phase.ServerKilled
			}), want: "ReadyToStart is left",
		},
		"a finalizing restore is not taken up": {
			planted: never(func(s state, in phase.Input) bool {
				return s.Phase == phase.Finalizing && (in == phase.FinalizerSucceeded || in == phase.FinalizerFailed || in == phase.BackupNotFound)
			}), restore: true, want: "Finalizing is left",
		},
		"a pass never ends": {planted: never(func(s state, in phase.Input) bool { return in == phase.PassEnded && waits(s.Phase) }), want: "WaitingForPluginOperations is left"},
		"a timeout is never noticed": {
			planted: never(func(_ state, in phase.Input) bool { return in == phase.OperationTimedOut }), want: "WaitingForPluginOperations is left in the end",
		},
		"an operation that is past its deadline, and whose Progress fails, is retried for ever": {
			planted: on(phase.OperationTimedOut, func(before state, after *state, _ *effects) { *after = before }), want: "WaitingForPluginOperations is left in the end",
		},
		"a hung call is never given up": {planted: never(func(_ state, in phase.Input) bool { return in == phase.CallTimedOut }), want: "Progress that hangs is given up"},
		"Cancel is not called": {
			planted: on(phase.OperationTimedOut, func(_ state, _ *state, e *effects) { *e &^= phase.CancelCalled }), want: "timed-out-operation-is-cancelled",
		},
		"Cancel is not called in the first pass": {
			planted: on(phase.OperationTimedOut, func(before state, _ *state, e *effects) {
				if before.Phase == phase.InProgress {
					*e &^= phase.CancelCalled
				}
			}), want: "timed-out-operation-is-cancelled",
		},
		"the finalizer does not upload": {
			planted: on(phase.FinalizerSucceeded, func(_ state, _ *state, e *effects) { *e &^= phase.MetadataUploaded }), want: "phase-is-uploaded",
		},
		"a start marks a waiting object Failed": {
			planted: on(phase.ServerStarted, func(before state, after *state, _ *effects) {
				if waits(before.Phase) {
					after.Phase = phase.Failed
				}
			}), want: "failure-has-a-reason",
		},
		"a finalizer without errors ends PartiallyFailed": {
			planted: on(phase.FinalizerSucceeded, func(_ state, after *state, _ *effects) { after.Phase = phase.PartiallyFailed }), want: "partial-failure-has-a-reason",
		},
		"a failure counts as a completion": {
			planted: on(phase.ProgressFailed, func(before state, after *state, _ *effects) {
				*after = before
				after.Running--
				after.Completed++
				after.UnsavedCompleted++
			}), want: "counts-are-the-operations",
		},
		"a completed operation counts twice": {planted: on(phase.ProgressCompleted, func(_ state, after *state, _ *effects) { after.Completed++ }), want: "counts-are-the-operations"},
		"a failed operation makes no error": {
			planted: on(phase.PassEnded, func(before state, after *state, _ *effects) { after.Errors = before.Errors }), want: "errors-cover-failed-operations",
		},
		"the finalizer forgets that there were errors": {
			planted: on(phase.FinalizerSucceeded, func(_ state, after *state, _ *effects) { after.Phase = phase.Completed }), want: "completed-without-errors",
		},
		"a failed pass goes to Finalizing": {
			planted: on(phase.PassEnded, func(_ state, after *state, _ *effects) {
				if after.Phase == phase.FinalizingPartiallyFailed {
					after.Phase = phase.Finalizing
				}
			}), want: "finalizing-without-errors",
		},
		"it finalizes while operations run": {
			planted: on(phase.PassEnded, func(_ state, after *state, _ *effects) {
				if waits(after.Phase) {
					after.Phase = phase.FinalizingPartiallyFailed
				}
			}), want: "nothing-finalizes-while-operations-run",
		},
		"the operations are not uploaded at the end": {
			planted: on(phase.PassEnded, func(_ state, _ *state, e *effects) { *e &^= phase.OperationsUploaded }), want: "outcome-is-stored",
		},
		"a final phase is left": {
			planted: on(phase.LookupFailed, func(before state, after *state, _ *effects) { after.Phase, after.Abandoned = phase.Completed, true }), want: "abandoned-means-not-completed",
		},
		"a restart keeps InProgress": {
			planted: on(phase.ServerStarted, func(before state, after *state, _ *effects) {
				if before.Phase == phase.InProgress {
					after.Phase, after.Forgotten = phase.InProgress, true
				}
			}), want: "InProgress is not forgotten",
		},
		"a killed server's unsaved completion stays counted": {
			planted: on(phase.ServerKilled, func(before state, after *state, _ *effects) {
				after.Running, after.Completed = before.Running, before.Completed
			}), want: "counts-are-the-operations",
		},
		"the tracker keeps an ended backup": {
			planted: on(phase.FinalizerSucceeded, func(before state, after *state, _ *effects) { after.Tracked = before.Tracked }), want: "ended-backup-is-not-tracked",
		},
		"a pass does not upload the metadata": {
			planted: on(phase.PassEnded, func(_ state, _ *state, e *effects) { *e &^= phase.MetadataUploaded }), want: "phase-is-uploaded",
		},
		"a finalizer whose upload fails ends the backup": {
			planted: on(phase.FinalUploadFailed, func(_ state, after *state, _ *effects) { after.Phase, after.Tracked = phase.Completed, phase.Untracked }), want: "phase-is-uploaded",
		},
		"the tracker forgets a waiting backup": {
			planted: on(phase.ProgressCompleted, func(_ state, after *state, _ *effects) { after.Tracked = phase.Untracked }), want: "running-backup-is-tracked",
		},
		"operations are abandoned without a reason": {
			planted: on(phase.PassEnded, func(_ state, after *state, _ *effects) { after.Abandoned = after.Running > 0 }), want: "abandoned-has-a-reason",
		},
		"a valid object is Failed": {
			planted: on(phase.Validated, func(_ state, after *state, _ *effects) { after.Phase, after.Tracked = phase.Failed, phase.Untracked }), want: "failure-has-a-reason",
		},
		"a pass without errors fails partially": {
			planted: on(phase.PassEnded, func(_ state, after *state, _ *effects) {
				if after.Phase == phase.Finalizing {
					after.Phase = phase.FinalizingPartiallyFailed
				}
			}), want: "partial-failure-has-a-reason",
		},
		"an operation is counted that nobody started": {
			planted: on(phase.OperationStarted, func(_ state, after *state, _ *effects) { after.Completed++ }), want: "ended-at-most-attempted",
		},
		"errors of Progress are retried for ever": {
			planted: never(func(_ state, in phase.Input) bool { return in == phase.RetriesExhausted }), want: "WaitingForPluginOperations is left in the end",
		},
		"a ready backup goes back and forth": {
			planted: planted{change: func(before state, in phase.Input, after state, e effects) (state, effects) {
				if in == phase.Dequeued {
					after.Tracked = phase.Untracked
				}
				return after, e
			}}, want: "Queued is left in the end",
		},
		"lost contents are waited for": {
			planted: never(func(s state, in phase.Input) bool { return s.ContentsLost && in == phase.FinalizerFailed }), want: "Finalizing is left",
		},
		"a restore is queued": {
			planted: on(phase.Validated, func(_ state, after *state, _ *effects) { after.Phase = phase.Queued }), restore: true, want: "phase-belongs-to-kind",
		},
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			f.Rules = phase.Demanded()
			kind := phase.Backup
			if f.restore {
				kind = phase.Restore
			}
			r := explore(t, Config{Machine: Machine{Spec: f.planted}, Kind: kind, Items: 2, Faults: Budget{1, 1, 1}, NoSymmetry: true})
			for _, c := range r.Counterexamples {
				if c.Property == f.want {
					return
				}
			}
			t.Errorf("want a counterexample to %q, found %v", f.want, properties(r))
		})
	}
}
