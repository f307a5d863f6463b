package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt/process"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
)

const serve = "MOVER_TEST_SERVE"

// TestMain is the plugin where Velero's client side starts it: that starts its own executable too, for the plugins that are part of it.
func TestMain(m *testing.M) {
	if os.Getenv(serve) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Velero's client side calls the plugin, each time in a process of its own, in the plugin's virtual time.
func TestProcesses(t *testing.T) {
	state, log := t.TempDir(), logrus.New()
	log.SetOutput(io.Discard)
	t.Setenv(serve, "1")
	t.Setenv("MOVER_STATE", state)
	args := os.Args
	os.Args = []string{args[0], "server"} // Velero passes on what follows
	t.Cleanup(func() { os.Args = args })
	registry := process.NewRegistry(t.TempDir(), log, log.Level)
	if err := registry.DiscoverPlugins(); err != nil {
		t.Fatal(err)
	}
	after := func(d time.Duration, call func(clientmgmt.Manager)) {
		t.Setenv("VELOSIM_TIME", start().Add(d).Format(time.RFC3339Nano))
		m := clientmgmt.NewManager(log, log.Level, registry)
		defer m.CleanupClients()
		call(m)
	}
	wantReport := func(got velero.OperationProgress, err error, want velero.OperationProgress) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Progress: %v, -want +got\n%s", err, diff)
		}
	}

	var backupID, restoreID string
	after(0, func(m clientmgmt.Manager) {
		a, err := m.GetBackupItemActionV2(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := a.AppliesTo(); err != nil || cmp.Diff([]string{"configmaps"}, s.IncludedResources) != "" {
			t.Errorf("AppliesTo: %v, %v", s, err)
		}
		if _, _, backupID, _, err = a.Execute(configMap("app", "settings"), backup("backup-1")); backupID == "" || err != nil {
			t.Fatalf("Execute: %q, %v", backupID, err)
		}
		r, err := m.GetRestoreItemActionV2(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Execute(&velero.RestoreItemActionExecuteInput{
			Item: configMap("app", "settings"), ItemFromBackup: configMap("app", "settings"), Restore: restore(),
		})
		if err != nil || out.OperationID == "" {
			t.Fatalf("Execute of a restore: %+v, %v", out, err)
		}
		restoreID = out.OperationID
	})
	for _, d := range []time.Duration{1100 * time.Millisecond, time.Hour} {
		after(d, func(m clientmgmt.Manager) {
			a, err := m.GetBackupItemActionV2(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Progress(backupID, backup("backup-1"))
			wantReport(got, err, map[bool]velero.OperationProgress{false: report5of10(time.Second), true: ended()}[d > time.Minute])
			if err := a.Cancel("unknown", backup("backup-1")); err == nil || !strings.Contains(err.Error(), "operation ID unknown is invalid") {
				t.Errorf("Cancel of an unknown operation: %v", err)
			}
			r, err := m.GetRestoreItemActionV2(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Cancel(restoreID, restore()); err != nil {
				t.Error(err)
			}
			got, err = r.Progress(restoreID, restore())
			wantReport(got, err, stopped(1100*time.Millisecond))
		})
	}
	// A time that is none is the call's error, not the end of the process.
	t.Setenv("VELOSIM_TIME", "noon")
	m := clientmgmt.NewManager(log, log.Level, registry)
	defer m.CleanupClients()
	a, err := m.GetBackupItemActionV2(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.AppliesTo(); err == nil || !strings.Contains(err.Error(), `VELOSIM_TIME is "noon"`) {
		t.Errorf("AppliesTo at noon: %v", err)
	}
	files, err := os.ReadDir(state)
	if len(files) != 3 || err != nil { // two operations, one of them cancelled
		t.Errorf("state: %v, %v", files, err)
	}
}
