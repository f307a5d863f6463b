package fakeplugins_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
)

func backupNamed(name string) *velerov1.Backup {
	b := new(velerov1.Backup)
	b.Name, b.Status.Phase = name, velerov1.BackupPhaseInProgress
	return b
}

// Operations of several objects have IDs of their own, the same in whatever order the objects' turns come.
func TestOperationsOfSeveralObjects(t *testing.T) {
	for _, order := range [][]string{
		{"backup-1", "backup-1", "backup-2", "daily-20260102030405"},
		{"daily-20260102030405", "backup-2", "backup-1", "backup-1"},
	} {
		r := newRun(scenario.Plugin{Operation: new(scenario.Operation)})
		r.operations = fakeplugins.NewOperations(time.Now(), func(object string) string {
			if object == "backup/daily-20260102030405" {
				return "backup/daily-1"
			}
			return object
		})
		started := map[string][]string{}
		for _, name := range order {
			_, _, id, _, err := r.action(t).Execute(settings(), backupNamed(name))
			if err != nil {
				t.Fatal(err)
			}
			started[name] = append(started[name], id)
		}
		want := map[string][]string{
			"backup-1": {"backup-1/mover-1", "backup-1/mover-2"}, "backup-2": {"backup-2/mover-1"}, "daily-20260102030405": {"daily-1/mover-1"},
		}
		if diff := cmp.Diff(want, started); diff != "" {
			t.Errorf("operations, in the order %v (-want +got):\n%s", order, diff)
		}
		if err := r.action(t).Cancel("daily-1/mover-1", backupNamed("daily-20260102030405")); err != nil {
			t.Error(err)
		}
		if got := r.events[len(r.events)-1].Object; got != "backup/daily-20260102030405" {
			t.Errorf("the journal is told of %s, want Velero's name", got)
		}
	}
}

// A restore may have the name of a backup, and a plugin be of both actions.
func TestOperationsOfABackupAndARestoreOfOneName(t *testing.T) {
	backups := newRun(scenario.Plugin{Operation: new(scenario.Operation)})
	restores := newRun(scenario.Plugin{Action: scenario.RestoreItemAction, Operation: new(scenario.Operation)})
	restores.operations = backups.operations
	restore := new(velerov1.Restore)
	restore.Name = "app"
	_, _, first, _, err := backups.action(t).Execute(settings(), backupNamed("app"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := restores.process(t.Context()).RestoreItemAction().Execute(&velero.RestoreItemActionExecuteInput{Item: settings(), Restore: restore})
	if err != nil {
		t.Fatal(err)
	}
	if first != "app/mover-1" || out.OperationID != "app/mover-2" {
		t.Errorf("operations %s and %s, want app/mover-1 and app/mover-2", first, out.OperationID)
	}
}

// Execute is counted over all objects of the scenario, Progress by operation.
func TestCallsOfSeveralObjectsAreCounted(t *testing.T) {
	script := scenario.Plugin{Operation: new(scenario.Operation), Progress: scenario.Behaviour{Error: "not now", Nth: 2, Times: 1}}
	script.Execute.Error, script.Execute.Nth, script.Execute.Times = "no", 3, 1
	r := newRun(script)
	var got []string
	for _, name := range []string{"backup-1", "backup-2"} {
		b := backupNamed(name)
		for range 2 {
			got = append(got, outcome(func() error { _, _, _, _, err := r.action(t).Execute(settings(), b); return err }))
		}
		for range 3 {
			got = append(got, outcome(func() error { _, err := r.action(t).Progress(name+"/mover-1", b); return err }))
		}
	}
	want := []string{"ok", "ok", "ok", "not now", "ok", "no", "ok", "ok", "not now", "ok"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestBackupItemActionV1(t *testing.T) {
	script := scenario.Plugin{Version: 1, Resources: []string{"configmaps"}}
	script.Execute.AdditionalItems = []scenario.Item{"secrets/app/token"}
	script.Execute.Error, script.Execute.Nth = "no", 2
	r := newRun(script)
	a := r.process(t.Context()).BackupItemActionV1()
	if s, err := a.AppliesTo(); err != nil || cmp.Diff(script.Resources, s.IncludedResources) != "" {
		t.Errorf("AppliesTo: %v, %v", s, err)
	}
	item, additional, err := a.Execute(settings(), backupNamed("backup-1"))
	if err != nil || cmp.Diff(settings(), item) != "" || len(additional) != 1 || additional[0].Name != "token" {
		t.Errorf("Execute: %v, %v, %v", item, additional, err)
	}
	if _, _, err = a.Execute(settings(), backupNamed("backup-1")); err == nil || err.Error() != "no" {
		t.Errorf("the second Execute: %v, want no", err)
	}
}
