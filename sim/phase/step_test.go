package phase

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walk applies the inputs in turn; each must be enabled.
func walk(t *testing.T, rules Rules, s State, ins ...Input) (State, Effects) {
	t.Helper()
	var effects Effects
	for _, in := range ins {
		if !rules.Enabled(s, in) {
			t.Fatalf("%s: %q is not enabled in %+v", rules.Name, in, s)
		}
		s, effects = rules.Step(s, in)
	}
	return s, effects
}

func inProgress(t *testing.T, rules Rules, k Kind, ins ...Input) State {
	t.Helper()
	start := []Input{Enqueued, Dequeued, Validated}
	if k == Restore {
		start = []Input{Validated}
	}
	s, _ := walk(t, rules, Initial(k), append(start, ins...)...)
	return s
}

func TestStep(t *testing.T) {
	demanded, release := readings(t)[0], readings(t)[1]
	tests := []struct {
		name    string
		rules   Rules
		from    State
		inputs  []Input
		want    State
		effects Effects // of the last input
	}{
		{
			name: "a dequeued backup takes a slot of the tracker", rules: release,
			from: Initial(Backup), inputs: []Input{Enqueued, Dequeued},
			want: State{Phase: ReadyToStart, Tracked: TrackedReady}, effects: PhaseWritten,
		},
		{
			name: "v1.18: a start overlooks a backup whose turn comes before it is watched", rules: release,
			from: Initial(Backup), inputs: []Input{Enqueued, ServerKilled, ServerStarted, DequeuedUnwatched},
			want: State{Phase: ReadyToStart, Tracked: TrackedReady, Forgotten: true}, effects: PhaseWritten,
		},
		{
			name: "v1.18: a restore is run again, and nobody knows of its operation", rules: release,
			from:   inProgress(t, release, Restore, OperationStarted, PassEnded),
			inputs: []Input{RunRepeated},
			want:   State{Kind: Restore, Phase: InProgress, Lost: 1}, effects: PhaseWritten,
		},
		{
			name: "v1.18: and one that was rejected, as its backup was not known yet", rules: release,
			from: State{Kind: Restore, Phase: FailedValidation}, inputs: []Input{RunRepeated},
			want: State{Kind: Restore, Phase: InProgress}, effects: PhaseWritten,
		},
		{
			name: "v1.18: a backup whose operation has failed is Completed, by what it was before", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, PassEnded, ProgressFailed, PassEnded),
			inputs: []Input{PassRepeated, FinalizerSucceeded},
			want:   State{Phase: Completed, Failed: 1, Errors: 1}, effects: PhaseWritten | MetadataUploaded | TrackerReleased,
		},
		{
			name: "v1.18: it is finalized twice", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, PassEnded, ProgressFailed, PassEnded, FinalizerSucceeded),
			inputs: []Input{FailedPassRepeated},
			want:   State{Phase: finalizingPartially, Failed: 1, Errors: 1}, effects: PhaseWritten,
		},
		{
			name: "a rejected backup frees its slot", rules: release,
			from: Initial(Backup), inputs: []Input{Enqueued, Dequeued, Rejected},
			want: State{Phase: FailedValidation}, effects: PhaseWritten | TrackerReleased,
		},
		{
			name: "a failure that could not be uploaded is forgotten when the location is lost", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, OperationStarted, PassEnded, ProgressFailed, PassUploadFailed),
			inputs: []Input{LookupFailed},
			want:   State{Phase: PartiallyFailed, Running: 2, Abandoned: true, Tracked: TrackedPost}, effects: PhaseWritten,
		},
		{
			name: "v1.18: a restore waits for operations that it could not store", rules: release,
			from:   inProgress(t, release, Restore, OperationStarted),
			inputs: []Input{RunUploadFailed},
			want:   State{Kind: Restore, Phase: waiting, Running: 1, Unread: true, Unstored: true}, effects: PhaseWritten,
		},
		{
			name: "v1.18: and finds none", rules: release,
			from:   inProgress(t, release, Restore, OperationStarted, RunUploadFailed),
			inputs: []Input{OperationsMissing},
			want:   State{Kind: Restore, Phase: Finalizing, Lost: 1, Unstored: true}, effects: PhaseWritten,
		},
		{
			name: "demanded: a restore goes on only when its operations are stored", rules: demanded,
			from:   inProgress(t, demanded, Restore, OperationStarted),
			inputs: []Input{RunUploadFailed},
			want:   State{Kind: Restore, Phase: InProgress, Running: 1},
		},
		{
			name: "demanded: a backup whose contents are gone is PartiallyFailed", rules: demanded,
			from:   inProgress(t, demanded, Backup, OperationStarted, ProgressCompleted, PassEnded, ContentsDisappeared),
			inputs: []Input{FinalizerFailed},
			want:   State{Phase: PartiallyFailed, Completed: 1, Errors: 1, ContentsLost: true}, effects: PhaseWritten | MetadataUploaded | TrackerReleased,
		},
		{
			name: "an operation that completes beside a running one stays unsaved", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, OperationStarted, PassEnded),
			inputs: []Input{ProgressCompleted, PassEnded},
			want:   State{Phase: waiting, Running: 1, Completed: 1, UnsavedCompleted: 1, Tracked: TrackedPost},
		},
		{
			name: "and is polled again by the next server", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, OperationStarted, PassEnded),
			inputs: []Input{ProgressCompleted, PassEnded, ServerKilled, ServerStarted},
			want:   State{Phase: waiting, Running: 2, Unread: true},
		},
		{
			name: "a failure saves every operation", rules: release,
			from:    inProgress(t, release, Backup, OperationStarted, OperationStarted, OperationStarted, PassEnded),
			inputs:  []Input{ProgressCompleted, ProgressFailed, PassEnded},
			want:    State{Phase: waitingPartially, Running: 1, Completed: 1, Failed: 1, Errors: 1, Tracked: TrackedPost},
			effects: PhaseWritten | OperationsUploaded | MetadataUploaded,
		},
		{
			name: "a second failure uploads without a change of phase", rules: release,
			from: inProgress(t, release, Restore, OperationStarted, OperationStarted, OperationStarted, PassEnded,
				ProgressFailed, PassEnded),
			inputs:  []Input{ProgressFailed, PassEnded},
			want:    State{Kind: Restore, Phase: waitingPartially, Running: 1, Failed: 2, Errors: 2},
			effects: OperationsUploaded,
		},
		{
			name: "a failure and the last completion in one pass", rules: release,
			from:    inProgress(t, release, Restore, OperationStarted, OperationStarted, PassEnded),
			inputs:  []Input{ProgressFailed, ProgressCompleted, PassEnded},
			want:    State{Kind: Restore, Phase: finalizingPartially, Completed: 1, Failed: 1, Errors: 1},
			effects: PhaseWritten | OperationsUploaded,
		},
		{
			name: "a failure in one pass is remembered in the next (velero#6490)", rules: release,
			from: inProgress(t, release, Backup, OperationStarted, OperationStarted, PassEnded,
				ProgressFailed, PassEnded, ProgressCompleted, PassEnded),
			inputs:  []Input{FinalizerSucceeded},
			want:    State{Phase: PartiallyFailed, Completed: 1, Failed: 1, Errors: 1},
			effects: PhaseWritten | MetadataUploaded | TrackerReleased,
		},
		{
			name: "an operation that times out is cancelled", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, PassEnded),
			inputs: []Input{OperationTimedOut},
			want:   State{Phase: waiting, Failed: 1, UnsavedFailed: 1, Tracked: TrackedPost}, effects: CancelCalled,
		},
		{
			name: "a backup without its location ends directly, and stays tracked", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, PassEnded),
			inputs: []Input{LookupFailed},
			want:   State{Phase: PartiallyFailed, Running: 1, Abandoned: true, Tracked: TrackedPost}, effects: PhaseWritten,
		},
		{
			name: "a restore without its backup finalizes with its operation running", rules: release,
			from:   inProgress(t, release, Restore, OperationStarted, PassEnded),
			inputs: []Input{LookupFailed},
			want:   State{Kind: Restore, Phase: finalizingPartially, Running: 1, Abandoned: true}, effects: PhaseWritten,
		},
		{
			name: "what was unsaved stays so when nobody polls again", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, OperationStarted, PassEnded, ProgressCompleted, PassEnded),
			inputs: []Input{LookupFailed},
			want:   State{Phase: PartiallyFailed, Running: 1, Completed: 1, Abandoned: true, Tracked: TrackedPost}, effects: PhaseWritten,
		},
		{
			name: "what is described, the next server knows", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, OperationStarted, PassEnded, ProgressCompleted, PassEnded),
			inputs: []Input{Described, ServerKilled, ServerStarted},
			want:   State{Phase: waiting, Running: 1, Completed: 1, Unread: true},
		},
		{
			name: "v1.18: a failure that could not be stored is forgotten when it is described", rules: release,
			from:    inProgress(t, release, Backup, OperationStarted, PassEnded),
			inputs:  []Input{ProgressFailed, PassUploadFailed, Described, PassEnded},
			want:    State{Phase: Finalizing, Failed: 1, Tracked: TrackedPost},
			effects: PhaseWritten | OperationsUploaded | MetadataUploaded,
		},
		{
			name: "demanded: it is not", rules: demanded,
			from:    inProgress(t, demanded, Backup, OperationStarted, PassEnded),
			inputs:  []Input{ProgressFailed, PassUploadFailed, Described, PassEnded},
			want:    State{Phase: finalizingPartially, Failed: 1, Errors: 1, Tracked: TrackedPost},
			effects: PhaseWritten | OperationsUploaded | MetadataUploaded,
		},
		{
			name: "v1.18: a leaked slot holds the queue until the server restarts", rules: release,
			from:   State{Phase: Queued},
			inputs: []Input{SlotLeaked, ServerKilled, ServerStarted, Dequeued},
			want:   State{Phase: ReadyToStart, Tracked: TrackedReady}, effects: PhaseWritten,
		},
		{
			name: "v1.18: a run that has begun goes on over Deleting", rules: release,
			from:   State{Phase: ReadyToStart, Tracked: TrackedReady},
			inputs: []Input{DeletionOvertaken, Validated, OperationStarted, PassEnded},
			want:   State{Phase: waiting, Running: 1, Unread: true, Deleted: true, Tracked: TrackedPost}, effects: PhaseWritten | OperationsUploaded | MetadataUploaded,
		},
		{
			name: "v1.18: but not after a restart", rules: release,
			from:   State{Phase: ReadyToStart, Tracked: TrackedReady},
			inputs: []Input{DeletionOvertaken, ServerKilled, ServerStarted},
			want:   State{Phase: Deleting, Deleted: true},
		},
		{
			name: "Execute hangs on an item to update", rules: release,
			from:   inProgress(t, release, Backup, OperationStarted, ProgressCompleted, PassEnded),
			inputs: []Input{ExecuteHung},
			want:   State{Phase: Finalizing, Completed: 1, Hung: ExecuteCall, Tracked: TrackedPost},
		},
		{
			name: "a Cancel that hangs was called", rules: release,
			from:   inProgress(t, release, Restore, OperationStarted, PassEnded),
			inputs: []Input{CancelHung},
			want:   State{Kind: Restore, Phase: waiting, Running: 1, Hung: CancelCall}, effects: CancelCalled,
		},
		{
			name: "a restore whose final patch is lost is finalized again", rules: release,
			from:   inProgress(t, release, Restore, PassEnded),
			inputs: []Input{FinalPatchLost},
			want:   State{Kind: Restore, Phase: Finalizing},
		},
		{
			name: "v1.18: a restore whose hooks' counts are not patched fails partially", rules: release,
			from:   inProgress(t, release, Restore, PassEnded),
			inputs: []Input{HookStatusLost},
			want:   State{Kind: Restore, Phase: PartiallyFailed, Errors: 1}, effects: PhaseWritten,
		},
		{
			name: "demanded: they are patched again", rules: demanded,
			from:   inProgress(t, demanded, Restore, PassEnded),
			inputs: []Input{HookStatusLost, FinalizerSucceeded},
			want:   State{Kind: Restore, Phase: Completed}, effects: PhaseWritten,
		},
		{
			name: "a server that dies in InProgress leaves Failed", rules: demanded,
			from:   inProgress(t, demanded, Backup, OperationStarted, ExecuteFailed),
			inputs: []Input{ServerKilled, ServerStarted},
			want:   State{Phase: Failed}, effects: PhaseWritten,
		},
		{
			name: "a backup whose final patch is lost is finalized again", rules: release,
			from:   inProgress(t, release, Backup, PassEnded),
			inputs: []Input{FinalPatchLost},
			want:   State{Phase: Finalizing}, effects: MetadataUploaded | TrackerReleased,
		},
		{
			name: "demanded: a hung Execute fails its item", rules: demanded,
			from:    inProgress(t, demanded, Backup, ExecuteHung),
			inputs:  []Input{CallTimedOut, PassEnded},
			want:    State{Phase: finalizingPartially, Errors: 1, Tracked: TrackedPost},
			effects: PhaseWritten | OperationsUploaded | MetadataUploaded,
		},
		{
			name: "demanded: a hung Cancel fails its operation", rules: demanded,
			from:   inProgress(t, demanded, Restore, OperationStarted, PassEnded, CancelHung),
			inputs: []Input{CallTimedOut},
			want:   State{Kind: Restore, Phase: waiting, Failed: 1, UnsavedFailed: 1},
		},
		{
			name: "v1.18: a failure is forgotten when its patch is lost", rules: release,
			from:    inProgress(t, release, Restore, OperationStarted, PassEnded),
			inputs:  []Input{ProgressFailed, PassPatchLost, PassEnded, FinalizerSucceeded},
			want:    State{Kind: Restore, Phase: Completed, Failed: 1},
			effects: PhaseWritten,
		},
		{
			name: "demanded: the next server counts it", rules: demanded,
			from:    inProgress(t, demanded, Restore, OperationStarted, PassEnded),
			inputs:  []Input{ProgressFailed, PassPatchLost, ServerKilled, ServerStarted, PassEnded},
			want:    State{Kind: Restore, Phase: finalizingPartially, Failed: 1, Errors: 1},
			effects: PhaseWritten | OperationsUploaded,
		},
		{
			name: "v1.18: a missing operations file reads as none", rules: release,
			from:    inProgress(t, release, Restore, OperationStarted, OperationStarted, PassEnded),
			inputs:  []Input{OperationsMissing},
			want:    State{Kind: Restore, Phase: Finalizing, Lost: 2},
			effects: PhaseWritten,
		},
		{
			name: "demanded: its operations count as failed", rules: demanded,
			from:    inProgress(t, demanded, Restore, OperationStarted, OperationStarted, PassEnded),
			inputs:  []Input{OperationsMissing},
			want:    State{Kind: Restore, Phase: finalizingPartially, Failed: 2, Errors: 2},
			effects: PhaseWritten | OperationsUploaded,
		},
		{
			name: "v1.18: an error of Progress fails the operation", rules: release,
			from:   inProgress(t, release, Restore, OperationStarted, PassEnded),
			inputs: []Input{ProgressErrored},
			want:   State{Kind: Restore, Phase: waiting, Failed: 1, UnsavedFailed: 1},
		},
		{
			name: "demanded: an error of Progress is retried", rules: demanded,
			from:   inProgress(t, demanded, Restore, OperationStarted, PassEnded),
			inputs: []Input{ProgressErrored, PassEnded},
			want:   State{Kind: Restore, Phase: waiting, Running: 1},
		},
		{
			name: "demanded: until the retries are exhausted", rules: demanded,
			from:    inProgress(t, demanded, Restore, OperationStarted, PassEnded),
			inputs:  []Input{RetriesExhausted, PassEnded},
			want:    State{Kind: Restore, Phase: finalizingPartially, Failed: 1, Errors: 1},
			effects: PhaseWritten | OperationsUploaded,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, effects := walk(t, test.rules, test.from, test.inputs...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if effects != test.effects {
				t.Errorf("effects = %s, want %s", effects, test.effects)
			}
		})
	}
}

