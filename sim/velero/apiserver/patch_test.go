package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func TestMergePatch(t *testing.T) {
	for _, test := range []struct {
		name    string
		patch   string
		want    map[string]any
		changes bool
		is      func(error) bool
	}{
		{name: "sets and adds", patch: `{"data":{"a":"2","c":"3"}}`, want: map[string]any{"a": "2", "b": "1", "c": "3"}, changes: true},
		{name: "null deletes", patch: `{"data":{"a":null,"z":null}}`, want: map[string]any{"b": "1"}, changes: true},
		{name: "null deletes an object", patch: `{"data":null}`, changes: true},
		{name: "without a change", patch: `{"data":{"a":"1"}}`, want: map[string]any{"a": "1", "b": "1"}},
		{name: "empty", patch: `{}`, want: map[string]any{"a": "1", "b": "1"}},
		{name: "stale resourceVersion", patch: `{"metadata":{"resourceVersion":"1"},"data":{"a":"2"}}`, is: apierrors.IsConflict},
		{name: "another uid", patch: `{"metadata":{"uid":"x"}}`, is: apierrors.IsInvalid},
		{name: "another name", patch: `{"metadata":{"name":"x"}}`, is: apierrors.IsBadRequest},
		{name: "another kind", patch: `{"kind":"Secret"}`, is: apierrors.IsBadRequest},
		{name: "wrong type", patch: `{"data":{"a":1}}`, is: apierrors.IsBadRequest},
		{name: "metadata of a wrong type", patch: `{"metadata":[]}`, is: apierrors.IsBadRequest},
		{name: "not an object", patch: `[]`, is: apierrors.IsBadRequest},
		{name: "null", patch: `null`, is: apierrors.IsBadRequest},
		{name: "not JSON", patch: `{`, is: apierrors.IsBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			cms := typed(t, s, nil).CoreV1().ConfigMaps("velero")
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"a": "1", "b": "1"}}
			if _, err := cms.Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			before := mustGet(t, s, configMaps, "cm")
			_, err := cms.Patch(t.Context(), "cm", types.MergePatchType, []byte(test.patch), metav1.PatchOptions{})
			after := mustGet(t, s, configMaps, "cm")
			if test.is != nil {
				if !test.is(err) || after != before {
					t.Fatalf("unexpected error %v; changed: %v", err, after != before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if changed := after.GetResourceVersion() != before.GetResourceVersion(); changed != test.changes {
				t.Errorf("changed: %v, want %v", changed, test.changes)
			}
			data, _ := after.Object["data"].(map[string]any)
			if d := cmp.Diff(test.want, data); d != "" {
				t.Errorf("data (-want +got):\n%s", d)
			}
		})
	}
}

