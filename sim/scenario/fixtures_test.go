package scenario_test

import (
	"reflect"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
)

// full is a scenario with one backup and one restore.
const full = "\ufeff---\r\n" + `# First line.
#
#   Third line, indented.

# Not part of it.
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: full, reports: [velero#6490, openebs/velero-plugin#78]}
store: {immutable: true}
backup: {name: b, itemOperationTimeout: 90m}
restore: {name: r, itemOperationTimeout: 1h30m}
items: [configmaps/app/settings, "secrets/app/token"]
plugins:
- name: example.io/backs-up
  action: BackupItemAction
  resources: [secrets]
  execute:
    delay: 1s
    error: |-
      two
      lines
    nth: 2
    times: 1
    additionalItems: [secrets/app/token]
    itemsToUpdate: [configmaps/app/settings]
  operation:
    progress:
    - {at: 0s, done: 1, of: 10, units: Bytes, description: begins}
    - {at: 1m, done: 5}
    - {at: 2m, done: 10, of: 20, units: Items, failed: out of space}
    afterCancel: Continues
    forgets: true
  progress: {panic: oops}
  cancel: {hang: true}
- name: example.io/restores
  action: RestoreItemAction
  operation: {unknown: true}
faults:
- at: {phase: Queued, object: backup/b, nth: 2, delay: 3s}
  do: {kill: {restartAfter: 0s}}
- {id: named, at: {call: {plugin: example.io/restores, method: Cancel}, after: true}, do: {kill: {}}}
- {at: {phase: InProgress}, do: {kill: {}}}
- {at: {phase: Finalizing}, do: {pause: 1m}}
- {at: {phase: Finalizing}, do: {rollout: {overlap: 2m}}}
expect:
  phase: PartiallyFailed
  path: [InProgress, PartiallyFailed]
  operations: {attempted: 1, completed: 0, failed: 1}
  cancelled: []
  updated: []
  within: 2h
  manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: app}, data: {key: value}}]
  deviation: {rule: progress-error-is-final, phase: InProgress, cancelled: [example.io/restores]}
`

// unstarted is a scenario whose server does not start.
const unstarted = `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: unstarted}
worlds: [envtest]
plugins:
- {name: example.io/exits, start: {delay: 5s, exit: true}}
- {name: example.io/says-nothing, start: {handshake: none}}
- {name: example.io/is-too-new, start: {protocol: 3, nth: 1, times: 2}}
expect: {server: doesNotStart}
`

