package model_test

import (
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// events is a trace of an object, a word an event: its phases by their names; "gone" and "removed": Velero or the user has deleted it;
// "kill": the server is killed and started; "unserved": a plugin's process does not start; "fault": one strikes; "operation", "completes", "breaks", "breaks-item", "asks", "fails" and "deletes" are
// calls.
func events(object, words string) trace.Trace {
	var t trace.Trace
	incarnation, call, from := 1, 0, ""
	add := func(object string, b trace.Body) {
		t.Events = append(t.Events, trace.Event{Seq: len(t.Events) + 1, Incarnation: incarnation, Object: object, Body: b})
	}
	calls := func(method, phase string, r trace.Return) {
		call++
		r.ID = call
		add(object, trace.Body{Call: &trace.Call{ID: call, Plugin: "example.io/a", Method: method, Operation: map[bool]string{true: "a-1"}[method == "Progress"], Phase: phase}})
		add(object, trace.Body{Return: &r})
	}
	server := func(state string) { add("", trace.Body{Process: &trace.Process{Name: "server", State: state}}) }
	server("started")
	for _, word := range strings.Fields(words) {
		switch word {
		case "gone":
			add(object, trace.Body{Deleted: &trace.Deleted{}})
			from = ""
		case "removed":
			at := incarnation
			incarnation = 0
			add(object, trace.Body{Deleted: &trace.Deleted{}})
			incarnation, from = at, ""
		case "kill":
			server("killed")
			incarnation++
			server("started")
		case "unserved":
			add("", trace.Body{Process: &trace.Process{Name: "example.io/a", State: trace.ProcessFailed}})
		case "fault":
			add("", trace.Body{Fault: &trace.Fault{ID: "fault-1"}})
		case "operation":
			calls("Execute", from, trace.Return{Operation: "a-1"})
		case "completes":
			calls("Progress", from, trace.Return{Progress: &trace.Progress{Completed: true}})
		case "breaks-item":
			calls("Execute", from, trace.Return{Error: "no"})
		case "breaks":
			calls("Progress", from, trace.Return{Progress: &trace.Progress{Completed: true, Error: "no"}})
		case "asks":
			calls("AppliesTo", "", trace.Return{})
		case "fails":
			calls("AppliesTo", "", trace.Return{Error: "no"})
		case "deletes":
			calls("Execute", phase.Deleting.String(), trace.Return{})
		default:
			add(object, trace.Body{Phase: &trace.Phase{From: from, To: word}})
			from = word
		}
	}
	return t
}

// TestCheck: which traces of objects that are deleted fit.
func TestCheck(t *testing.T) {
	const run = "Queued ReadyToStart InProgress "
	for _, test := range []struct {
		name, object, words, released, demanded string // the misfit
	}{
		{name: "deleted", words: run + "Finalizing Completed Deleting gone"},
		{name: "with a DeleteItemAction", words: run + "Finalizing Completed Deleting asks deletes gone"},
		{
			name: "a DeleteItemAction before", words: run + "Finalizing Completed deletes Deleting gone",
			released: "Execute of example.io/a was called", demanded: "Execute of example.io/a was called",
		},
		{name: "gone without being deleted", words: run + "Finalizing gone", released: "deleted", demanded: "deleted"},
		{name: "gone as it is no longer stored", words: run + "Finalizing Completed gone"},
		{name: "removed and synced back", words: run + "Finalizing Completed removed Completed Deleting gone"},
		{name: "removed during its run, which goes on", words: run + "removed operation completes"},
		{
			name: "synced back too early", words: run + "Finalizing removed Finalizing",
			released: "Finalizing, of an object that was gone", demanded: "Finalizing, of an object that was gone",
		},
		{name: "a restore", object: "restore/restore-1", words: "InProgress operation WaitingForPluginOperations gone"},
		{
			name: "a restore that comes back", object: "restore/restore-1", words: "InProgress Finalizing Completed gone Completed",
			released: "Completed, of an object that was gone", demanded: "Completed, of an object that was gone",
		},
		{name: "deletion is overtaken", words: "Deleting Queued ReadyToStart gone", demanded: "Deleting → Queued"},
		{name: "by a run", words: "Queued ReadyToStart Deleting InProgress operation WaitingForPluginOperations gone", demanded: "Deleting → InProgress"},
		{name: "deleted when it begins", words: run + "Deleting gone", demanded: "InProgress → Deleting"},
		{
			name: "deleted while it waits", words: run + "operation WaitingForPluginOperations Deleting",
			released: "WaitingForPluginOperations → Deleting", demanded: "WaitingForPluginOperations → Deleting",
		},
		{name: "after a restart", words: run + "operation WaitingForPluginOperations kill Deleting gone"},
		{
			name:  "what was described is not forgotten",
			words: run + "operation operation WaitingForPluginOperations fault completes kill completes Finalizing Completed",
		},
		{
			name: "a restore is run again", object: "restore/restore-1", words: "InProgress fails Failed InProgress Finalizing InProgress Completed",
			demanded: "Failed → InProgress",
		},
		{
			name: "while it waits", object: "restore/restore-1", words: "InProgress operation WaitingForPluginOperations InProgress operation Finalizing",
			demanded: "WaitingForPluginOperations → InProgress",
		},
		{
			name: "a pass is made again", words: run + "operation WaitingForPluginOperations breaks FinalizingPartiallyFailed Finalizing Completed",
			demanded: "FinalizingPartiallyFailed → Finalizing",
		},
		{
			name: "when the backup has ended", words: run + "operation breaks-item WaitingForPluginOperationsPartiallyFailed completes FinalizingPartiallyFailed PartiallyFailed FinalizingPartiallyFailed",
			demanded: "PartiallyFailed → FinalizingPartiallyFailed",
		},
		{
			name: "one that has not been made", words: run + "operation breaks-item WaitingForPluginOperationsPartiallyFailed completes FinalizingPartiallyFailed Finalizing",
			released: "FinalizingPartiallyFailed → Finalizing", demanded: "FinalizingPartiallyFailed → Finalizing",
		},
		{
			name: "without operations", words: run + "FinalizingPartiallyFailed Finalizing",
			released: "FinalizingPartiallyFailed → Finalizing", demanded: "FinalizingPartiallyFailed → Finalizing",
		},
		{
			name: "a backup is queued again", words: run + "Finalizing Completed Queued",
			released: "Completed → Queued", demanded: "Completed → Queued",
		},
		{
			name: "a run again, after what no stale read explains", object: "restore/restore-1", words: "InProgress Completed InProgress",
			released: "InProgress → Completed", demanded: "InProgress → Completed",
		},
		{
			name: "a pass finds no process of the plugin", words: run + "operation WaitingForPluginOperations unserved FinalizingPartiallyFailed PartiallyFailed",
			demanded: "WaitingForPluginOperations → FinalizingPartiallyFailed",
		},
		{
			name:  "four times in a row",
			words: run + "operation WaitingForPluginOperations unserved unserved unserved unserved FinalizingPartiallyFailed PartiallyFailed",
		},
		{
			name: "one that fails for no reason", words: run + "operation WaitingForPluginOperations FinalizingPartiallyFailed",
			released: "WaitingForPluginOperations → FinalizingPartiallyFailed", demanded: "WaitingForPluginOperations → FinalizingPartiallyFailed",
		},
		{name: "the run finds none", words: run + "unserved Failed"},
		{name: "AppliesTo fails", words: run + "fails Failed"},
		{name: "of a restore", object: "restore/restore-1", words: "InProgress fails FinalizingPartiallyFailed PartiallyFailed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.object == "" {
				test.object = "backup/backup-1"
			}
			for rules, want := range map[phase.Rules]string{released(t): test.released, phase.Demanded(): test.demanded} {
				m, err := model.Check(rules, test.object, events(test.object, test.words))
				switch {
				case err != nil:
					t.Error(err)
				case m == nil && want != "", m != nil && m.Seen != want:
					t.Errorf("%s: misfit %+v, want %q", rules.Name, m, want)
				}
			}
		})
	}
}
