package virtual_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// What plugins can do beside operations: what Velero calls of them, and what comes of it.
func TestMethodsOfPlugins(t *testing.T) {
	const (
		item     = "Execute configmaps/app/settings"
		waits    = "execute: {additionalItems: [secrets/app/token], waitForAdditionalItems: true}"
		asks     = "AreAdditionalItemsReady"
		restored = "restored app/settings"
		deleted  = "faults: [{at: {phase: Completed}, do: {delete: backup/backup-1}}]"
	)
	// A restore that takes less time than the cache lags behind can run twice, as the finalizer that Velero adds to it enqueues it
	// again (pkg/controller/restore_controller.go): so they take a minute.
	tests := []struct {
		name string
		// plugin is the script, and rest the rest of the scenario.
		plugin, rest string
		// calls of the plugin and what was returned, and what was restored; equal ones that follow one another are one.
		calls []string
		path  string // of the object that the scenario is about
		// took is how long it was between the first phase and the last, in seconds or longer.
		took time.Duration
	}{
		{
			"a BackupItemAction of version 1", "version: 1, execute: {additionalItems: [secrets/app/token]}", "",
			[]string{"AppliesTo", item},
			"Queued ReadyToStart InProgress Finalizing Completed", 0,
		},
		{
			"a RestoreItemAction of version 1 that fails", "action: RestoreItemAction, version: 1, appliesTo: {delay: 1m}, execute: {error: no volume}", "restore: {}",
			[]string{"AppliesTo", item + ": no volume"},
			"InProgress FinalizingPartiallyFailed PartiallyFailed", 0,
		},
		{
			"AppliesTo fails", "appliesTo: {error: no cloud}", "",
			[]string{"AppliesTo: no cloud"},
			"Queued ReadyToStart InProgress Failed", 0,
		},
		{
			"AppliesTo panics in a restore", "action: RestoreItemAction, appliesTo: {delay: 1m, panic: nil map}", "restore: {}",
			[]string{"AppliesTo: nil map"},
			"InProgress FinalizingPartiallyFailed PartiallyFailed", 0,
		},
		{
			"AppliesTo is slow", "appliesTo: {delay: 1h}", "",
			[]string{"AppliesTo", item},
			"Queued ReadyToStart InProgress Finalizing Completed", time.Hour,
		},
		{
			"AppliesTo fails once in the finalizer, which is tried again",
			"appliesTo: {error: no cloud, nth: 2, times: 1}, operation: {progress: [{at: 0s, completed: true}]}, execute: {itemsToUpdate: [secrets/app/token]}", "",
			[]string{"AppliesTo", item, "Progress", "AppliesTo: no cloud", "AppliesTo"},
			"Queued ReadyToStart InProgress Finalizing Completed", 0,
		},
		{
			"an item is not restored", "action: RestoreItemAction, appliesTo: {delay: 1m}, execute: {skipRestore: true}, operation: {progress: [{at: 0s, completed: true}]}", "restore: {}",
			[]string{"AppliesTo", item, "Progress"},
			"InProgress Finalizing Completed", 0,
		},
		{
			"additional items are ready after a while", "action: RestoreItemAction, " + waits + ", areAdditionalItemsReady: {after: 90s}", "restore: {}",
			[]string{"AppliesTo", item, asks + ": not ready", asks, restored},
			"InProgress Finalizing Completed", 90 * time.Second,
		},
		{
			"additional items are never ready", "action: RestoreItemAction, " + waits + ", areAdditionalItemsReady: {never: true}", "restore: {}",
			[]string{"AppliesTo", item, asks + ": not ready", restored},
			"InProgress FinalizingPartiallyFailed PartiallyFailed", 10 * time.Minute,
		},
		{
			"AreAdditionalItemsReady fails", "action: RestoreItemAction, " + waits + ", areAdditionalItemsReady: {delay: 1m, panic: nil map}", "restore: {}",
			[]string{"AppliesTo", item, asks + ": nil map", restored},
			"InProgress FinalizingPartiallyFailed PartiallyFailed", 0,
		},
		{
			"Execute is counted over two backups", "execute: {error: no snapshot, nth: 2}", "backups: [{name: first}, {name: second}]",
			[]string{"AppliesTo", item, "AppliesTo", item + ": no snapshot"},
			"Queued ReadyToStart InProgress FinalizingPartiallyFailed PartiallyFailed", 0,
		},
		{
			"a DeleteItemAction fails, and the backup is deleted", "action: DeleteItemAction, execute: {error: no cloud}", deleted,
			[]string{"AppliesTo", "Execute configmaps/app/settings, deleting: no cloud"},
			"Queued ReadyToStart InProgress Finalizing Completed Deleting Deleted", 0,
		},
		{
			"an item is too large to be restored", "execute: {tooLarge: true}", "items: [configmaps/app/settings]\nrestore: {}",
			[]string{"AppliesTo", item, restored + ": Request entity too large: limit is 3145728"},
			"InProgress FinalizingPartiallyFailed PartiallyFailed", 0,
		},
		{
			"nor once a RestoreItemAction has made it so", "action: RestoreItemAction, appliesTo: {delay: 1m}, execute: {tooLarge: true}", "restore: {}",
			[]string{"AppliesTo", item, restored + ": Request entity too large: limit is 3145728"},
			"InProgress FinalizingPartiallyFailed PartiallyFailed", 0,
		},
		{
			"an item is too large for a DeleteItemAction, and the backup is deleted",
			"execute: {tooLarge: true}}, {name: example.io/deletes, action: DeleteItemAction", deleted,
			[]string{"AppliesTo", item, "AppliesTo"},
			"Queued ReadyToStart InProgress Finalizing Completed Deleting Deleted", 0,
		},
		{
			"AppliesTo of a DeleteItemAction fails", "action: DeleteItemAction, appliesTo: {error: no cloud}", deleted,
			[]string{"AppliesTo: no cloud"},
			"Queued ReadyToStart InProgress Finalizing Completed Deleting", 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := parse(t, "test.yaml", "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}\n"+
				map[bool]string{true: "items: [configmaps/app/settings, secrets/app/token]\n"}[!strings.Contains(tt.rest, "items:")]+"plugins: [{name: example.io/mover, "+tt.plugin+"}]\n"+tt.rest+"\nexpect: {phase: Completed}\n")
			for seed := int64(1); seed <= seeds(t, 3); seed++ {
				tr := run(t, s, seed)
				if tr.End.Reason != trace.Settled {
					t.Fatalf("seed %d: %+v", seed, tr.End)
				}
				calls, path, took := told(s, tr)
				if diff := cmp.Diff(tt.calls, calls); diff != "" {
					t.Errorf("seed %d: calls (-want +got):\n%s", seed, diff)
				}
				if path != tt.path || took.Truncate(time.Second) < tt.took {
					t.Errorf("seed %d: %s in %s, want %s in %s", seed, path, took, tt.path, tt.took)
				}
				if again := ndjson(t, run(t, s, seed)); again != ndjson(t, tr) {
					t.Errorf("seed %d: %s", seed, differ(ndjson(t, tr), again))
				}
			}
		})
	}
}

