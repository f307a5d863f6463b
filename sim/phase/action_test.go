package phase

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// acting is a new object with two plugins that have both actions, and one that has a post-action alone.
func acting(k Kind) State {
	s := Initial(k)
	s.Actions = [MaxActions]PluginActions{{ActionDue, ActionDue}, {ActionDue, ActionDue}, {NoAction, ActionDue}}
	return s
}

func TestActions(t *testing.T) {
	demanded, release := readings(t)[0], readings(t)[1]
	run := []Input{PreActionStarted, PreActionSucceeded, PreActionStarted, PreActionSucceeded}
	completes := slices.Concat(run, []Input{PassEnded, FinalizerSucceeded})
	const (
		due, running, interrupted, completed, failed = ActionDue, ActionRunning, ActionInterrupted, ActionCompleted, ActionFailed
	)
	type both = PluginActions
	for _, test := range []struct {
		name    string
		rules   Rules
		restore bool
		inputs  []Input // from InProgress on
		phase   Phase
		actions [3]both
		// may and not are inputs that come next, and that do not.
		may, not []Input
	}{
		{
			name: "before the first", rules: demanded, phase: InProgress, actions: [3]both{{due, due}, {due, due}, {0, due}},
			may: []Input{PreActionStarted, RunFailed}, not: []Input{OperationStarted, ExecuteFailed, ExecuteHung, PassEnded, PreActionSucceeded, PostActionStarted, DeletionRequested},
		},
		{
			name: "in the first", rules: demanded, inputs: run[:1], phase: InProgress, actions: [3]both{{running, due}, {due, due}, {0, due}},
			may: []Input{PreActionSucceeded, PreActionFailed, ServerKilled}, not: []Input{PreActionStarted, RunFailed, RunPatchLost, OperationStarted},
		},
		{
			name: "between two", rules: demanded, inputs: run[:2], phase: InProgress, actions: [3]both{{completed, due}, {due, due}, {0, due}},
			may: []Input{PreActionStarted}, not: []Input{OperationStarted, PassEnded},
		},
		{
			name: "after the last come the items", rules: demanded, inputs: run, phase: InProgress, actions: [3]both{{completed, due}, {completed, due}, {0, due}},
			may: []Input{OperationStarted, ExecuteFailed, PassEnded, RunFailed}, not: []Input{PreActionStarted},
		},
		{
			name: "the first fails, and nothing follows in the run", rules: demanded, inputs: []Input{PreActionStarted, PreActionFailed}, phase: InProgress,
			actions: [3]both{{failed, due}, {due, due}, {0, due}}, may: []Input{RunFailed, RunPatchLost}, not: []Input{PreActionStarted, OperationStarted, PassEnded, PostActionStarted},
		},
		{
			name: "which tells so", rules: demanded, inputs: []Input{PreActionStarted, PreActionFailed, RunFailed}, phase: FailedPreBackupActions,
			actions: [3]both{{failed, due}, {due, due}, {0, due}}, may: []Input{PostActionStarted, DeletionRequested}, not: []Input{PreActionStarted},
		},
		{
			name: "a restore's", rules: release, restore: true, inputs: []Input{PreActionStarted, PreActionFailed, RunFailed}, phase: FailedPreRestoreActions,
			actions: [3]both{{failed, due}, {due, due}, {0, due}}, may: []Input{PostActionStarted},
		},
		{
			name: "and is resumed, but for the second, which has not begun", rules: demanded, phase: FailedPreBackupActions,
			inputs:  []Input{PreActionStarted, PreActionFailed, RunFailed, PostActionStarted, PostActionFailed, PostActionStarted, PostActionSucceeded},
			actions: [3]both{{failed, failed}, {due, due}, {0, completed}}, not: []Input{PostActionStarted, PostActionSucceeded},
		},
		{
			name: "the run fails before the first", rules: demanded, inputs: []Input{RunFailed, PostActionStarted}, phase: Failed,
			actions: [3]both{{due, due}, {due, due}, {0, running}},
		},
		{
			name: "v1.18: the patch that tells so is lost for good, and then it is Failed", rules: release,
			inputs: []Input{PreActionStarted, PreActionFailed, RunPatchLost, ServerKilled, ServerStarted}, phase: Failed,
			actions: [3]both{{failed, due}, {due, due}, {0, due}}, may: []Input{PostActionStarted},
		},
		{
			name: "demanded: it is tried until it lands", rules: demanded, inputs: []Input{PreActionStarted, PreActionFailed, RunPatchLost, RunFailed}, phase: FailedPreBackupActions,
			actions: [3]both{{failed, due}, {due, due}, {0, due}},
		},
		{
			name: "no post-action before the end", rules: demanded, inputs: slices.Concat(run, []Input{PassEnded}), phase: Finalizing,
			actions: [3]both{{completed, due}, {completed, due}, {0, due}}, not: []Input{PostActionStarted},
		},
		{
			name: "one after another", rules: demanded, inputs: slices.Concat(completes, []Input{PostActionStarted}), phase: Completed,
			actions: [3]both{{completed, running}, {completed, due}, {0, due}}, not: []Input{PostActionStarted},
		},
		{
			name: "a pre-action that is interrupted is resumed, and not called again", rules: demanded, inputs: []Input{PreActionStarted, ServerKilled, ServerStarted}, phase: Failed,
			actions: [3]both{{interrupted, due}, {due, due}, {0, due}}, may: []Input{PostActionStarted}, not: []Input{PreActionStarted, PreActionSucceeded, PreActionFailed},
		},
		{
			name: "a post-action that is interrupted", rules: demanded, inputs: slices.Concat(completes, []Input{PostActionStarted, ServerKilled, ServerStarted}), phase: Completed,
			actions: [3]both{{completed, interrupted}, {completed, due}, {0, due}}, may: []Input{PostActionStarted}, not: []Input{PostActionSucceeded, PostActionFailed},
		},
		{
			name: "is called again, and one that has failed is not", rules: demanded, phase: Completed,
			inputs: slices.Concat(completes, []Input{
				PostActionStarted, PostActionFailed, PostActionStarted, ServerKilled, ServerStarted, PostActionStarted, PostActionSucceeded, ServerKilled, ServerStarted,
				PostActionStarted, PostActionSucceeded,
			}),
			actions: [3]both{{completed, failed}, {completed, completed}, {0, completed}}, not: []Input{PostActionStarted},
		},
		{
			name: "deleted when it has ended", rules: demanded, inputs: slices.Concat(completes, []Input{PostActionStarted, DeletionRequested, PostActionSucceeded}), phase: Deleting,
			actions: [3]both{{completed, completed}, {completed, due}, {0, due}}, may: []Input{PostActionStarted},
		},
		{
			name: "deleted in its run", rules: demanded, inputs: slices.Concat(run, []Input{OperationStarted, PassEnded, ServerKilled, ServerStarted, DeletionRequested}), phase: Deleting,
			actions: [3]both{{completed, due}, {completed, due}, {0, due}}, may: []Input{PostActionStarted},
		},
		{
			name: "v1.18: deleted when its run begins, which goes on", rules: release, inputs: []Input{DeletionOvertaken}, phase: Deleting,
			actions: [3]both{{due, due}, {due, due}, {0, due}}, may: []Input{PreActionStarted}, not: []Input{PostActionStarted},
		},
		{
			name: "v1.18: until the server ends", rules: release, inputs: []Input{DeletionOvertaken, PreActionStarted, ServerKilled, ServerStarted}, phase: Deleting,
			actions: [3]both{{interrupted, due}, {due, due}, {0, due}}, may: []Input{PostActionStarted}, not: []Input{PreActionStarted, PreActionSucceeded},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			start, kind := []Input{Enqueued, Dequeued, Validated}, Backup
			if test.restore {
				start, kind = []Input{Validated}, Restore
			}
			s, _ := walk(t, test.rules, acting(kind), slices.Concat(start, test.inputs)...)
			if s.Phase != test.phase || !s.Marked {
				t.Errorf("phase %s, marked %t; want %s, marked", s.Phase, s.Marked, test.phase)
			}
			if diff := cmp.Diff(test.actions[:], s.Actions[:3]); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if s.Phase.Final() && !s.Overtaken && s.Tracked != Untracked {
				t.Errorf("the tracker keeps it: %s", s.Tracked)
			}
			for _, in := range test.may {
				if !test.rules.Enabled(s, in) {
					t.Errorf("%q cannot come next", in)
				}
			}
			for _, in := range test.not {
				if test.rules.Enabled(s, in) {
					t.Errorf("%q can come next", in)
				}
			}
		})
	}
}

