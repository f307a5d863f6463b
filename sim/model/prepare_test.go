package model_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// TestPredictActions compares the paths of the last object, where plugins have pre- and post-actions.
func TestPredictActions(t *testing.T) {
	const quiesce = "{name: example.io/quiesce, action: PreBackupAction}, {name: example.io/quiesce, action: PostBackupAction}"
	const ok, failed = "Q R I F C", "Q R I FailedPreBackupActions"
	plugin := func(script string) string {
		return "plugins: [{name: example.io/quiesce, action: PreBackupAction, " + script + "}]"
	}
	for _, test := range []struct {
		name, scenario string
		want           []string
	}{
		{"they succeed", "plugins: [" + quiesce + "]", []string{ok}},
		{"a pre-action fails", plugin("execute: {error: no}"), []string{failed}},
		{"it panics", plugin("execute: {panic: no}"), []string{failed}},
		{"it hangs", plugin("execute: {hang: true}"), []string{failed}},
		{"it takes too long", plugin("execute: {delay: 11m}"), []string{failed}},
		{"it takes not so long", plugin("execute: {delay: 9m}"), []string{ok}},
		{"by its own deadline", plugin("execute: {delay: 9m}, deadline: 8m"), []string{failed}},
		{"it would fail if it were called again", plugin("execute: {error: no, nth: 2}"), []string{ok}},
		{"for a second backup", plugin("execute: {error: no, nth: 2}") + "\nbackups: [{}, {}]", []string{ok, failed}},
		{"a post-action fails", "plugins: [{name: example.io/notify, action: PostBackupAction, execute: {hang: true}}]", []string{ok}},
		{"it is that of restores", "restore: {}\nplugins: [{name: example.io/quiesce, action: PreRestoreAction, execute: {error: no}}]", []string{"I FailedPreRestoreActions"}},
		{
			"its operations would fail", "plugins: [{name: example.io/mover, operation: {progress: [{at: 1h, failed: full}]}}, {name: example.io/quiesce, action: PreBackupAction, execute: {error: no}}]",
			[]string{failed},
		},
		{
			"a process that the items need does not start",
			"plugins: [{name: example.io/mover, start: {exit: true, nth: 2}}, {name: example.io/quiesce, action: PreBackupAction, execute: {error: no}}]",
			[]string{"Q R I Failed"},
		},
		{"the server is killed when it is called", "plugins: [" + quiesce + "]\nfaults: [{at: {call: {plugin: example.io/quiesce, method: Execute}}, do: {kill: {}}}]", []string{"Q R I Failed"}},
		{
			"or before the run ends with its failure, or a while later",
			plugin("execute: {error: no}") + "\nfaults: [{at: {write: {from: InProgress, phase: FailedPreBackupActions}}, do: {kill: {}}}]",
			[]string{"Q R I Failed", failed},
		},
		{"or after that", plugin("execute: {error: no}") + "\nfaults: [{at: {phase: FailedPreBackupActions}, do: {kill: {}}}]", []string{failed}},
		{"or when the post-action is called", "plugins: [" + quiesce + "]\nfaults: [{at: {call: {plugin: example.io/quiesce, method: Execute}, nth: 2}, do: {kill: {}}}]", []string{ok}},
		{"in its phase", "plugins: [" + quiesce + "]\nfaults: [{at: {call: {plugin: example.io/quiesce, method: Execute, phase: Completed}}, do: {kill: {}}}]", []string{ok}},
		{"its process ends, and is launched again", "plugins: [" + quiesce + "]\nfaults: [{at: {call: {plugin: example.io/quiesce, method: Execute}}, do: {crash: {}}}]", []string{ok}},
		{"the run fails later", "plugins: [" + quiesce + "]\nfaults: [{at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}}, do: {fail: denied}}]", []string{"Q R I Failed"}},
		{"and would", plugin("execute: {error: no}") + "\nfaults: [{at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}}, do: {fail: denied}}]", []string{failed}},
		{"it is deleted then", plugin("execute: {error: no}") + "\nfaults: [{at: {phase: FailedPreBackupActions}, do: {delete: backup/backup-1}}]", []string{failed, failed + " Deleting"}},
		{"a restore of it", plugin("execute: {error: no}") + "\nrestore: {at: {phase: FailedPreBackupActions, object: backup/backup-1}}", []string{"FailedValidation"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, test.scenario)
			all := model.Predict(phase.Demanded(), s)
			got := all[len(all)-1]
			var paths []string
			for _, path := range got.Paths {
				paths = append(paths, short.Replace(path.String()))
			}
			if diff := cmp.Diff(test.want, paths); diff != "" || got.Unknown != "" {
				t.Errorf("%s (-want +got):\n%s", got.Unknown, diff)
			}
		})
	}
}

// TestUnpredictableActions: what Predict does not know, it says.
func TestUnpredictableActions(t *testing.T) {
	const quiesce = "{name: example.io/quiesce, action: PreBackupAction}"
	for scenario, why := range map[string]string{
		"plugins: [" + quiesce + "]\nfaults: [{at: {write: {object: backup/backup-1, verb: patch}}, do: {refuse: Conflict}}]":                                                                                                                          "statuses of actions",
		"plugins: [" + quiesce + ", {name: example.io/quiesce}]\nfaults: [{at: {call: {plugin: example.io/quiesce, method: Execute}}, do: {crash: {}}}]":                                                                                               "processes that end",
		"plugins: [" + strings.Join([]string{quiesce, strings.ReplaceAll(quiesce, "quiesce", "b"), strings.ReplaceAll(quiesce, "quiesce", "c"), strings.ReplaceAll(quiesce, "quiesce", "d"), strings.ReplaceAll(quiesce, "quiesce", "e")}, ", ") + "]": "more than 4 plugins",
	} {
		if p := model.Predict(phase.Demanded(), parse(t, scenario))[0]; !strings.Contains(p.Unknown, why) {
			t.Errorf("%q, %v of %s", p.Unknown, p.Paths, scenario)
		}
	}
}
