package cluster_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestSpecs: what the user creates has what else the scenario says of a spec, with namespaces as the cluster has them, and leaves out what
// the server's own defaults are.
func TestSpecs(t *testing.T) {
	s, errs := scenario.Parse("specs.yaml", []byte(`apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: specs}
backups:
- name: plain
- name: full
  ttl: 1h
  itemOperationTimeout: 2h
  storageLocation: elsewhere
  spec: {excludedNamespaces: [app, "*"], snapshotVolumes: true, hooks: {resources: [{name: h, includedNamespaces: [app]}]}}
restores:
- {name: copy, backup: plain, spec: {namespaceMapping: {app: copy}, existingResourcePolicy: update}}
- {name: latest, schedule: daily}
schedules: [{name: daily, every: 1h}]
manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {namespace: velero, name: policies}}]
expect: {phase: Completed}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(velerov1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	policies := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "velero-j1", Name: "policies"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(policies).Build()
	created := map[string]trace.Created{}
	u := cluster.User{
		Cluster: cluster.Cluster{Scenario: s, Velero: "velero-j1", Suffix: "-j1"}, Client: c, Names: scenario.NewNaming(s),
		Created: func(object string, x trace.Created) { created[object] = x },
	}
	if diff := cmp.Diff([]string{"app-j1"}, u.Namespaces()); diff != "" {
		t.Errorf("namespaces (-want +got)\n%s", diff)
	}
	if got, want := u.Inside("configmaps/velero/policies"), scenario.Item("configmaps/velero-j1/policies"); got != want {
		t.Errorf("the server's own object is %s in the cluster, want %s", got, want)
	}
	for _, object := range []string{"backup/plain", "backup/full", "restore/copy", "restore/latest"} {
		if err := u.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	backup := func(name string) velerov1.BackupSpec {
		var b velerov1.Backup
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "velero-j1", Name: name}, &b); err != nil {
			t.Fatal(err)
		}
		return b.Spec
	}
	plain := velerov1.BackupSpec{IncludedNamespaces: []string{"app-j1"}, SnapshotVolumes: new(false)}
	if diff := cmp.Diff(plain, backup("plain")); diff != "" {
		t.Errorf("plain (-want +got)\n%s", diff)
	}
	full := plain
	full.TTL, full.ItemOperationTimeout = metav1.Duration{Duration: s.Backups[1].TTL.Duration}, metav1.Duration{Duration: s.Backups[1].ItemOperationTimeout.Duration}
	full.StorageLocation, full.SnapshotVolumes, full.ExcludedNamespaces = "elsewhere", new(true), []string{"app-j1", "*"}
	full.Hooks = velerov1.BackupHooks{Resources: []velerov1.BackupResourceHookSpec{{Name: "h", IncludedNamespaces: []string{"app-j1"}}}}
	if diff := cmp.Diff(full, backup("full")); diff != "" {
		t.Errorf("full (-want +got)\n%s", diff)
	}
	restore := func(name string) velerov1.RestoreSpec {
		var x velerov1.Restore
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "velero-j1", Name: name}, &x); err != nil {
			t.Fatal(err)
		}
		return x.Spec
	}
	want := velerov1.RestoreSpec{
		BackupName: "plain", RestorePVs: new(false), NamespaceMapping: map[string]string{"app-j1": "copy-j1"}, ExistingResourcePolicy: "update",
	}
	if diff := cmp.Diff(want, restore("copy")); diff != "" {
		t.Errorf("copy (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(velerov1.RestoreSpec{ScheduleName: "daily", RestorePVs: new(false)}, restore("latest")); diff != "" {
		t.Errorf("latest (-want +got)\n%s", diff)
	}
	if got := created["restore/copy"].Backup + created["restore/latest"].Backup; got != "plain" { // of the other nobody knows yet
		t.Errorf("restores of backup %q, want plain", got)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(policies), policies); err != nil {
		t.Errorf("the server's own object does not outlive a restore: %v", err)
	}
}