// TestUnmarked: what was never InProgress has no post-actions.
func TestUnmarked(t *testing.T) {
	for _, rules := range readings(t) {
		for _, inputs := range [][]Input{{Enqueued, Dequeued, Rejected}, {Enqueued, DeletionRequested}} {
			if s, _ := walk(t, rules, acting(Backup), inputs...); s.Marked || !s.Ended() || rules.Enabled(s, PostActionStarted) {
				t.Errorf("%s: %+v", rules.Name, s)
			}
		}
	}
}

// TestEnded: an object whose post-actions are to come has not, and the server can end it.
func TestEnded(t *testing.T) {
	s, _ := walk(t, Demanded(), acting(Restore), Validated, RunFailed)
	if s.Ended() || Demanded().Stalls(s) {
		t.Errorf("Ended %t, Stalls %t: %+v", s.Ended(), Demanded().Stalls(s), s)
	}
	s, _ = walk(t, Demanded(), s, PostActionStarted)
	if s.Ended() {
		t.Errorf("Ended: %+v", s)
	}
	if s, _ = walk(t, Demanded(), s, PostActionFailed); !s.Ended() {
		t.Errorf("not Ended: %+v", s)
	}
}

// TestLegalWithActions: what pre-actions add, in every reading.
func TestLegalWithActions(t *testing.T) {
	old, err := ForRelease("1.14")
	if err != nil {
		t.Fatal(err)
	}
	for _, rules := range append(readings(t), old) {
		for kind, want := range map[Kind]map[Edge][]Input{
			Backup: {
				{InProgress, FailedPreBackupActions}: {RunFailed}, {FailedPreBackupActions, Deleting}: {DeletionRequested},
				{Deleting, FailedPreBackupActions}: {RunFailed}, // by a run that goes on
			},
			Restore: {
				{InProgress, FailedPreRestoreActions}: {RunFailed}, {FailedPreRestoreActions, InProgress}: {RunRepeated},
			},
		} {
			if rules.Name == Demanded().Name {
				delete(want, Edge{Deleting, FailedPreBackupActions})
				delete(want, Edge{FailedPreRestoreActions, InProgress})
			}
			added := rules.LegalWithActions(kind)
			for edge, by := range rules.Legal(kind) {
				if diff := cmp.Diff(by, added[edge]); diff != "" {
					t.Errorf("%s %s: %s (-without actions +with them):\n%s", rules.Name, kind, edge, diff)
				}
				delete(added, edge)
			}
			if diff := cmp.Diff(want, added); diff != "" {
				t.Errorf("%s %s: edges with actions (-want +got):\n%s", rules.Name, kind, diff)
			}
		}
	}
}

