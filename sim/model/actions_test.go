package model

import (
	"testing"

	"github.com/velosim/velosim/sim/phase"
)

// TestDemandedActions is the claim: whatever becomes of a backup or restore, what a pre-action has stopped is started again.
func TestDemandedActions(t *testing.T) {
	for _, kind := range kinds() {
		r := explore(t, Config{Machine: Machine{Spec: phase.Demanded()}, Kind: kind, Items: 2, Faults: Budget{1, 1, 1}, Actions: true, NoSymmetry: true})
		t.Logf("%s: %s", kind, r.Progress)
		for _, c := range r.Counterexamples {
			t.Errorf("%s: %s", kind, c)
		}
		for edge := range phase.Demanded().LegalWithActions(kind) {
			if !r.Edges[edge] && !edge.From.Final() {
				t.Errorf("%s: %s was never made", kind, edge)
			}
		}
	}
}

// TestPlantedFaultsOfActionsAreCaught plants mistakes that those who call the actions could make.
func TestPlantedFaultsOfActionsAreCaught(t *testing.T) {
	type (
		state   = phase.State
		effects = phase.Effects
	)
	on := func(in phase.Input, change func(before state, after *state)) planted {
		return planted{change: func(before state, got phase.Input, after state, e effects) (state, effects) {
			if got == in {
				change(before, &after)
			}
			return after, e
		}}
	}
	never := func(is func(state, phase.Input) bool) planted { return planted{never: is} }
	for name, f := range map[string]struct {
		planted
		restore bool
		want    string
	}{
		"post-actions follow a failed pre-action alone": {
			planted: never(func(s state, in phase.Input) bool { return in == phase.PostActionStarted && s.Phase == phase.Failed }), want: "what was quiesced is resumed",
		},
		"none are called of a backup that is deleted": {
			planted: never(func(s state, in phase.Input) bool { return in == phase.PostActionStarted && s.Phase == phase.Deleting }), want: "what was quiesced is resumed",
		},
		"none are called after a failed pre-action": {
			planted: never(func(s state, in phase.Input) bool {
				return in == phase.PostActionStarted && s.Phase == phase.FailedPreRestoreActions
			}), restore: true,
			want: "what was quiesced is resumed",
		},
		"a post-action without a pre-action is called after success alone": {
			planted: never(func(s state, in phase.Input) bool {
				return in == phase.PostActionStarted && s.Phase == phase.Failed && !quiesced(s)
			}), want: "post-action is called",
		},
		"a post-action that was interrupted counts as called": {
			planted: on(phase.ServerKilled, func(_ state, after *state) {
				for i := range after.Actions {
					if after.Actions[i].Post == phase.ActionInterrupted {
						after.Actions[i].Post = phase.ActionCompleted
					}
				}
			}), want: "action-ends-by-its-return",
		},
		"it is waited for": {
			planted: never(func(s state, in phase.Input) bool {
				return in == phase.PostActionStarted && s.Actions[0].Post == phase.ActionInterrupted
			}), want: "what was quiesced is resumed",
		},
		"its call outlives the server": {
			planted: on(phase.ServerKilled, func(before state, after *state) { after.Actions = before.Actions }), want: "call-ends-with-its-server",
		},
		"a post-action that has failed is called until it succeeds": {
			planted: on(phase.PostActionFailed, func(_ state, after *state) { due(after, phase.ActionFailed) }), want: "what was quiesced is resumed in the end",
		},
		"a start calls a post-action that has failed": {
			planted: on(phase.ServerStarted, func(_ state, after *state) { due(after, phase.ActionFailed) }), want: "action-is-not-called-again",
		},
		"a start calls the pre-action again": {
			planted: on(phase.ServerStarted, func(_ state, after *state) {
				if after.Actions[0].Pre == phase.ActionInterrupted {
					after.Actions[0].Pre = phase.ActionDue
				}
			}), want: "action-is-not-called-again",
		},
		"the finalizer is gone with the backup": {
			planted: on(phase.DeletionRequested, func(_ state, after *state) { after.Marked = false }), want: "run-is-marked",
		},
		"the marker comes with the final phase": {
			planted: on(phase.Validated, func(_ state, after *state) { after.Marked = false }), want: "what was quiesced is resumed",
		},
		"the items do not wait": {
			planted: on(phase.PreActionStarted, func(_ state, after *state) { after.Phase = phase.Finalizing }), want: "items-follow-pre-actions",
		},
		"a failed pre-action is passed over": {
			planted: on(phase.RunFailed, func(before state, after *state) {
				if before.Actions[0].Pre == phase.ActionFailed {
					after.Phase = phase.Finalizing
				}
			}), want: "items-follow-pre-actions",
		},
		"the pre-actions are called at once": {
			planted: on(phase.PreActionStarted, func(_ state, after *state) { after.Actions[1].Pre = phase.ActionRunning }), want: "pre-actions-come-in-order",
		},
		"a run that fails before its pre-actions blames them": {
			planted: on(phase.RunFailed, func(_ state, after *state) { after.Phase = phase.FailedPreBackupActions }), want: "failed-pre-action-is-told",
		},
		"a failed pre-action makes the run Failed and keeps the slot": {
			planted: on(phase.RunFailed, func(before state, after *state) { after.Tracked = before.Tracked }), want: "ended-backup-is-not-tracked",
		},
		"what was stopped is started before the end": {
			planted: on(phase.PreActionFailed, func(_ state, after *state) { after.Actions[0].Post = phase.ActionRunning }), want: "post-actions-follow-the-end",
		},
		"the post-actions are called at once": {
			planted: on(phase.PostActionStarted, func(_ state, after *state) { after.Actions[2].Post = phase.ActionRunning }), want: "post-actions-come-in-order",
		},
		"what was not stopped is started": {
			planted: on(phase.PostActionStarted, func(_ state, after *state) {
				if after.Actions[0].Pre == phase.ActionDue {
					after.Actions[0].Post = phase.ActionRunning
				}
			}), want: "post-action-has-its-pre-action",
		},
		"a pre-action fails for ever": {
			planted: never(func(s state, in phase.Input) bool {
				return in == phase.RunFailed && s.Prepares() && s.Actions[0].Pre == phase.ActionFailed
			}),
			want: "InProgress is left",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.Rules = phase.Demanded()
			kind := phase.Backup
			if f.restore {
				kind = phase.Restore
			}
			r := explore(t, Config{Machine: Machine{Spec: f.planted}, Kind: kind, Items: 1, Faults: Budget{1, 1, 1}, Actions: true, NoSymmetry: true})
			for _, c := range r.Counterexamples {
				if c.Property == f.want {
					return
				}
			}
			t.Errorf("want a counterexample to %q, found %v", f.want, properties(r))
		})
	}
}

// due lets post-actions in some state be called again.
func due(s *phase.State, in phase.ActionState) {
	for i := range s.Actions {
		if s.Actions[i].Post == in {
			s.Actions[i].Post = phase.ActionDue
		}
	}
}
