package virtual_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

const mover = "\nplugins: [{name: example.io/mover, operation: {progress: [{at: 1h, completed: true}]}}]"

func scenarioOf(t *testing.T, rest, phase string) string {
	t.Helper()
	return "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}" + rest + "\nexpect: {phase: " + phase + "}\n"
}

// Whenever the server is killed, the run comes to rest with a server that runs, and leaves nothing behind.
func TestKilledRunsSettle(t *testing.T) {
	for name, rest := range map[string]string{
		"while it finalizes, and when it has": mover + `
faults: [{at: {phase: Finalizing}, do: {kill: {restartAfter: 10s}}}, {at: {phase: Completed}, do: {kill: {restartAfter: 10s}}}]`,
		"at the end, and restarted when the run would settle": mover + `
faults: [{at: {phase: Completed}, do: {kill: {restartAfter: 23500ms}}}]`,
		"at the end, and restarted after an hour": mover + `
faults: [{at: {phase: Completed}, do: {kill: {restartAfter: 1h}}}]`,
		"a while after the end": mover + `
faults: [{at: {phase: Completed, delay: 1m}, do: {kill: {}}}]`,
		"when items are to be updated, once the second Execute has returned": `
items: [configmaps/app/a, configmaps/app/b, configmaps/app/c]
plugins: [{name: example.io/mover, execute: {itemsToUpdate: [configmaps/app/a]}, operation: {progress: [{at: 1h, completed: true}]}}]
faults: [{at: {call: {plugin: example.io/mover, method: Execute}, nth: 2}, do: {kill: {}}}]`,
		"at five points, and restarted at once": `
items: [configmaps/app/a, configmaps/app/b, secrets/zoo/d]
plugins:
- name: example.io/mover
  resources: [configmaps, secrets]
  execute: {delay: 1s, itemsToUpdate: [configmaps/app/a]}
  operation: {progress: [{at: 0s, of: 10}, {at: 1m, done: 10, completed: true}]}
- name: other.io/mover
  resources: [configmaps, secrets]
  operation: {progress: [{at: 0s, of: 10}, {at: 1m, done: 10, completed: true}]}
restore: {}
faults:
- {at: {phase: WaitingForPluginOperations, object: backup/backup-1, delay: 5s}, do: {kill: {restartAfter: 0s}}}
- {at: {phase: WaitingForPluginOperations, object: backup/backup-1, delay: 5100ms}, do: {kill: {restartAfter: 0s}}}
- {at: {phase: Finalizing, object: backup/backup-1}, do: {kill: {restartAfter: 1s}}}
- {at: {phase: Completed, object: backup/backup-1}, do: {kill: {restartAfter: 0s}}}
- {at: {phase: InProgress, object: restore/restore-1, delay: 0s}, do: {kill: {restartAfter: 1s}}}`,
		"while a restore waits for its caches": `
restore: {}
plugins:
- {name: example.io/mover, operation: {progress: [{at: 0s, of: 10}, {at: 1m, done: 10, completed: true}]}}
- {name: example.io/r, action: RestoreItemAction, operation: {progress: [{at: 0s, of: 10}, {at: 1m, done: 10, completed: true}]}}
faults: [{at: {store: {verb: get, key: backups/backup-1/backup-1-volumeinfo.json.gz}, nth: 2}, do: {kill: {restartAfter: 4s}}}]`,
		"never, but slow to finalize": `
backup: {itemOperationTimeout: 1m}
plugins:
- name: example.io/mover
  execute: {delay: 40s, itemsToUpdate: [configmaps/app/settings]}
  operation: {progress: [{at: 0s, of: 10}]}
  cancel: {delay: 15s}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "test.yaml", scenarioOf(t, rest, "Completed"))
			for seed := int64(1); seed <= seeds(t, 40); seed++ {
				tr := run(t, s, seed)
				server, struck := "", 0
				for _, e := range tr.Events {
					if e.Process != nil && e.Process.Name == "server" {
						server = e.Process.State
					}
					if e.Fault != nil && e.Fault.Missed == "" {
						struck++
					}
				}
				if tr.End.Reason != trace.Settled || server != "stopped" || struck != len(s.Faults) {
					t.Errorf("seed %d: ended %+v, the server %s, %d faults struck", seed, tr.End, server, struck)
				}
			}
		})
	}
}

func TestADeadServersCallHasNoEffect(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, `
backup: {itemOperationTimeout: 1h}
plugins: [{name: example.io/mover, operation: {afterCancel: Completes}, cancel: {delay: 5m}}]
faults: [{at: {call: {plugin: example.io/mover, method: Cancel}, delay: 1m}, do: {kill: {restartAfter: 20m}}}]`, "PartiallyFailed"))
	for seed := int64(1); seed <= 8; seed++ {
		cancels := 0
		for _, e := range run(t, s, seed).Events {
			if e.Call != nil && e.Call.Method == "Cancel" {
				cancels++
			}
			if e.Return != nil && e.Return.Progress != nil && e.Return.Progress.Completed && e.Incarnation == 2 && cancels < 2 {
				t.Errorf("seed %d: before the new server has cancelled it, the operation has ended: %+v", seed, e.Return.Progress)
			}
		}
		if cancels != 2 {
			t.Errorf("seed %d: %d Cancels", seed, cancels)
		}
	}
}

func TestAFaultInDowntimeIsMissed(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, mover+`
faults:
- {at: {phase: WaitingForPluginOperations}, do: {kill: {restartAfter: 20m}}}
- {at: {phase: WaitingForPluginOperations, delay: 10m}, do: {kill: {}}}
- {at: {phase: WaitingForPluginOperations, delay: 20m}, do: {kill: {}}} # the instant of the restart`, "Completed"))
	var what []string
	for _, e := range run(t, s, 1).Events {
		switch {
		case e.Fault != nil && e.Fault.Missed != "":
			what = append(what, "missed: "+e.Fault.Missed)
		case e.Fault != nil:
			what = append(what, "struck")
		case e.Process != nil && e.Process.Name == "server":
			what = append(what, e.Process.State)
		}
	}
	want := []string{"started", "struck", "killed", "missed: the server was down", "started", "struck", "killed", "started", "stopped"}
	if !slices.Equal(what, want) {
		t.Errorf("%s", strings.Join(what, ", "))
	}
}

func TestNoRestoreOfAFailedBackup(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, `
restore: {}
faults: [{at: {object: backup/backup-1, phase: InProgress}, do: {kill: {restartAfter: 1m}}}]`, "Failed"))
	for _, e := range run(t, s, 1).Events {
		if e.Created != nil && strings.HasPrefix(e.Object, "restore/") {
			t.Errorf("created at %v", time.Duration(e.At))
		}
	}
}

