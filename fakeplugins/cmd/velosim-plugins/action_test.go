package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/scenario"
)

const name = "example.io/mover"

func action(t testing.TB, m clientmgmt.Manager) biav2.BackupItemAction {
	t.Helper()
	a, err := m.GetBackupItemActionV2(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func execute(a biav2.BackupItemAction) (string, error) {
	_, _, id, _, err := a.Execute(settings(), backup(velerov1.BackupPhaseInProgress))
	return id, err
}

func progress(a biav2.BackupItemAction) (velero.OperationProgress, error) {
	return a.Progress("backup-1/mover-1", backup(velerov1.BackupPhaseWaitingForPluginOperations))
}

// contains checks that the error has one of the texts, which are separated by |.
func contains(t *testing.T, err error, texts string) {
	t.Helper()
	for want := range strings.SplitSeq(texts, "|") {
		if err != nil && strings.Contains(err.Error(), want) {
			return
		}
	}
	t.Errorf("error %v, want %s", err, texts)
}

func (s *server) wantEvents(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(want, s.events); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A backup's life, every poll in a process of its own.
func TestBackupItemAction(t *testing.T) {
	script := scenario.Plugin{
		Resources: []string{"configmaps"},
		Operation: &scenario.Operation{Progress: []scenario.Step{{Done: 1, Of: 10, Units: "GB", Description: "uploading"}}},
		Progress:  scenario.Behaviour{Error: "not now", Times: 1},
	}
	script.Execute.AdditionalItems = []scenario.Item{"secrets/app/token"}
	script.Execute.ItemsToUpdate = []scenario.Item{"configmaps/app/settings"}
	s := serveWorld(t, movers(script))
	began := time.Now()

	m := s.manager()
	a := action(t, m)
	selector, err := a.AppliesTo()
	if diff := cmp.Diff([]string{"configmaps"}, selector.IncludedResources); diff != "" || err != nil {
		t.Errorf("AppliesTo: error %v (-want +got):\n%s", err, diff)
	}
	item, additional, id, update, err := a.Execute(settings(), backup(velerov1.BackupPhaseInProgress))
	if err != nil {
		t.Fatal(err)
	}
	token := velero.ResourceIdentifier{GroupResource: schema.GroupResource{Resource: "secrets"}, Namespace: "app", Name: "token"}
	itself := velero.ResourceIdentifier{GroupResource: schema.GroupResource{Resource: "configmaps"}, Namespace: "app", Name: "settings"}
	if id != "backup-1/mover-1" || cmp.Diff(settings(), item) != "" || cmp.Diff([]velero.ResourceIdentifier{token}, additional) != "" || cmp.Diff([]velero.ResourceIdentifier{itself}, update) != "" {
		t.Errorf("Execute: %v, %v, %s, %v", item, additional, id, update)
	}
	m.CleanupClients()

	_, err = progress(action(t, s.manager()))
	contains(t, err, "not now")
	p, err := progress(action(t, s.manager()))
	if err != nil || p.NCompleted != 1 || p.NTotal != 10 || p.OperationUnits != "GB" || p.Description != "uploading" || p.Started.Before(began) || p.Started.After(time.Now()) {
		t.Errorf("Progress: %+v, %v", p, err)
	}
	if err := action(t, s.manager()).Cancel("backup-1/mover-1", backup(velerov1.BackupPhaseWaitingForPluginOperations)); err != nil {
		t.Error(err)
	}
	p, err = progress(action(t, s.manager()))
	if err != nil || !p.Completed || p.Err != "operation cancelled" {
		t.Errorf("Progress after Cancel: %+v, %v", p, err)
	}
	a = action(t, s.manager())
	for _, want := range []string{"not now", "operation ID other is invalid"} { // it is counted by operation
		_, err = a.Progress("other", backup(""))
		contains(t, err, want)
	}
	const of = "backup/backup-1 example.io/mover "
	s.wantEvents(
		"example.io/mover AppliesTo", "AppliesTo:",
		of+"Execute configmaps/app/settings InProgress", "Execute: backup-1/mover-1",
		of+"Progress backup-1/mover-1 WaitingForPluginOperations", "Progress: not now",
		of+"Progress backup-1/mover-1 WaitingForPluginOperations", "Progress: 1 of 10",
		of+"Cancel backup-1/mover-1 WaitingForPluginOperations", "Cancel:",
		of+"Progress backup-1/mover-1 WaitingForPluginOperations", "Progress: 1 of 10",
		of+"Progress other", "Progress: not now",
		of+"Progress other", "Progress: operation ID other is invalid",
	)
}

func TestRestoreAndDeleteItemActions(t *testing.T) {
	script := scenario.Plugin{Name: name, Action: scenario.RestoreItemAction, Operation: &scenario.Operation{Progress: []scenario.Step{{Of: 3, Completed: true}}}}
	script.Execute.AdditionalItems = []scenario.Item{"secrets/app/token"}
	script.Execute.SkipRestore, script.Execute.WaitForAdditionalItems = true, true
	script.AreAdditionalItemsReady.Error, script.AreAdditionalItemsReady.Nth = "no volume", 2
	deletes := scenario.Plugin{Name: "example.io/deletes", Action: scenario.DeleteItemAction}
	deletes.Execute.Error, deletes.Execute.Nth = "no", 2
	s := serveWorld(t, map[string]host.Executable{"movers": {Plugins: []scenario.Plugin{script, deletes}}})
	m := s.manager()
	restore := new(velerov1.Restore)
	restore.Name = "restore-1"
	r, err := m.GetRestoreItemActionV2(name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Execute(&velero.RestoreItemActionExecuteInput{Item: settings(), ItemFromBackup: settings(), Restore: restore})
	if err != nil || out.OperationID != "restore-1/mover-1" || len(out.AdditionalItems) != 1 || !out.SkipRestore || !out.WaitForAdditionalItems || cmp.Diff(settings(), out.UpdatedItem) != "" {
		t.Errorf("Execute: %+v, %v", out, err)
	}
	if p, err := r.Progress("restore-1/mover-1", restore); err != nil || !p.Completed || p.NCompleted != 3 {
		t.Errorf("Progress: %+v, %v", p, err)
	}
	if ready, err := r.AreAdditionalItemsReady(out.AdditionalItems, restore); !ready || err != nil {
		t.Errorf("AreAdditionalItemsReady: %t, %v", ready, err)
	}
	_, err = r.AreAdditionalItemsReady(out.AdditionalItems, restore)
	contains(t, err, "no volume")
	d, err := m.GetDeleteItemAction("example.io/deletes")
	if err != nil {
		t.Fatal(err)
	}
	in := &velero.DeleteItemActionExecuteInput{Item: settings(), Backup: backup(velerov1.BackupPhaseDeleting)}
	if err := d.Execute(in); err != nil {
		t.Error(err)
	}
	contains(t, d.Execute(in), "no")
	s.wantEvents(
		"restore/restore-1 example.io/mover Execute configmaps/app/settings", "Execute: restore-1/mover-1",
		"restore/restore-1 example.io/mover Progress restore-1/mover-1", "Progress: 3 of 3",
		"restore/restore-1 example.io/mover AreAdditionalItemsReady", "AreAdditionalItemsReady: ready",
		"restore/restore-1 example.io/mover AreAdditionalItemsReady", "AreAdditionalItemsReady: no volume",
		"backup/backup-1 example.io/deletes Execute configmaps/app/settings Deleting", "Execute:",
		"backup/backup-1 example.io/deletes Execute configmaps/app/settings Deleting", "Execute: no",
	)
}

// Velero adapts plugins of version 1 to version 2.
func TestVersion1(t *testing.T) {
	script := scenario.Plugin{Name: name, Version: 1, Action: scenario.BackupItemAction}
	script.Execute.AdditionalItems = []scenario.Item{"secrets/app/token"}
	restores := scenario.Plugin{Name: name, Version: 1, Action: scenario.RestoreItemAction}
	restores.Execute.SkipRestore = true
	s := serveWorld(t, map[string]host.Executable{"movers": {Plugins: []scenario.Plugin{script, restores}}})
	registry, err := s.registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []common.PluginKind{common.PluginKindBackupItemAction, common.PluginKindRestoreItemAction} {
		if _, err := registry.Get(kind, name); err != nil {
			t.Error(err)
		}
	}
	m := s.manager()
	a := action(t, m)
	_, additional, id, _, err := a.Execute(settings(), backup(velerov1.BackupPhaseInProgress))
	if len(additional) != 1 || id != "" || err != nil {
		t.Errorf("Execute: %v, %q, %v", additional, id, err)
	}
	_, err = a.Progress("any", backup(""))
	contains(t, err, "does not support asynchronous operations")
	r, err := m.GetRestoreItemActionV2(name)
	if err != nil {
		t.Fatal(err)
	}
	restore := new(velerov1.Restore)
	restore.Name = "restore-1"
	out, err := r.Execute(&velero.RestoreItemActionExecuteInput{Item: settings(), ItemFromBackup: settings(), Restore: restore})
	if err != nil || !out.SkipRestore || out.OperationID != "" {
		t.Errorf("Execute of a restore: %+v, %v", out, err)
	}
	s.wantEvents(
		"backup/backup-1 example.io/mover Execute configmaps/app/settings InProgress", "Execute:",
		"restore/restore-1 example.io/mover Execute configmaps/app/settings", "Execute:",
	)
}

func TestAppliesTo(t *testing.T) {
	for want, b := range map[string]scenario.Behaviour{
		"no cloud":                 {Error: "no cloud", Times: 1},
		"plugin panicked: nil map": {Panic: "nil map", Times: 1},
	} {
		a := action(t, serveWorld(t, movers(scenario.Plugin{Resources: []string{"secrets"}, AppliesTo: b})).manager())
		_, err := a.AppliesTo()
		contains(t, err, want)
		if s, err := a.AppliesTo(); err != nil || cmp.Diff([]string{"secrets"}, s.IncludedResources) != "" {
			t.Errorf("the next AppliesTo: %v, %v", s, err)
		}
	}
}

// The framework makes an error of a panic, and the process goes on.
func TestPanic(t *testing.T) {
	script := scenario.Plugin{Operation: new(scenario.Operation)}
	script.Execute.Panic, script.Execute.Times = "nil map", 1
	s := serveWorld(t, movers(script))
	a := action(t, s.manager())
	started := len(s.all())
	_, err := execute(a)
	contains(t, err, "plugin panicked: nil map")
	if id, err := execute(a); id != "backup-1/mover-1" || err != nil {
		t.Errorf("the next Execute: %s, %v", id, err)
	}
	if n := len(s.all()); n != started {
		t.Errorf("%d processes were started after a panic, want none", n-started)
	}
}

// Velero ends a manager's processes while a call hangs or is delayed.
func TestCleanupEndsCalls(t *testing.T) {
	for name, b := range map[string]scenario.Behaviour{
		"hang":  {Hang: true},
		"delay": {Delay: scenario.Duration{Duration: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			script := scenario.Plugin{Operation: new(scenario.Operation)}
			script.Execute.Behaviour = b
			s := serveWorld(t, movers(script))
			m := s.manager()
			a := action(t, m)
			done := later(func() error { _, err := execute(a); return err })
			within(t, s.calls)
			m.CleanupClients()
			if err := within(t, done); err == nil {
				t.Error("the call succeeded")
			}
			gone(t, s.last().PID)
			s.wantEvents("backup/backup-1 example.io/mover Execute configmaps/app/settings InProgress") // no outcome
		})
	}
}

func TestDelay(t *testing.T) {
	const delay = 300 * time.Millisecond
	script := scenario.Plugin{Operation: new(scenario.Operation)}
	script.Execute.Delay.Duration = delay
	s := serveWorld(t, movers(script))
	a := action(t, s.manager())
	began := time.Now()
	if id, err := execute(a); id != "backup-1/mover-1" || err != nil || time.Since(began) < delay {
		t.Errorf("%s, %v after %s", id, err, time.Since(began))
	}
}

// A plugin that keeps operations in memory: the process of the next poll knows none.
func TestForgets(t *testing.T) {
	s := serveWorld(t, movers(scenario.Plugin{Operation: &scenario.Operation{Forgets: true}}))
	a := action(t, s.manager())
	if _, err := execute(a); err != nil {
		t.Fatal(err)
	}
	if _, err := progress(a); err != nil {
		t.Error(err)
	}
	_, err := progress(action(t, s.manager()))
	contains(t, err, "operation ID backup-1/mover-1 is invalid")
}
