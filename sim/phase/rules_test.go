package phase

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadings(t *testing.T) {
	for _, version := range []string{"1.18.3", "v1.18.0", "1.18", "v1.18"} {
		got, err := ForRelease(version)
		if err != nil {
			t.Fatal(err)
		}
		want := Rules{
			Name: "v1.18", PluginCallWithoutDeadline: true, ReadyBackupForgottenByRestart: true, ProgressErrorIsFinal: true,
			FailureForgottenBeforePatch: true, MissingOperationsReadAsNone: true, FinalUploadFailureIgnored: true,
			FinalizerRetriedForEver: true, HookStatusSentOnce: true, StartMarksOnce: true, RunPatchGivenUp: true, BegunRunForgotten: true, QueueSlotLeaked: true, GivenUpBackupStaysTracked: true, UnfinishedBackupRestored: true, DeletionOvertaken: true,
			StaleReadActedUpon: true, DeletionForgottenByRestart: true,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ForRelease(%q) (-want +got):\n%s", version, diff)
		}
	}
	if old, err := ForRelease("1.14.0"); err != nil || old.Name != "v1.14" || !old.Unqueued || old.ReadyBackupForgottenByRestart || !old.ProgressErrorIsFinal {
		t.Errorf("ForRelease(1.14.0) = %+v, %v", old, err)
	}
	for _, version := range []string{"", "main", "1.15.0", "1.180.0", "1.17.3", "2.0"} {
		if _, err := ForRelease(version); err == nil || !strings.Contains(err.Error(), "use 1.14.x or 1.18.x") {
			t.Errorf("ForRelease(%q): error %v, want one that names the releases with rules", version, err)
		}
	}
	if diff := cmp.Diff(Rules{Name: "demanded"}, Demanded()); diff != "" {
		t.Errorf("Demanded (-want +got):\n%s", diff)
	}
}

// TestRulesAndBooleansAreOneList: each boolean of Rules is exactly one rule, and is named like it.
func TestRulesAndBooleansAreOneList(t *testing.T) {
	ruleOf := map[string]string{}
	for _, rule := range All() {
		if rule.Statement == "" || rule.Deviation == "" || rule.Seen == "" || rule.Remedy == "" || rule.Source == "" || len(rule.Releases) == 0 {
			t.Errorf("rule %s is incomplete: %+v", rule.Name, rule)
		}
		if rule.Deviates(Demanded()) {
			t.Errorf("the demanded reading deviates in %s", rule.Name)
		}
		var rules Rules
		rules = rules.With(rule)
		value := reflect.ValueOf(rules)
		for i := range value.NumField() {
			if field := value.Type().Field(i); value.Field(i).Kind() == reflect.Bool && value.Field(i).Bool() {
				ruleOf[field.Name] = rule.Name
				if squeezed := strings.ReplaceAll(rule.Name, "-", ""); !strings.EqualFold(squeezed, field.Name) {
					t.Errorf("rule %s stands for the boolean %s", rule.Name, field.Name)
				}
			}
		}
	}
	fields := reflect.TypeFor[Rules]()
	for i := range fields.NumField() {
		if field := fields.Field(i); field.Type.Kind() == reflect.Bool && field.Name != "Unqueued" && ruleOf[field.Name] == "" {
			t.Errorf("Rules.%s has no rule in All", field.Name)
		}
	}
}

func TestParse(t *testing.T) {
	for p := range phases {
		if got, err := Parse(p.String()); err != nil || got != p {
			t.Errorf("Parse(%q) = %s, %v", p.String(), got, err)
		}
	}
	if got, err := Parse(""); err != nil || got != New {
		t.Errorf("Parse of nothing = %s, %v, want New", got, err)
	}
	for name, want := range map[string]string{
		"Complete":        "unknown phase",
		"partiallyfailed": "unknown phase",
		"WaitingForPluginOperationsPartialyFailed": "unknown phase",
		"Phase(200)": "unknown phase",
		"x":          "unknown phase",
	} {
		if _, err := Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): error %v, want %q", name, err, want)
		}
	}
}