func TestPatchTypes(t *testing.T) {
	s := newServer(t)
	ctx := t.Context()
	sas := typed(t, s, nil).CoreV1().ServiceAccounts("velero")
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa"}, Secrets: []corev1.ObjectReference{{Name: "a"}}}
	if _, err := sas.Create(ctx, sa, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sa, err := sas.Patch(ctx, "sa", types.StrategicMergePatchType, []byte(`{"secrets":[{"name":"b"}]}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, secret := range sa.Secrets {
		names[secret.Name] = true
	}
	if d := cmp.Diff(map[string]bool{"a": true, "b": true}, names); d != "" {
		t.Errorf("a strategic merge patch merges by name (-want +got):\n%s", d)
	}

	sa, err = sas.Patch(ctx, "sa", types.JSONPatchType, []byte(`[{"op":"replace","path":"/secrets","value":[{"name":"c"}]}]`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]corev1.ObjectReference{{Name: "c"}}, sa.Secrets); d != "" {
		t.Errorf("JSON patch (-want +got):\n%s", d)
	}
	failing := []byte(`[{"op":"test","path":"/metadata/name","value":"x"}]`)
	if _, err := sas.Patch(ctx, "sa", types.JSONPatchType, failing, metav1.PatchOptions{}); apierrors.ReasonForError(err) != metav1.StatusReasonInvalid {
		t.Errorf("a JSON patch whose test fails: %v, want 422", err)
	}
	if _, err := sas.Patch(ctx, "x", types.JSONPatchType, failing, metav1.PatchOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("patch of what does not exist: %v, want NotFound", err)
	}

	c := controllerRuntime(t, s, nil)
	b := newBackup("b")
	if err := c.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	for _, patch := range []client.Patch{client.StrategicMergeFrom(newBackup("b")), client.Apply} {
		b.ManagedFields = nil
		err := c.Patch(ctx, b, patch, client.FieldOwner("test"))
		if apierrors.ReasonForError(err) != metav1.StatusReasonUnsupportedMediaType {
			t.Errorf("%s to a custom resource: %v, want UnsupportedMediaType", patch.Type(), err)
		}
	}
}

func TestFinalizers(t *testing.T) {
	s := newServer(t)
	c := controllerRuntime(t, s, nil)
	ctx := t.Context()
	b := newBackup("b")
	b.Finalizers = []string{"example.io/hold"}
	if err := c.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, b); err != nil {
		t.Fatal(err)
	}
	deleting := mustGet(t, s, backups, "b")
	if deleting.GetDeletionTimestamp() == nil || deleting.GetGeneration() != 2 || deleting.GetResourceVersion() == b.ResourceVersion {
		t.Errorf("deleted with a finalizer, but its metadata is %v", deleting.Object["metadata"])
	}
	if err := c.Delete(ctx, b); err != nil || mustGet(t, s, backups, "b") != deleting {
		t.Errorf("a second delete failed or changed the object: %v", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatal(err)
	}
	b.DeletionTimestamp = nil
	b.Finalizers = append(b.Finalizers, "example.io/more")
	if err := c.Update(ctx, b); !apierrors.IsInvalid(err) {
		t.Errorf("a new finalizer on an object that is being deleted: %v, want Invalid", err)
	}
	b.Finalizers = b.Finalizers[:1]
	b.Labels = map[string]string{"a": "b"}
	if err := c.Update(ctx, b); err != nil || b.DeletionTimestamp == nil {
		t.Errorf("an update took the deletion back: %v, %v", b.DeletionTimestamp, err)
	}
	original := b.DeepCopy()
	controllerutil.RemoveFinalizer(b, "example.io/hold")
	if err := c.Patch(ctx, b, client.MergeFrom(original)); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get(backups, "velero", "b"); ok {
		t.Error("the object outlives its last finalizer")
	}
}

func TestDeletePreconditions(t *testing.T) {
	s := newServer(t)
	ctx := t.Context()
	roles := typed(t, s, nil).RbacV1().Roles("velero")
	role, err := roles.Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "system:role"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid, revision := types.UID("x"), "1"
	for _, p := range []metav1.Preconditions{{UID: &uid}, {ResourceVersion: &revision}} {
		if err := roles.Delete(ctx, role.Name, metav1.DeleteOptions{Preconditions: &p}); !apierrors.IsConflict(err) {
			t.Errorf("delete with a precondition that does not hold: %v, want Conflict", err)
		}
	}
	p := metav1.Preconditions{UID: &role.UID, ResourceVersion: &role.ResourceVersion}
	if err := roles.Delete(ctx, role.Name, metav1.DeleteOptions{Preconditions: &p}); err != nil {
		t.Errorf("delete with preconditions that hold: %v", err)
	}
}

func TestDeleteCollection(t *testing.T) {
	s := newServer(t)
	ctx := t.Context()
	cms := typed(t, s, nil).CoreV1().ConfigMaps("velero")
	for name, tier := range map[string]string{"a": "gold", "b": "silver", "c": "gold"} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}}
		if _, err := cms.Create(ctx, cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := cms.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "tier=gold"}); err != nil {
		t.Fatal(err)
	}
	if left := s.List(configMaps); len(left) != 1 || left[0].GetName() != "b" {
		t.Errorf("left over: %v, want b", left)
	}
}