func TestItemsInVelerosNamespace(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, `
items: [configmaps/velero/settings]
plugins: [{name: example.io/mover, operation: {progress: [{at: 1h, completed: true}]}}]`, "Completed"))
	if end := run(t, s, 1).End; end.Reason != trace.Settled {
		t.Errorf("ended %+v", end)
	}
}

func TestStoredOperationsOfARestore(t *testing.T) {
	tr := run(t, load(t, "restore-operation-completes"), 1)
	stored := 0
	for _, e := range tr.Events {
		if e.Rest != nil && e.Rest.Copy == "store" && strings.HasPrefix(e.Object, "restore/") {
			stored = len(e.Rest.Operations)
		}
	}
	if stored == 0 {
		t.Error("none recorded")
	}
}

// A backup is removed while its finalizer works on it. Its last patch is tried again after pauses that grow to days, and ends with the run.
func TestLongPausesEndWithTheRun(t *testing.T) {
	tr := run(t, parse(t, "test.yaml", scenarioOf(t, `
server: {backupSyncPeriod: 12h}
plugins: [{name: example.io/mover, execute: {delay: 1m, itemsToUpdate: [configmaps/app/settings]}, operation: {progress: [{at: 1h, completed: true}]}}]
faults: [{at: {phase: Finalizing, delay: 30s}, do: {remove: backup/backup-1}}]`, "Deleted")), 1)
	if tr.End.Reason != trace.Bound {
		t.Errorf("ended %+v", tr.End)
	}
}

// The server is killed while it pauses between two tries. What it gives up after the pause, nobody sees.
func TestKilledWhileItPauses(t *testing.T) {
	tr := run(t, parse(t, "test.yaml", scenarioOf(t, `
restore: {}
faults:
- {at: {write: {object: restore/restore-1, from: Finalizing}}, do: {refuse: ServiceUnavailable}, for: 2m}
- {at: {phase: Finalizing, object: restore/restore-1, delay: 1m}, do: {kill: {restartAfter: 1h}}}`, "Completed")), 1)
	killed := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Process != nil && e.Process.State == "killed" })
	if killed < 0 {
		t.Fatal("the server was not killed")
	}
	for _, e := range tr.Events[killed+1:] {
		if e.Incarnation == 1 && e.Process == nil {
			t.Errorf("at %s the dead server did %+v", e.At, e)
		}
	}
}
