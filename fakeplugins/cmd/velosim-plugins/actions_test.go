package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/scenario"
)

// One executable has all actions of a name, and Velero finds the item action among them.
func TestActions(t *testing.T) {
	script := func(a scenario.Action) scenario.Plugin { return scenario.Plugin{Name: name, Action: a} }
	post, restores := script(scenario.PostBackupAction), script(scenario.PreRestoreAction)
	post.Execute.Panic, post.Execute.Times = "nil map", 1
	restores.Execute.Hang = true
	item := script(scenario.BackupItemAction)
	item.Operation = new(scenario.Operation)
	s := serveWorld(t, map[string]host.Executable{"movers": {Plugins: []scenario.Plugin{
		script(scenario.PreBackupAction), post, restores, script(scenario.PostRestoreAction), item,
	}}})
	if id, err := execute(action(t, s.manager())); id != "backup-1/mover-1" || err != nil {
		t.Errorf("Execute of the item action: %s, %v", id, err)
	}

	found, err := actions.Discover(t.Context(), s.dir, s.log)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []common.PluginKind
	for _, p := range found {
		kinds = append(kinds, p.Kind)
	}
	want := []common.PluginKind{
		actions.PluginKindPostBackupAction, actions.PluginKindPostRestoreAction, actions.PluginKindPreBackupAction, actions.PluginKindPreRestoreAction,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Fatalf("found (-want +got):\n%s", diff)
	}
	client := actions.NewClient(actions.Options{Log: s.log, Timeouts: map[string]time.Duration{name: 5 * time.Second}})
	t.Cleanup(client.Close)
	call := func(p framework.PluginIdentifier, phase velerov1.BackupPhase) error {
		return client.Execute(t.Context(), p, backup(phase))
	}
	if err := call(found[2], velerov1.BackupPhaseInProgress); err != nil {
		t.Error(err)
	}
	contains(t, call(found[0], velerov1.BackupPhaseCompleted), "plugin panicked: nil map")
	if err := call(found[0], velerov1.BackupPhaseCompleted); err != nil {
		t.Error(err)
	}
	restore := new(velerov1.Restore)
	restore.Name = "restore-1"
	if err := client.Execute(t.Context(), found[3], restore); !errors.Is(err, actions.ErrDeadline) {
		t.Errorf("one that hangs: %v", err)
	}
	s.wantEvents(
		"backup/backup-1 example.io/mover Execute configmaps/app/settings InProgress", "Execute: backup-1/mover-1",
		"backup/backup-1 example.io/mover Execute  InProgress", "Execute:",
		"backup/backup-1 example.io/mover Execute  Completed", "Execute: nil map",
		"backup/backup-1 example.io/mover Execute  Completed", "Execute:",
		"restore/restore-1 example.io/mover Execute", // no outcome
	)
}
