package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
)

// Every item comes back as it was, but only a config map that is neither Velero's nor the plugin's own is moved, and not when finalizing.
func TestExecute(t *testing.T) {
	kind := func(apiVersion, kind string) *unstructured.Unstructured {
		u := configMap("app", "settings")
		u.SetAPIVersion(apiVersion)
		u.SetKind(kind)
		return u
	}
	own := configMap("app", "mover-1")
	own.SetLabels(map[string]string{stateLabel: ""})
	for name, c := range map[string]struct {
		item  *unstructured.Unstructured
		phase velerov1.BackupPhase
		moved bool
	}{
		"a config map":                   {configMap("app", "settings"), velerov1.BackupPhaseInProgress, true},
		"when finalizing":                {configMap("app", "settings"), velerov1.BackupPhaseFinalizing, false},
		"when finalizing after failures": {configMap("app", "settings"), velerov1.BackupPhaseFinalizingPartiallyFailed, false},
		"a secret":                       {kind("v1", "Secret"), velerov1.BackupPhaseInProgress, false},
		"of another group":               {kind("example.io/v1", "ConfigMap"), velerov1.BackupPhaseInProgress, false},
		"of no kind":                     {new(unstructured.Unstructured), velerov1.BackupPhaseInProgress, false},
		"the plugin's own":               {own, velerov1.BackupPhaseInProgress, false},
		"of Velero's namespace":          {configMap("velero", "settings"), velerov1.BackupPhaseInProgress, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.item.DeepCopy()
			s := folder(t.TempDir())
			b := backup("backup-1")
			b.Status.Phase = c.phase
			item, additional, id, after, err := backupAction{at(s, 0)}.Execute(c.item, b)
			if (id != "") != c.moved || len(additional)+len(after) > 0 || err != nil {
				t.Errorf("Execute: operation %q, %v, %v, %v", id, additional, after, err)
			}
			if diff := cmp.Diff(before.UnstructuredContent(), item.UnstructuredContent()); diff != "" {
				t.Errorf("the item has changed: %s", diff)
			}
			files, err := os.ReadDir(string(s))
			if want := map[bool]int{true: 1}[c.moved]; len(files) != want || err != nil {
				t.Errorf("state: %v, %v, want %d files", files, err, want)
			}
			if c.phase != velerov1.BackupPhaseInProgress {
				return
			}
			out, err := restoreAction{at(s, 0)}.Execute(&velero.RestoreItemActionExecuteInput{Item: c.item, Restore: restore()})
			if err != nil {
				t.Fatal(err)
			}
			if (out.OperationID != "") != c.moved || out.SkipRestore || out.WaitForAdditionalItems || len(out.AdditionalItems) > 0 {
				t.Errorf("Execute of a restore: %+v", out)
			}
			if diff := cmp.Diff(before.UnstructuredContent(), out.UpdatedItem.UnstructuredContent()); diff != "" {
				t.Errorf("the item of a restore has changed: %s", diff)
			}
		})
	}
}

func restore() *velerov1.Restore {
	return &velerov1.Restore{ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "backup-1", UID: backup("").UID}}
}

// Each item of each backup and restore has an operation of its own; Execute again finds it, as it was started.
func TestIDs(t *testing.T) {
	s := folder(t.TempDir())
	id := operation(t, s)
	ids := map[string]string{id: "the first"}
	add := func(what, id string) {
		if other, ok := ids[id]; ok || id == "" {
			t.Errorf("%s has the operation %q of %s", what, id, other)
		}
		ids[id] = what
	}
	later := backup("backup-1")
	later.UID = "of 2"
	for what, c := range map[string]struct {
		item   *unstructured.Unstructured
		backup *velerov1.Backup
	}{
		"another item":                {configMap("app", "settings-2"), backup("backup-1")},
		"another namespace":           {configMap("app-2", "settings"), backup("backup-1")},
		"an item with a similar name": {configMap("apps", "ettings"), backup("backup-1")},
		"a later backup of this name": {configMap("app", "settings"), later},
		"another backup of the item":  {configMap("app", "settings"), backup("backup-2")},
		"../ and other items":         {configMap("../..", "../etc"), backup("backup-1")},
	} {
		_, _, id, _, err := backupAction{at(s, 0)}.Execute(c.item, c.backup)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		add(what, id)
	}
	out, err := restoreAction{at(s, 0)}.Execute(&velero.RestoreItemActionExecuteInput{Item: configMap("app", "settings"), Restore: restore()})
	if err != nil {
		t.Fatal(err)
	}
	add("a restore", out.OperationID)

	_, _, again, _, err := backupAction{at(s, time.Second)}.Execute(configMap("app", "settings"), backup("backup-1"))
	if again != id || err != nil {
		t.Errorf("Execute again: %q, %v, want %q", again, err, id)
	}
	if p := progress(t, s, id, 2*time.Second); !p.Completed {
		t.Errorf("Execute again has started it again: %+v", p)
	}
}

// The state is not backed up, and goes with its backup.
func TestConfigMap(t *testing.T) {
	client := fake.NewClientset().CoreV1().ConfigMaps("velero")
	id := operation(t, configMaps{client})
	m, err := client.Get(context.Background(), id, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := metav1.ObjectMeta{
		Namespace: "velero", Name: id, Labels: map[string]string{"example.io/mover-operation": "", "velero.io/exclude-from-backup": "true"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "velero.io/v1", Kind: "Backup", Name: "backup-1", UID: "of 1"}},
	}
	m.ManagedFields = nil
	if diff := cmp.Diff(want, m.ObjectMeta); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSettings(t *testing.T) {
	now, err := clock("2026-01-31T12:00:00.5Z")
	if want := time.Date(2026, 1, 31, 12, 0, 0, 5e8, time.UTC); err != nil || !now().Equal(want) {
		t.Errorf("a fixed clock: %v, want %s", err, want)
	}
	if now, err := clock(""); err != nil || time.Since(now()).Abs() > time.Minute {
		t.Errorf("the time of day: %v", err)
	}
	if _, err := clock("noon"); err == nil {
		t.Error("a clock at noon, want an error")
	}
	if _, err := openStore("", ""); err == nil || !strings.Contains(err.Error(), "set VELERO_NAMESPACE") {
		t.Errorf("a store of no namespace: %v", err)
	}
}