// TestRestartMakesDeletionPossible: the tracker is empty after a restart.
func TestRestartMakesDeletionPossible(t *testing.T) {
	for _, rules := range readings(t) {
		s := inProgress(t, rules, Backup, OperationStarted, PassEnded, ServerKilled, ServerStarted, DeletionRequested)
		if s.Phase != Deleting {
			t.Errorf("%s: phase = %s, want Deleting", rules.Name, s.Phase)
		}
	}
}

// TestStepIsSane goes through every step between reachable states.
func TestStepIsSane(t *testing.T) {
	for _, rules := range readings(t) {
		for _, kind := range []Kind{Backup, Restore} {
			steps := 0
			rules.explore(Initial(kind), 3, func(before State, in Input, after State, effects Effects) {
				steps++
				if effects.Has(PhaseWritten) != (before.Phase != after.Phase) {
					t.Fatalf("%s: %s in %+v: effects %s, phase becomes %s", rules.Name, in, before, effects, after.Phase)
				}
				if after.UnsavedCompleted > after.Completed || after.UnsavedFailed > after.Failed {
					t.Fatalf("%s: %s in %+v leaves more unsaved than ended: %+v", rules.Name, in, before, after)
				}
				if kind == Restore && (after.Tracked != Untracked || effects.Has(MetadataUploaded)) {
					t.Fatalf("%s: %s in %+v treats a restore as a backup: %+v, %s", rules.Name, in, before, after, effects)
				}
			})
			if steps < 1000 {
				t.Errorf("%s %s: only %d steps explored", rules.Name, kind, steps)
			}
		}
	}
}

