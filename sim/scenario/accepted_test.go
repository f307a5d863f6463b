package scenario_test

import (
	"testing"

	"github.com/velosim/velosim/sim/scenario"
)

// TestAccepted has what is close to a mistake and is none.
func TestAccepted(t *testing.T) {
	for name, text := range map[string]string{
		"a restore goes with its backup": "restore: {}\nfaults: [{at: {phase: Completed}, do: {delete: backup/backup-1}}]\n" +
			"expect: {phase: Deleted, objects: {backup/backup-1: {phase: Deleted}}}",
		"and when it expires":                     "backup: {ttl: 1h}\nrestore: {}\nexpect: {phase: Deleted}",
		"a backup that is queued again":           "faults: [{at: {phase: ReadyToStart, nth: 2}, do: {kill: {}}}]\nexpect: {phase: Completed}",
		"a backup that comes back":                "faults: [{at: {phase: Completed}, do: {remove: backup/backup-1}}]\nexpect: {phase: Completed, must: [{phase: Completed, nth: 2}]}",
		"a restore of nothing":                    "backups: []\nschedules: [{name: daily, every: 1h}]\nrestores: [{backup: none, at: {phase: New, object: backup/daily-1}}]\nexpect: {phase: FailedValidation}",
		"a chain of points":                       "backups: [{name: a, at: {phase: New, object: backup/b}}, {name: b, at: {phase: New, object: backup/c}}, {name: c}]\nexpect: {phase: Completed}",
		"a call that another object makes":        "backups: [{}, {at: {call: {plugin: example.io/mover, method: Execute}}}]\nplugins: [{name: example.io/mover}]\nexpect: {phase: Completed}",
		"manifests instead of items":              "items: []\nmanifests: [{apiVersion: v1, kind: Pod, metadata: {namespace: app, name: web}}]\nexpect: {phase: Completed}",
		"a name of the longest":                   "schedules: [{name: a23456789-123456789-123456789-123456789-12345678, every: 1h}]\nexpect: {phase: Completed}",
		"a schedule beside a backup like it":      "backups: [{name: daily-3}, {name: daily-2026}]\nschedules: [{name: daily, every: 1h, backups: 2}]\nexpect: {phase: Completed}",
		"a removal and a kill at one point":       "faults: [{at: {phase: Completed}, do: {remove: backup/backup-1}}, {at: {phase: Completed}, do: {kill: {}}}]\nexpect: {phase: Completed}",
		"an unknown location":                     "backup: {storageLocation: other}\nfaults: [{at: {phase: FailedValidation}, do: {kill: {}}}]\nexpect: {phase: FailedValidation}",
		"a deviation may say anything of errors":  "expect: {phase: PartiallyFailed, deviation: {rule: progress-error-is-final, phase: Completed, errors: 1}}",
		"an object is described once it is there": "backups: [{name: a}, {name: b}]\nfaults: [{at: {phase: New, object: backup/b}, do: {describe: backup/a}}]\nexpect: {phase: Completed}",
		"a name used for two actions":             "restore: {}\nplugins: [{name: example.io/a}, {name: example.io/a, action: RestoreItemAction}]\nexpect: {phase: Completed}",
		"the line for editors":                    "expect: {phase: Completed}\n# yaml-language-server: $schema=scenario.schema.json",
	} {
		if s, errs := scenario.Parse("x.yaml", []byte(head+text+"\n")); s == nil {
			t.Errorf("%s:\n%v", name, errs)
		}
	}
}