// TestActionsAreSane goes through every step of objects with actions: what is demanded breaks no invariant, an action that has ended is not
// called again, and the end of a server ends its calls.
func TestActionsAreSane(t *testing.T) {
	for _, kind := range []Kind{Backup, Restore} {
		steps := 0
		Demanded().explore(acting(kind), 1, func(before State, in Input, after State, _ Effects) {
			steps++
			view := after.View()
			view.From = before.Phase
			for _, invariant := range Invariants() {
				if !invariant.Holds(view) {
					t.Fatalf("%s: %s in %+v leads to %+v", invariant.Name, in, before, after)
				}
			}
			if before.Marked && !after.Marked {
				t.Fatalf("%s in %+v removes the marker", in, before)
			}
			for i, was := range before.Actions {
				is := after.Actions[i]
				if (was.Pre.Begun() && was.Pre != ActionRunning && is.Pre != was.Pre) || was.Post.Ended() && is.Post != was.Post {
					t.Fatalf("%s in %+v calls an action again: %+v", in, before, after)
				}
				if after.Down && (is.Pre == ActionRunning || is.Post == ActionRunning) {
					t.Fatalf("%s in %+v leaves a call of a server that has died: %+v", in, before, after)
				}
			}
		})
		if steps < 1000 {
			t.Errorf("%s: only %d steps explored", kind, steps)
		}
	}
}

func TestLegalActions(t *testing.T) {
	old, err := ForRelease("1.14")
	if err != nil {
		t.Fatal(err)
	}
	want := map[ActionEdge]bool{}
	for _, pre := range []bool{true, false} {
		want[ActionEdge{pre, ActionDue, ActionRunning}] = true
		for _, end := range []ActionState{ActionCompleted, ActionFailed, ActionInterrupted} {
			want[ActionEdge{pre, ActionRunning, end}] = true
		}
	}
	want[ActionEdge{false, ActionInterrupted, ActionRunning}] = true // a pre-action is not called again: its run has failed
	for _, rules := range append(readings(t), old) {
		for _, kind := range []Kind{Backup, Restore} {
			if diff := cmp.Diff(want, rules.LegalActions(kind)); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", rules.Name, kind, diff)
			}
		}
	}
}