func TestStalls(t *testing.T) {
	type steps []Input
	waitingBackup := steps{Enqueued, Dequeued, Validated, OperationStarted, PassEnded}
	tests := []struct {
		name              string
		inputs            steps
		demanded, release bool
	}{
		{"an operation runs", waitingBackup, false, false},
		{"the server is down in between", append(waitingBackup[:5:5], ServerKilled), false, false},
		{"Execute hangs", steps{Enqueued, Dequeued, Validated, ExecuteHung}, false, true},
		{"Progress hangs", append(waitingBackup[:5:5], ProgressHung), false, true},
		{"Cancel hangs", append(waitingBackup[:5:5], CancelHung), false, true},
		{"Progress hangs and the server restarts", append(waitingBackup[:5:5], ProgressHung, ServerKilled, ServerStarted), false, false},
		{"restarted while ReadyToStart", steps{Enqueued, Dequeued, ServerKilled, ServerStarted}, false, true},
		{"down while ReadyToStart", steps{Enqueued, Dequeued, ServerKilled}, false, true},
		{"restarted while InProgress, and the patch to Failed is lost", steps{Enqueued, Dequeued, Validated, ServerKilled, MarkLost}, false, true},
		{"the patch that ends InProgress is lost", steps{Enqueued, Dequeued, Validated, OperationStarted, RunPatchLost}, false, true},
		{"it is, and the server restarts", steps{Enqueued, Dequeued, Validated, OperationStarted, RunPatchLost, ServerKilled, ServerStarted}, false, false},
		{"restarted while Queued", steps{Enqueued, ServerKilled, ServerStarted}, false, false},
		{"final", steps{Enqueued, Dequeued, Rejected}, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for i, want := range []bool{test.demanded, test.release} {
				rules := readings(t)[i]
				s, _ := walk(t, rules, Initial(Backup), test.inputs...)
				if got := rules.Stalls(s); got != want {
					t.Errorf("%s: Stalls(%+v) = %t, want %t", rules.Name, s, got, want)
				}
			}
		})
	}
	release := readings(t)[1]
	s, _ := walk(t, release, Initial(Backup), Enqueued, Dequeued, ServerKilled, ServerStarted, InformerResynced)
	if release.Stalls(s) {
		t.Error("v1.18: a ReadyToStart backup still stalls after the informer resync")
	}
}

// TestWhatDoesNotStallCanEnd: from every reachable state that does not stall, steps of the server alone lead to a final
// phase, and the demanded reading never stalls.
func TestWhatDoesNotStallCanEnd(t *testing.T) {
	for _, rules := range readings(t) {
		for _, kind := range []Kind{Backup, Restore} {
			before := map[State][]State{} // by steps of the server, or its restart
			ends := map[State]bool{}
			var todo []State
			states := map[State]bool{}
			rules.explore(Initial(kind), 2, func(from State, in Input, to State, _ Effects) {
				states[from], states[to] = true, true
				if in < serverInputs || in == ServerStarted {
					before[to] = append(before[to], from)
				}
			})
			for s := range states {
				if s.Phase.Final() {
					ends[s] = true
					todo = append(todo, s)
				}
			}
			for len(todo) > 0 {
				s := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				for _, from := range before[s] {
					if !ends[from] {
						ends[from] = true
						todo = append(todo, from)
					}
				}
			}
			stalled := 0
			for s := range states {
				if rules.Stalls(s) == ends[s] {
					t.Fatalf("%s: Stalls(%+v) = %t, but the server can end it: %t", rules.Name, s, !ends[s], ends[s])
				}
				if rules.Stalls(s) {
					stalled++
				}
			}
			if (stalled > 0) != (rules.Name == "v1.18") {
				t.Errorf("%s %s: %d of %d states stall", rules.Name, kind, stalled, len(states))
			}
		}
	}
}

// broken are the invariants that some step breaks.
func broken(rules Rules) map[string]bool {
	names := map[string]bool{}
	for _, kind := range []Kind{Backup, Restore} {
		rules.explore(Initial(kind), 3, func(before State, _ Input, after State, _ Effects) {
			view := after.View()
			view.From = before.Phase
			for _, invariant := range Invariants() {
				if !invariant.Holds(view) {
					names[invariant.Name] = true
				}
			}
		})
	}
	return names
}

// TestInvariantsHold: what is demanded breaks none, and each rule that a release deviates in what it says.
func TestInvariantsHold(t *testing.T) {
	if names := broken(Demanded()); len(names) > 0 {
		t.Errorf("demanded: broken: %v", names)
	}
	for _, rule := range All() {
		rules := Demanded()
		rules = rules.With(rule)
		if diff := cmp.Diff(slices.Sorted(slices.Values(rule.Breaks)), slices.Sorted(maps.Keys(broken(rules)))); diff != "" {
			t.Errorf("%s breaks (-want +got):\n%s", rule.Name, diff)
		}
	}
}

