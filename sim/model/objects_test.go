package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// TestPredictObjects compares the paths of objects that run beside others with those that a reader of Velero's controllers would
// expect.
func TestPredictObjects(t *testing.T) {
	const (
		mover = "plugins:\n- {name: example.io/mover, operation: {progress: [{at: 0s}, {at: 1h, completed: true}]}}\n"
		two   = "backups: [{}, {}]\n"
		items = "items: [configmaps/app/a, configmaps/app/b]\n"
		later = "backups: [{}, {at: {phase: InProgress, object: backup/backup-1}}]\n"
	)
	for _, test := range []struct {
		name, scenario, object string
		demanded, released     []string
	}{
		{name: "one after the other", scenario: two + mover, object: "backup/backup-2", demanded: []string{"Q R I W F C"}, released: []string{"Q", "Q R I W F C"}},
		{
			name: "a call hangs before", scenario: two + "plugins:\n- {name: example.io/a, execute: {hang: true, times: 1}}",
			object: "backup/backup-2", demanded: []string{"Q R I F C", "Q R I Fp P"}, released: none(),
		},
		{
			name: "a call hangs beside it", scenario: later + "plugins:\n- {name: example.io/a, execute: {hang: true, times: 1}}",
			object: "backup/backup-2", demanded: []string{"Q R I F C", "Q R I Fp P"}, released: []string{"Q", "Q R I", "Q R I F C"},
		},
		{
			name:     "a call hangs, and there is room for two in the queue",
			scenario: "server: {concurrentBackups: 3}\nitems: [configmaps/app/a, secrets/two/b]\nbackups: [{includedNamespaces: [app]}, {includedNamespaces: [two], at: {phase: InProgress, object: backup/backup-1}}]\nplugins:\n- {name: example.io/a, execute: {hang: true}}",
			object:   "backup/backup-2", demanded: []string{"Q R I F C"},
		},
		{
			name: "Progress hangs beside it", scenario: later + "plugins:\n- {name: example.io/a, operation: {}, progress: {hang: true, nth: 2}}",
			object: "backup/backup-1", demanded: []string{"Q R I W Fp P"}, released: []string{"Q R I W"},
		},
		{
			name: "an error that Execute returns once strikes the first", scenario: two + "plugins:\n- {name: example.io/a, execute: {error: no, times: 1}}",
			object: "backup/backup-2", demanded: []string{"Q R I F C", "Q R I Fp P"}, released: []string{"Q", "Q R I F C", "Q R I Fp P"},
		},
		{
			name: "items of other namespaces", scenario: "items: [configmaps/app/a, secrets/two/b]\nbackup: {includedNamespaces: [two]}\n" + mover,
			object: "backup/backup-1", demanded: []string{"Q R I F C"},
		},
		{name: "an unknown location", scenario: "backup: {storageLocation: elsewhere}\n", object: "backup/backup-1", demanded: []string{"Q R FailedValidation"}},
		{
			name: "one that is rejected may keep its slot", scenario: "backups: [{storageLocation: elsewhere}, {at: {phase: Queued, object: backup/backup-1}}]\n",
			object: "backup/backup-2", demanded: []string{"Q R I F C"}, released: []string{"Q", "Q R I F C"},
		},
		{
			name:     "a kill at another's point",
			scenario: later + mover + "faults:\n- {at: {phase: Completed, object: backup/backup-1}, do: {kill: {}}}",
			object:   "backup/backup-2",
			demanded: []string{"Q R Q R I W F C", "Q R I W F C", "Q R I Failed"},
			released: []string{"Q", "Q R", "Q R I W F C", "Q R I Failed"}, // the first one may have run before the queue says that it is ready
		},
		{
			name:     "a kill before it is created",
			scenario: two + mover + "faults:\n- {at: {phase: Completed, object: backup/backup-1}, do: {kill: {}}}",
			object:   "backup/backup-2", demanded: []string{"Q R I W F C"}, released: []string{"Q", "Q R I W F C"},
		},
		{
			name: "a schedule's", scenario: "schedules: [{name: daily, every: 1h, backups: 2}]\n" + mover, object: "backup/daily-2",
			demanded: []string{"Q R I W F C"}, released: []string{"Q", "Q R I W F C"},
		},
		{
			name: "deleted when it has ended", scenario: mover + "faults:\n- {at: {phase: Completed}, do: {delete: backup/backup-1}}", object: "backup/backup-1",
			demanded: []string{"Q R I W F C Deleting"},
			released: []string{"Q R I W F C", "Q R I W F C Deleting"}, // a run that says late that it has ended keeps it in the tracker
		},
		{
			name: "deleted while it is tracked", scenario: mover + "faults:\n- {at: {phase: WaitingForPluginOperations}, do: {delete: backup/backup-1}}", object: "backup/backup-1",
			demanded: []string{"Q R I W F C", "Q R I W F C Deleting"}, // the request may be looked at as late as that
		},
		{
			name: "expires", scenario: "backup: {ttl: 1m}\n" + mover, object: "backup/backup-1",
			demanded: []string{"Q R I W F C", "Q R I W F C Deleting"},
			released: []string{
				"Q R I Deleting", "Q R I W F C", "Q R I W F C Deleting", "Q R I Deleting W", "Q R I Deleting W F", "Q R I Deleting W F C",
				// What goes on stores it again, sync brings it back, and it is deleted again.
				"Q R I Deleting P", "Q R I Deleting P Deleting", "Q R I Deleting W P", "Q R I Deleting W P Deleting", "Q R I Deleting W F P",
				"Q R I Deleting W F P Deleting", "Q R I Deleting W F C Deleting",
			},
		},
		{
			name: "behind one that expired while its finalizer worked on it", scenario: "backups: [{ttl: 1m}, {}]\n" + mover, object: "backup/backup-2",
			demanded: []string{"Q R I W F C"}, released: []string{"Q", "Q R I W F", "Q R I W F C"},
		},
		{
			name: "removed when it has ended", scenario: "faults:\n- {at: {phase: Completed}, do: {remove: backup/backup-1}}", object: "backup/backup-1",
			demanded: []string{"Q R I F C", "Q R I F C C", "Q R I F C P", "Q R I F C Failed"},
		},
		{
			name:     "one that is removed beside it holds none",
			scenario: "backups: [{}, {at: {phase: New, object: backup/backup-1}}]\nfaults:\n- {at: {phase: Queued, object: backup/backup-1}, do: {remove: backup/backup-1}}",
			object:   "backup/backup-2", demanded: []string{"Q R I F C"},
			// It was ready, or its finalizer worked on it.
			released: []string{"Q", "Q R I F", "Q R I F C"},
		},
		{
			name:     "one that is removed waits for one that hangs, and holds the next",
			scenario: "backups: [{}, {at: {phase: InProgress, object: backup/backup-1}}, {at: {phase: Queued, object: backup/backup-2}}]\nplugins:\n- {name: example.io/a, execute: {hang: true, times: 1}}\nfaults:\n- {at: {phase: Completed, object: backup/backup-1}, do: {remove: backup/backup-2}}",
			object:   "backup/backup-3", demanded: []string{"Q R I F C", "Q R I Fp P"},
			released: []string{"Q", "Q R I", "Q R I F", "Q R I F C"},
		},
		{
			name:     "a call hangs in the run of one that is removed",
			scenario: "backups: [{}, {at: {phase: InProgress, object: backup/backup-1}}]\nplugins:\n- {name: example.io/a, execute: {hang: true, times: 1}}\nfaults:\n- {at: {phase: InProgress, object: backup/backup-1}, do: {remove: backup/backup-1}}",
			object:   "backup/backup-2", demanded: []string{"Q R I F C", "Q R I Fp P"},
			released: []string{"Q", "Q R I", "Q R I F", "Q R I F C"},
		},
		{
			name:     "of a backup that is deleted when it has ended",
			scenario: "restores: [{}, {}]\nfaults:\n- {at: {phase: Completed, object: backup/backup-1}, do: {delete: backup/backup-1}}",
			object:   "restore/restore-2", demanded: []string{"", "FailedValidation", "I", "I F", "I F C", "I F P", "I Failed"}, // and it is deleted with it
		},
		{
			name:     "of a backup that has no run in which all faults strike",
			scenario: "restore: {at: {phase: New, object: backup/backup-1}}\nplugins:\n- {name: example.io/a, operation: {progress: [{at: 0s, completed: true}]}}\nfaults:\n- {at: {store: {verb: put, key: backups/backup-1/backup-1-itemoperations.json.gz}, nth: 2}, do: {fail: full}}",
			object:   "restore/restore-1", demanded: none(),
		},
		{
			name:     "AppliesTo fails in the finalizer",
			scenario: "plugins:\n- {name: example.io/a, appliesTo: {error: no, nth: 2, times: 1}, operation: {progress: [{at: 1h, completed: true}]}}",
			object:   "backup/backup-1", demanded: []string{"Q R I W F C"},
		},
		{
			name: "of an item that was backed up for an operation alone",
			scenario: "backup: {includedNamespaces: [app]}\nrestore: {}\nitems: [configmaps/app/a, secrets/web/b]\nplugins:\n" +
				"- {name: example.io/a, resources: [configmaps], execute: {itemsToUpdate: [secrets/web/b]}, operation: {progress: [{at: 0s, completed: true}]}}\n" +
				"- {name: example.io/b, action: RestoreItemAction, resources: [secrets], operation: {progress: [{at: 1h, completed: true}]}}",
			object: "restore/restore-1", demanded: []string{"I F C", "I W F C"},
		},
		{
			name: "its items take longer than its operation may",
			scenario: "restore: {itemOperationTimeout: 1m}\nplugins:\n- {name: example.io/a, action: RestoreItemAction, areAdditionalItemsReady: {never: true}, " +
				"execute: {additionalItems: [configmaps/app/settings], waitForAdditionalItems: true}, operation: {progress: [{at: 10s}, {at: 1h, completed: true}]}}",
			object: "restore/restore-1", demanded: []string{"I Fp P", "I W Fp P", "I Wp Fp P"},
		},
		{
			name:     "AppliesTo fails in the finalizer for ever",
			scenario: "plugins:\n- {name: example.io/a, appliesTo: {error: no, nth: 2}, operation: {progress: [{at: 1h, completed: true}]}}",
			object:   "backup/backup-1", demanded: []string{"Q R I W F C", "Q R I W F P"}, released: []string{"Q R I W F", "Q R I W F C"},
		},
		{
			name:     "AppliesTo of one hangs before it fails in another",
			scenario: "plugins:\n- {name: example.io/a, appliesTo: {hang: true}}\n- {name: example.io/b, appliesTo: {error: no}}", object: "backup/backup-1",
			demanded: []string{"Q R I Failed"}, released: []string{"Q R I", "Q R I Failed"},
		},
		{
			name:     "AppliesTo of one is slow before it fails in another",
			scenario: "plugins:\n- {name: example.io/a, appliesTo: {delay: 1h}, operation: {progress: [{at: 10m, completed: true}]}}\n- {name: example.io/b, appliesTo: {error: no, nth: 2, times: 1}}",
			object:   "backup/backup-1", demanded: []string{"Q R I Failed"}, released: []string{"Q R I W F C"},
		},
		{
			name:     "Execute of a restore would hang if its finalizer called it",
			scenario: "restore: {}\nplugins:\n- {name: example.io/a, execute: {itemsToUpdate: [configmaps/app/settings]}, operation: {progress: [{at: 1h, completed: true}]}}\n- {name: example.io/r, action: RestoreItemAction, execute: {hang: true, nth: 2}, operation: {progress: [{at: 1h, completed: true}]}}",
			object:   "restore/restore-1", demanded: []string{"I W F C"},
		},
		{
			name: "described", scenario: mover + "faults:\n- {at: {phase: WaitingForPluginOperations, delay: 1m}, do: {describe: backup/backup-1}}", object: "backup/backup-1",
			demanded: []string{"Q R I W F C"},
		},
		{
			name: "of a missing backup", scenario: "restore: {backup: none, at: {phase: Completed, object: backup/backup-1}}\n", object: "restore/restore-1",
			demanded: []string{"FailedValidation"},
		},
		{
			name: "of a backup that waits", scenario: "restore: {at: {phase: WaitingForPluginOperations, object: backup/backup-1}}\n" + mover, object: "restore/restore-1",
			demanded: []string{"FailedValidation"}, released: []string{"I F C"},
		},
		{
			name: "of a backup in its run", scenario: "restore: {at: {phase: InProgress, object: backup/backup-1}}\n", object: "restore/restore-1",
			demanded: []string{"FailedValidation", "I F C", "I Failed"}, released: []string{"I F C", "I Failed"},
		},
		{
			name:     "of a backup that has failed",
			scenario: "restore: {at: {phase: Failed, object: backup/backup-1}}\nfaults:\n- {at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}}, do: {fail: full}}",
			object:   "restore/restore-1", demanded: []string{"FailedValidation"}, released: []string{"I Failed"},
		},
		{
			name:     "is deleted while it waits",
			scenario: "restore: {}\nplugins:\n- {name: example.io/r, action: RestoreItemAction, operation: {progress: [{at: 1h, completed: true}]}}\nfaults:\n- {at: {phase: WaitingForPluginOperations}, do: {delete: restore/restore-1}}",
			object:   "restore/restore-1", demanded: []string{"I W", "I W F", "I W F C"},
		},
		{
			name: "two restores, the first of which hangs", scenario: "restores: [{}, {}]\nplugins:\n- {name: example.io/r, action: RestoreItemAction, execute: {hang: true, times: 1}}",
			object: "restore/restore-2", demanded: []string{"I F C", "I Fp P"}, released: none(),
		},
		{
			name: "two restores at a time", scenario: "restores: [{}, {at: {phase: InProgress, object: restore/restore-1}}]\nplugins:\n- {name: example.io/r, action: RestoreItemAction, execute: {hang: true}}",
			object: "restore/restore-2", demanded: []string{"I Fp P"}, released: []string{"", "I"},
		},
		{
			name: "AppliesTo fails", scenario: "restore: {}\nplugins:\n- {name: example.io/a, appliesTo: {error: no}}", object: "backup/backup-1",
			demanded: []string{"Q R I Failed"},
		},
		{
			name: "AppliesTo of a restore fails", scenario: "restore: {}\nplugins:\n- {name: example.io/a, action: RestoreItemAction, appliesTo: {error: no}, operation: {}}", object: "restore/restore-1",
			demanded: []string{"I Fp P"},
		},
		{
			name:     "additional items are never ready",
			scenario: items + "restore: {}\nplugins:\n- {name: example.io/a, action: RestoreItemAction, execute: {additionalItems: [configmaps/app/b], waitForAdditionalItems: true}, areAdditionalItemsReady: {never: true}}",
			object:   "restore/restore-1", demanded: []string{"I F C", "I Fp P"},
		},
		{
			name:     "an item that is skipped",
			scenario: "restore: {}\nplugins:\n- {name: example.io/a, action: RestoreItemAction, execute: {skipRestore: true}}\n- {name: example.io/b, action: RestoreItemAction, operation: {}}",
			object:   "restore/restore-1", demanded: []string{"I F C"},
		},
		{
			name: "a long poll", scenario: "server: {itemOperationSyncFrequency: 5m}\nplugins:\n- {name: example.io/a, operation: {progress: [{at: 1m, completed: true}]}}\n- {name: example.io/b, operation: {progress: [{at: 10m, failed: full}]}}",
			object: "backup/backup-1", demanded: []string{"Q R I W Wp Fp P", "Q R I W Fp P"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.released == nil {
				test.released = test.demanded
			}
			s := parse(t, test.scenario)
			for _, reading := range []struct {
				rules phase.Rules
				want  []string
			}{{phase.Demanded(), test.demanded}, {released(t), test.released}} {
				p := model.Predict(reading.rules, s)[slices.Index(s.Objects(), test.object)]
				if p.Object != test.object || p.Unknown != "" {
					t.Fatalf("predicted for %s: %+v", test.object, p)
				}
				paths := none()
				for _, path := range p.Paths {
					paths = append(paths, short.Replace(path.String()))
				}
				slices.Sort(paths)
				slices.Sort(reading.want)
				if diff := cmp.Diff(reading.want, paths); diff != "" {
					t.Errorf("%s (-want +got):\n%s", reading.rules.Name, diff)
				}
			}
		})
	}
}

func none() []string { return []string{} }

// TestUnknownIsOfOneObject: what cannot be predicted for one object is for another.
func TestUnknownIsOfOneObject(t *testing.T) {
	scenario := "items: [secrets/app/a, configmaps/web/b]\nbackups: [{}, {includedNamespaces: [web]}]\nplugins:"
	for i := range 20 {
		scenario += fmt.Sprintf("\n- {name: example.io/p%d, resources: [secrets], operation: {progress: [{at: %dm, failed: no}]}}", i, i)
	}
	ps := model.Predict(released(t), parse(t, scenario))
	if !strings.Contains(ps[0].Unknown, "more kinds of operations") || len(ps[0].Paths) > 0 {
		t.Errorf("predicted for the backup: %+v", ps[0])
	}
	if ps[1].Unknown != "" || !ps[1].Allows(model.Path{phase.Queued, phase.ReadyToStart, phase.InProgress, phase.Finalizing, phase.Completed}) {
		t.Errorf("predicted for the other: %+v", ps[1])
	}
}