// told is what the trace tells of the calls of plugins and of restored items, and of the object that the scenario is about.
func told(s *scenario.Scenario, tr trace.Trace) (calls []string, path string, took time.Duration) {
	open := map[int]string{}
	var phases []string
	var first trace.Time
	for _, e := range tr.Events {
		switch {
		case e.Call != nil:
			open[e.Call.ID] = strings.TrimSpace(e.Call.Method + " " + e.Call.Item)
			if e.Call.Method == "Execute" && e.Call.Phase == "Deleting" {
				open[e.Call.ID] += ", deleting"
			}
		case e.Return != nil:
			call := open[e.Return.ID]
			if r := e.Return; r.Error != "" {
				call += ": " + r.Error
			} else if r.Ready != nil && !*r.Ready {
				call += ": not ready"
			}
			calls = append(calls, call)
		case e.Write != nil && e.Write.Verb == "create" && e.Write.Client == "restore" && e.Write.Resource == "configmaps":
			restored := "restored " + e.Write.Name
			if e.Write.Error != "" {
				restored += ": " + e.Write.Error
			}
			calls = append(calls, restored)
		case e.Phase != nil && e.Object == s.Object():
			if len(phases) == 0 {
				first = e.At
			}
			phases, took = append(phases, e.Phase.To), time.Duration(e.At-first)
		case e.Deleted != nil && e.Object == s.Object():
			phases = append(phases, scenario.Deleted)
		}
	}
	return slices.Compact(calls), strings.Join(phases, " "), took
}

// Two backups at a time ask the same plugin, and their operations are told apart.
func TestPluginOfTwoBackupsAtATime(t *testing.T) {
	s := parse(t, "test.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: test}
server: {concurrentBackups: 2}
items: [configmaps/app/settings, configmaps/db/settings]
plugins: [{name: example.io/mover, appliesTo: {delay: 1m}, operation: {progress: [{at: 1m, completed: true}]}}]
backups: [{includedNamespaces: [app]}, {includedNamespaces: [db], at: {phase: New, object: backup/backup-1}}]
expect: {phase: Completed}
`)
	together := 0
	for seed := int64(1); seed <= seeds(t, 6); seed++ {
		tr := run(t, s, seed)
		if tr.End.Reason != trace.Settled {
			t.Fatalf("seed %d: %+v", seed, tr.End)
		}
		open, operations := map[int]bool{}, map[string]string{}
		for _, e := range tr.Events {
			switch {
			case e.Call != nil && e.Call.Method == "AppliesTo":
				open[e.Call.ID] = true
			case e.Return != nil:
				delete(open, e.Return.ID)
				if e.Return.Operation != "" {
					operations[e.Object] = e.Return.Operation
				}
			}
			if len(open) == 2 {
				together++
			}
		}
		want := map[string]string{"backup/backup-1": "backup-1/mover-1", "backup/backup-2": "backup-2/mover-1"}
		if diff := cmp.Diff(want, operations); diff != "" {
			t.Errorf("seed %d: operations (-want +got):\n%s", seed, diff)
		}
		if again := ndjson(t, run(t, s, seed)); again != ndjson(t, tr) {
			t.Errorf("seed %d: %s", seed, differ(ndjson(t, tr), again))
		}
	}
	if together == 0 {
		t.Error("no seed has two calls of AppliesTo under way at a time")
	}
}