func TestView(t *testing.T) {
	tests := map[string]struct {
		state State
		want  View
	}{
		"waiting": {
			State{Phase: waiting, Running: 1, Completed: 1},
			View{From: waiting, Phase: waiting, Attempted: 2, Completed: 1},
		},
		"finalized with an error": {
			State{Phase: PartiallyFailed, Completed: 1, Failed: 1, Errors: 1},
			View{From: PartiallyFailed, Phase: PartiallyFailed, Finalized: true, Attempted: 2, Completed: 1, Failed: 1, Errors: 1},
		},
		"an abandoned backup was never finalized": {
			State{Phase: PartiallyFailed, Running: 1, Abandoned: true},
			View{From: PartiallyFailed, Phase: PartiallyFailed, Attempted: 1, Abandoned: true},
		},
		"an abandoned restore was": {
			State{Kind: Restore, Phase: PartiallyFailed, Running: 1, Abandoned: true},
			View{Kind: Restore, From: PartiallyFailed, Phase: PartiallyFailed, Finalized: true, Attempted: 1, Abandoned: true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.state.View()); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInvariantsBite: each invariant rejects a view that it was made for, and none rejects what Velero rightly does.
func TestInvariantsBite(t *testing.T) {
	type acts = [MaxActions]PluginActions
	bad := map[string]View{
		"phase-belongs-to-kind":                  {Kind: Restore, From: New, Phase: Queued},
		"final-phase-is-kept":                    {From: Completed, Phase: Finalizing},
		"ended-at-most-attempted":                {From: waiting, Phase: waiting, Attempted: 1, Completed: 2},
		"nothing-finalizes-while-operations-run": {From: waiting, Phase: Finalizing, Finalized: true, Attempted: 1},
		"finalizing-without-errors":              {From: waiting, Phase: Finalizing, Finalized: true, Errors: 1},
		"finalized-counts-add-up":                {From: finalizingPartially, Phase: PartiallyFailed, Finalized: true, Attempted: 2, Completed: 1},
		"failed-operation-means-not-completed":   {From: Finalizing, Phase: Completed, Finalized: true, Attempted: 1, Failed: 1, Errors: 1},
		"errors-cover-failed-operations":         {From: finalizingPartially, Phase: PartiallyFailed, Finalized: true, Attempted: 2, Failed: 2, Errors: 1},
		"completed-without-errors":               {From: Finalizing, Phase: Completed, Finalized: true, Errors: 1},
		"stored-copy-agrees":                     {From: Finalizing, Phase: Completed, Finalized: true, Outdated: true},
		"operations-stay-known":                  {From: Finalizing, Phase: Completed, Finalized: true, Lost: 1},
		"abandoned-means-not-completed":          {From: Finalizing, Phase: Completed, Finalized: true, Abandoned: true},
		"items-follow-pre-actions":               {From: InProgress, Phase: Finalizing, Finalized: true, Actions: acts{{ActionDue, ActionDue}}},
		"pre-actions-come-in-order":              {From: InProgress, Phase: InProgress, Actions: acts{{ActionFailed, NoAction}, {ActionRunning, NoAction}}},
		"failed-pre-action-is-told":              {From: InProgress, Phase: FailedPreBackupActions, Actions: acts{{ActionCompleted, ActionDue}}},
		"post-actions-follow-the-end":            {From: InProgress, Phase: InProgress, Actions: acts{{ActionCompleted, ActionRunning}}},
		"post-actions-come-in-order":             {From: Failed, Phase: Failed, Actions: acts{{NoAction, ActionInterrupted}, {NoAction, ActionRunning}}},
		"post-action-has-its-pre-action":         {From: Failed, Phase: Failed, Actions: acts{{ActionDue, ActionRunning}}},
	}
	for _, invariant := range Invariants() {
		view, ok := bad[invariant.Name]
		if !ok {
			t.Errorf("no view breaks %s", invariant.Name)
		}
		if invariant.Holds(view) {
			t.Errorf("%s holds for %+v", invariant.Name, view)
		}
	}
	fine := map[string]View{
		"a finished backup is deleted":                {From: Completed, Phase: Deleting},
		"a restore whose operations were abandoned":   {Kind: Restore, From: finalizingPartially, Phase: PartiallyFailed, Finalized: true, Attempted: 1, Abandoned: true},
		"a backup that lost its location":             {From: waiting, Phase: PartiallyFailed, Attempted: 1, Abandoned: true},
		"a run that failed with its operations going": {From: InProgress, Phase: Failed, Attempted: 2},
		"pre-actions of which a trace shows nothing":  {From: InProgress, Phase: FailedPreBackupActions},
		"a post-action of one that never began":       {From: Failed, Phase: Failed, Actions: acts{{ActionDue, ActionDue}, {NoAction, ActionRunning}}},
	}
	for name, view := range fine {
		for _, invariant := range Invariants() {
			if !invariant.Holds(view) {
				t.Errorf("%s: %s rejects it", name, invariant.Name)
			}
		}
	}
}
