package model_test

import (
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// acted is a trace of a backup, a word an event: its phases by their names, "kill", and calls of actions: "quiesce", "job", which succeed, with
// "!" at the end if they fail, and "?" if they do not return; "item" is a call for an item. "unserved": the job's process does not start.
// "gone": the object is.
func acted(words string) trace.Trace {
	var t trace.Trace
	const object = "backup/backup-1"
	incarnation, from := 1, ""
	add := func(object string, b trace.Body) {
		t.Events = append(t.Events, trace.Event{Seq: len(t.Events) + 1, Incarnation: incarnation, Object: object, Body: b})
	}
	server := func(state string) { add("", trace.Body{Process: &trace.Process{Name: "server", State: state}}) }
	server("started")
	for i, word := range strings.Fields(words) {
		switch name := strings.TrimRight(word, "!?"); name {
		case "kill":
			server("killed")
			incarnation++
			server("started")
		case "unserved":
			add("", trace.Body{Process: &trace.Process{Name: "example.io/job", State: trace.ProcessFailed}})
		case "gone":
			add(object, trace.Body{Deleted: &trace.Deleted{}})
		case "quiesce", "job", "item":
			call := trace.Call{ID: i + 1, Plugin: "example.io/" + name, Method: "Execute", Phase: from}
			if name == "item" {
				call.Item = "configmaps/app/settings"
			}
			add(object, trace.Body{Call: &call})
			switch {
			case strings.HasSuffix(word, "!"):
				add(object, trace.Body{Return: &trace.Return{ID: i + 1, Error: "no"}})
			case !strings.HasSuffix(word, "?"):
				add(object, trace.Body{Return: &trace.Return{ID: i + 1}})
			}
		default:
			add(object, trace.Body{Phase: &trace.Phase{From: from, To: word}})
			from = word
		}
	}
	return t
}

// TestCheckActions: a job before and after, and the workload that is quiesced and resumed; in this order.
func TestCheckActions(t *testing.T) {
	plugins := []scenario.Plugin{
		{Name: "example.io/quiesce", Action: scenario.PreBackupAction},
		{Name: "example.io/quiesce", Action: scenario.PostBackupAction},
		{Name: "example.io/job", Action: scenario.PreBackupAction},
		{Name: "example.io/job", Action: scenario.PostBackupAction},
		{Name: "example.io/item", Action: scenario.BackupItemAction},
		{Name: "example.io/other", Action: scenario.PreRestoreAction},
	}
	const run = "Queued ReadyToStart InProgress "
	const ended = run + "job quiesce item Finalizing Completed "
	const before, after = "the pre-action of example.io/", "the post-action of example.io/"
	for _, test := range []struct{ name, words, misfit string }{
		{name: "all go well", words: ended + "job quiesce"},
		{name: "out of order", words: run + "quiesce job", misfit: before + "quiesce was called"},
		{name: "an item too early", words: run + "job item", misfit: "Execute of example.io/item was called"},
		{name: "no pre-actions", words: run + "Finalizing", misfit: "InProgress → Finalizing"},
		{name: "a pre-action fails", words: run + "job! FailedPreBackupActions job"},
		{name: "and the next follows", words: run + "job! quiesce", misfit: before + "quiesce was called"},
		{name: "and the items", words: run + "job! item", misfit: "Execute of example.io/item was called"},
		{name: "and is passed over", words: run + "job! Finalizing", misfit: "InProgress → Finalizing"},
		{name: "and another phase tells so", words: run + "job! Failed", misfit: "InProgress → Failed"},
		{name: "and what had not begun is resumed", words: run + "job! FailedPreBackupActions job quiesce", misfit: after + "quiesce was called"},
		{name: "none has failed", words: run + "job quiesce FailedPreBackupActions", misfit: "InProgress → FailedPreBackupActions"},
		{name: "its process does not start", words: run + "unserved FailedPreBackupActions"},
		{name: "a pre-action twice", words: run + "job? job", misfit: before + "job was called"},
		{name: "a pre-action is interrupted", words: run + "job? kill Failed job"},
		{name: "or was, when it had returned", words: run + "job quiesce? kill Failed job quiesce"},
		{name: "or just before its call, when its status said so", words: run + "job kill Failed job quiesce"},
		{name: "and is called again", words: run + "job? kill job", misfit: before + "job was called"},
		{name: "a post-action too early", words: run + "job quiesce item Finalizing quiesce", misfit: after + "quiesce was called"},
		{name: "out of order, after", words: ended + "quiesce", misfit: after + "quiesce was called"},
		{name: "a post-action fails", words: ended + "job! quiesce!"},
		{name: "and is called again", words: ended + "job! job", misfit: after + "job was called"},
		{name: "a post-action is interrupted", words: ended + "job? kill job quiesce"},
		{name: "or its end was not told", words: ended + "job kill job quiesce"},
		{name: "it has ended, and the next was called", words: ended + "job quiesce? kill job", misfit: after + "job was called"},
		{name: "deleted", words: ended + "job Deleting quiesce gone"},
		{name: "gone before", words: ended + "job Deleting gone", misfit: "deleted"},
		{name: "not valid", words: "Queued ReadyToStart FailedValidation job", misfit: after + "job was called"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, rules := range []phase.Rules{phase.Demanded(), released(t)} {
				m, err := model.Check(rules, "backup/backup-1", acted(test.words), plugins...)
				if err != nil || m == nil && test.misfit != "" || m != nil && m.Seen != test.misfit {
					t.Errorf("%s: misfit %+v, %v; want %q", rules.Name, m, err, test.misfit)
				}
			}
		})
	}
}

func TestCheckTooManyActions(t *testing.T) {
	var plugins []scenario.Plugin
	for _, name := range strings.Fields("a b c d e") {
		plugins = append(plugins, scenario.Plugin{Name: "example.io/" + name, Action: scenario.PostBackupAction})
	}
	if m, err := model.Check(phase.Demanded(), "backup/backup-1", acted("Queued"), plugins...); err == nil || !strings.Contains(err.Error(), "more than 4 plugins") {
		t.Errorf("misfit %+v, %v", m, err)
	}
	if _, err := model.Check(phase.Demanded(), "restore/restore-1", acted("Queued"), plugins...); err != nil {
		t.Errorf("they have no actions for a restore: %v", err)
	}
}