// many is a scenario with several objects. Together with full and unstarted it sets every field that a file may set.
const many = `# yaml-language-server: $schema=scenario.schema.json

# What a user does in a week.
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: many}
worlds: [virtual]
releases: [v1.18]
crds: {backup: {lacks: [FinalizingPartiallyFailed]}, restore: {lacks: [Finalizing]}}
server:
  concurrentBackups: 2
  itemOperationSyncFrequency: 20s
  resourceTimeout: 5m
  garbageCollectionFrequency: 30m
  backupSyncPeriod: 2m
backups:
- {ttl: 24h, includedNamespaces: [web], annotations: {example.io/quiesces.prebackup: skip}, spec: {csiSnapshotTimeout: 1m, orderedResources: {pods: web/web}}}
- {name: elsewhere, storageLocation: other, at: {phase: InProgress, object: backup/backup-1}}
restores:
- {backup: backup-1, annotations: {example.io/quiesces.prerestore: skip}}
- {name: early, backup: daily-1, at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}}
- {name: latest, schedule: daily, spec: {uploaderConfig: {parallelFilesDownload: 2}, namespaceMapping: {web: copy}}}
schedules:
- name: daily
  every: 24h
  backups: 2
  template: {itemOperationTimeout: 1h}
manifests:
- apiVersion: v1
  kind: Pod
  metadata: {namespace: web, name: web}
  spec: {priority: 1.0, overhead: [0.5, 1.0e3, true, ~, x]}
plugins:
- {name: example.io/own, own: true}
- name: example.io/deletes
  action: DeleteItemAction
  resources: [pods]
  appliesTo: {delay: 1s}
- name: example.io/old
  version: 1
  resources: [pods]
  execute: {hang: true, tooLarge: true}
- name: example.io/skips
  action: RestoreItemAction
  resources: [pods]
  operation: {progress: [{at: 0s, completed: true}]}
  execute: {skipRestore: true}
- name: example.io/waits
  action: RestoreItemAction
  resources: [pods]
  execute: {waitForAdditionalItems: true, additionalItems: [pods/web/web]}
  areAdditionalItemsReady: {after: 1m}
- name: example.io/never
  action: RestoreItemAction
  resources: [pods]
  execute: {waitForAdditionalItems: true, additionalItems: [pods/web/web]}
  areAdditionalItemsReady: {never: true, error: not now, nth: 3}
- {name: example.io/quiesces, action: PreBackupAction, deadline: 5m}
faults:
- {at: {phase: Completed, object: backup/backup-1}, do: {delete: restore/early}}
- {at: {phase: Completed, object: backup/backup-1}, do: {remove: backup/backup-1}}
- {at: {phase: New}, do: {describe: backup/daily-1}}
- {at: {store: {verb: get, key: backups/backup-1/backup-1.tar.gz}}, do: {fail: denied}}
- {at: {store: {verb: get, key: backups/backup-1/velero-backup.json}}, do: {lose: {}}}
- {at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}}, do: {tear: {error: connection reset}}}
- {at: {store: {verb: get, key: restores/restore-1/restore-restore-1-itemoperations.json.gz}}, do: {hang: {}}}
- {at: {call: {plugin: example.io/skips, method: Execute, phase: InProgress}}, do: {crash: {}}}
- {at: {phase: Completed}, do: {outage: 1h}}
- {at: {phase: Completed}, do: {location: Removed}}
- {at: {write: {object: backup/backup-1, verb: patch, from: Queued, phase: ReadyToStart}}, do: {refuse: Conflict}, times: 2}
- {at: {write: {}}, do: {refuse: ServiceUnavailable}, for: 1m}
- {at: {write: {object: pods/web/web}}, do: {loseReply: true}}
- {at: {write: {object: deletion/backup-1}, after: true}, do: {latency: 5s}}
- {at: {phase: Completed, delay: 1s}, do: {breakWatches: {}}}
- {at: {phase: Completed, delay: 2s}, do: {staleCache: 30s}}
- {at: {phase: Completed, delay: 3s}, do: {apiOutage: 30s}}
expect:
  object: backup/backup-1
  phase: Deleted
  objects:
    backup/elsewhere: {phase: FailedValidation, errors: 0, warnings: 2, actions: [{plugin: example.io/quiesces, action: PreBackupAction, phase: Skipped, calls: 0}]}
    restore/restore-1: {phase: Completed, operations: {attempted: 1, completed: 1, failed: 0}}
  must: [{phase: Deleting}]
  strikes: [fault-1]
`

// head is what every scenario starts with, minimal the shortest there is.
const (
	head    = "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: minimal}\n"
	minimal = head + "expect: {phase: Completed}\n"
)

// TestFixturesSetEveryField keeps full, many and unstarted as complete as they are said to be.
func TestFixturesSetEveryField(t *testing.T) {
	set := map[string]bool{}
	for _, text := range []string{full, many, unstarted} {
		s, errs := scenario.Parse("x.yaml", []byte(text))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		seeFields(set, reflect.ValueOf(s))
	}
	for name, seen := range set {
		if short := name == "Scenario.Backup" || name == "Scenario.Restore"; !seen && !short {
			t.Errorf("%s is never set", name)
		}
	}
}

// seeFields notes which fields of the structs in a value are set.
func seeFields(set map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		seeFields(set, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			seeFields(set, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			seeFields(set, v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") != "-" {
				name := v.Type().Name() + "." + f.Name
				set[name] = set[name] || !v.Field(i).IsZero()
				seeFields(set, v.Field(i))
			}
		}
	}
}