// FuzzStep: no state or input, however absurd, makes Step panic, and what is not enabled changes nothing.
func FuzzStep(f *testing.F) {
	f.Add(uint8(0), uint8(5), uint8(1), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(1), uint8(13), uint8(255))
	f.Add(uint8(9), uint8(200), uint8(255), uint8(255), uint8(255), uint8(255), uint8(255), uint8(255), uint8(255), uint8(255), uint8(255), uint8(255))
	f.Fuzz(func(t *testing.T, kind, phase, running, completed, failed, unsavedCompleted, unsavedFailed, errors, flags, hung, in, deviations uint8) {
		s := State{
			Kind: Kind(kind), Phase: Phase(phase), Running: uint16(running), Completed: uint16(completed), Failed: uint16(failed),
			UnsavedCompleted: uint16(unsavedCompleted), UnsavedFailed: uint16(unsavedFailed), Errors: uint16(errors), Unread: flags&8 != 0,
			Abandoned: flags&1 != 0, Down: flags&2 != 0, Forgotten: flags&4 != 0, Tracked: Tracking(flags >> 3), Hung: Call(hung),
			Actions: [MaxActions]PluginActions{{}, {ActionState(completed), ActionState(failed)}, {ActionState(running), ActionState(in)}}, Marked: flags&16 != 0,
		}
		rules := Rules{
			PluginCallWithoutDeadline: deviations&1 != 0, ReadyBackupForgottenByRestart: deviations&2 != 0,
			ProgressErrorIsFinal: deviations&4 != 0, FailureForgottenBeforePatch: deviations&8 != 0,
			MissingOperationsReadAsNone: deviations&16 != 0, FinalUploadFailureIgnored: deviations&32 != 0, StartMarksOnce: deviations&64 != 0, RunPatchGivenUp: deviations&128 != 0,
		}
		next, effects := rules.Step(s, Input(in))
		if !rules.Enabled(s, Input(in)) && (next != s || effects != 0) {
			t.Errorf("%s is not enabled in %+v but leads to %+v, %s", Input(in), s, next, effects)
		}
		rules.Stalls(s)
		for _, invariant := range Invariants() {
			invariant.Holds(next.View())
		}
		_ = s.Kind.String() + s.Phase.String() + s.Hung.String() + s.Tracked.String() + effects.String() + Input(in).Source()
	})
}

func BenchmarkStep(b *testing.B) {
	rules := Demanded()
	s := State{Phase: WaitingForPluginOperations, Running: 3, Tracked: TrackedPost}
	for b.Loop() {
		rules.Step(s, ProgressCompleted)
	}
}
