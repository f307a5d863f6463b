package apiserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestControllerRuntimeClient(t *testing.T) {
	s := newServer(t)
	c := controllerRuntime(t, s, nil)
	ctx := t.Context()

	b := newBackup("b")
	b.Labels = map[string]string{"tier": "gold"}
	if err := c.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	if b.UID == "" || b.ResourceVersion == "" || b.Generation != 1 {
		t.Errorf("created with uid %q, resourceVersion %q, generation %d", b.UID, b.ResourceVersion, b.Generation)
	}
	if b.CreationTimestamp.IsZero() || b.CreationTimestamp.Nanosecond() != 0 || time.Since(b.CreationTimestamp.Time) > time.Minute {
		t.Errorf("creationTimestamp %v: want now, in whole seconds", b.CreationTimestamp)
	}
	if err := c.Create(ctx, newBackup("b")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("created twice: %v, want AlreadyExists", err)
	}
	if err := c.Create(ctx, newBackup("a")); err != nil {
		t.Fatal(err)
	}

	original := b.DeepCopy()
	b.Status.Phase = velerov1.BackupPhaseInProgress
	b.Status.Progress = &velerov1.BackupProgress{TotalItems: 3}
	if err := c.Patch(ctx, b, client.MergeFrom(original)); err != nil {
		t.Fatal(err)
	}
	if b.ResourceVersion == original.ResourceVersion || b.Generation != 2 {
		t.Errorf("patched status has resourceVersion %s (was %s), generation %d, want 2: backups have no status subresource",
			b.ResourceVersion, original.ResourceVersion, b.Generation)
	}

	var got velerov1.Backup
	if err := c.Get(ctx, client.ObjectKeyFromObject(b), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, &got); d != "" {
		t.Errorf("get differs from the patch's reply (-want +got):\n%s", d)
	}

	for _, test := range []struct {
		name    string
		options []client.ListOption
		want    []string
	}{
		{"all, by name", nil, []string{"a", "b"}},
		{"by namespace", []client.ListOption{client.InNamespace("velero")}, []string{"a", "b"}},
		{"of another namespace", []client.ListOption{client.InNamespace("velero-2")}, nil},
		{"by label", []client.ListOption{client.MatchingLabels{"tier": "gold"}}, []string{"b"}},
		{"by field", []client.ListOption{client.MatchingFields{"metadata.name": "a"}}, []string{"a"}},
		{"limited: all at once", []client.ListOption{client.Limit(1)}, []string{"a", "b"}},
	} {
		var list velerov1.BackupList
		if err := c.List(ctx, &list, test.options...); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var names []string
		for _, b := range list.Items {
			names = append(names, b.Name)
		}
		if d := cmp.Diff(test.want, names); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
		if list.ResourceVersion != b.ResourceVersion || list.Continue != "" {
			t.Errorf("%s: resourceVersion %q, want that of the last write, %s; continue %q", test.name, list.ResourceVersion, b.ResourceVersion, list.Continue)
		}
	}
	if err := c.List(ctx, &velerov1.BackupList{}, client.MatchingFields{"spec.storageLocation": "default"}); !apierrors.IsBadRequest(err) {
		t.Errorf("list by an unsupported field: %v, want BadRequest", err)
	}

	if err := c.Delete(ctx, b); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(b), &got); !apierrors.IsNotFound(err) {
		t.Errorf("get after delete: %v, want NotFound", err)
	}
	if err := c.Delete(ctx, b); !apierrors.IsNotFound(err) {
		t.Errorf("deleted twice: %v, want NotFound", err)
	}
}

func TestCreate(t *testing.T) {
	s := newServer(t)
	ctx := t.Context()
	secrets := typed(t, s, nil).CoreV1().Secrets("velero")

	t.Run("generateName", func(t *testing.T) {
		names := map[string]bool{}
		for range 3 {
			secret, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			names[secret.Name] = true
			if len(secret.Name) != len("s-")+5 {
				t.Errorf("generated name %q, want s- and 5 letters", secret.Name)
			}
		}
		if len(names) != 3 {
			t.Errorf("generated names %v are not distinct", names)
		}
	})
	t.Run("the server's metadata cannot be chosen", func(t *testing.T) {
		now := metav1.Now()
		secret, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Name: "own", UID: "mine", CreationTimestamp: metav1.Unix(0, 0), Generation: 7, DeletionTimestamp: &now,
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "me"}},
		}, Data: map[string][]byte{"k": []byte("v")}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if secret.UID == "mine" || secret.CreationTimestamp.Unix() == 0 || secret.Generation != 0 || secret.DeletionTimestamp != nil || secret.ManagedFields != nil {
			t.Errorf("the client's metadata was taken over: %+v", secret.ObjectMeta)
		}
		if string(secret.Data["k"]) != "v" {
			t.Errorf("data %v did not survive", secret.Data)
		}
	})
	for _, test := range []struct {
		name   string
		secret metav1.ObjectMeta
		is     func(error) bool
	}{
		{"in a namespace that does not exist", metav1.ObjectMeta{Namespace: "nowhere", Name: "s"}, apierrors.IsNotFound},
		{"with a resourceVersion", metav1.ObjectMeta{Name: "s", ResourceVersion: "1"}, func(err error) bool {
			return err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
		}},
		{"without a name", metav1.ObjectMeta{}, apierrors.IsInvalid},
		{"with a bad name", metav1.ObjectMeta{Name: "No Name"}, apierrors.IsInvalid},
		{"too large", metav1.ObjectMeta{Name: "s", Annotations: map[string]string{"a": strings.Repeat("x", 3<<20)}}, apierrors.IsRequestEntityTooLargeError},
		{"with a bad label", metav1.ObjectMeta{Name: "s", Labels: map[string]string{"a": "b c"}}, apierrors.IsInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			namespace := test.secret.Namespace
			if namespace == "" {
				namespace = "velero"
			}
			_, err := typed(t, s, nil).CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: test.secret}, metav1.CreateOptions{})
			if !test.is(err) {
				t.Errorf("unexpected error %v", err)
			}
		})
	}
	t.Run("a namespace is active and labelled", func(t *testing.T) {
		ns, err := typed(t, s, nil).CoreV1().Namespaces().Get(ctx, "velero", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if ns.Status.Phase != corev1.NamespaceActive || ns.Labels[corev1.LabelMetadataName] != "velero" {
			t.Errorf("namespace has phase %q and labels %v", ns.Status.Phase, ns.Labels)
		}
	})
}

func TestUpdate(t *testing.T) {
	s := newServer(t)
	ctx := t.Context()
	cms := typed(t, s, nil).CoreV1().ConfigMaps("velero")
	first, err := cms.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change := first.DeepCopy()
	change.Data = map[string]string{"k": "v"}
	change.CreationTimestamp = metav1.Unix(1, 0)
	second, err := cms.Update(ctx, change, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if second.ResourceVersion == first.ResourceVersion || !second.CreationTimestamp.Equal(&first.CreationTimestamp) || second.UID != first.UID {
		t.Errorf("updated metadata %+v; was %+v", second.ObjectMeta, first.ObjectMeta)
	}
	same, err := cms.Update(ctx, second, metav1.UpdateOptions{})
	if err != nil || same.ResourceVersion != second.ResourceVersion {
		t.Errorf("an update that changes nothing made resourceVersion %s of %s (%v)", same.ResourceVersion, second.ResourceVersion, err)
	}
	if _, err := cms.Update(ctx, first, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update of a stale object: %v, want Conflict", err)
	}
	stranger := second.DeepCopy()
	stranger.UID = "other"
	if _, err := cms.Update(ctx, stranger, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update with another UID: %v, want Conflict", err)
	}
	unconditional := second.DeepCopy()
	unconditional.ResourceVersion, unconditional.Data = "", nil
	if _, err := cms.Update(ctx, unconditional, metav1.UpdateOptions{}); err != nil {
		t.Errorf("unconditional update of a built-in type: %v", err)
	}
	missing := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "missing"}}
	if _, err := cms.Update(ctx, missing, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("update of what does not exist: %v, want NotFound", err)
	}

	c := controllerRuntime(t, s, nil)
	b := newBackup("b")
	if err := c.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	b.ResourceVersion = ""
	if err := c.Update(ctx, b); !apierrors.IsInvalid(err) {
		t.Errorf("unconditional update of a custom resource: %v, want Invalid", err)
	}
}

// Real servers leave apiVersion and kind out of the items of built-in lists, and in those of custom resources.
func TestListItems(t *testing.T) {
	s := newServer(t)
	c := controllerRuntime(t, s, nil)
	for _, o := range []client.Object{newBackup("b"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "cm"}}} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	var backups velerov1.BackupList
	var configMaps corev1.ConfigMapList
	for _, list := range []client.ObjectList{&backups, &configMaps} {
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if b, cm := backups.Items[0], configMaps.Items[0]; b.Kind != "Backup" || b.APIVersion != "velero.io/v1" || cm.Kind != "" || cm.APIVersion != "" {
		t.Errorf("items are a %s %s and a %s %s", b.APIVersion, b.Kind, cm.APIVersion, cm.Kind)
	}
}

func TestDirectAccess(t *testing.T) {
	s := newServer(t)
	for _, name := range []string{"b", "a"} {
		if err := controllerRuntime(t, s, nil).Create(context.Background(), newBackup(name)); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, u := range s.List(backups) {
		names = append(names, u.GetName())
	}
	if d := cmp.Diff([]string{"a", "b"}, names); d != "" {
		t.Errorf("List (-want +got):\n%s", d)
	}
	if u := mustGet(t, s, backups, "a"); u.GetKind() != "Backup" || u.GetUID() == "" {
		t.Errorf("Get returned %v", u)
	}
	for _, gvr := range []schema.GroupVersionResource{
		{Group: "nowhere.io", Version: "v1", Resource: "backups"},
		{Group: "velero.io", Version: "v9", Resource: "backups"},
	} {
		if _, ok := s.Get(gvr, "velero", "a"); ok || s.List(gvr) != nil {
			t.Errorf("%v is not served, but was found", gvr)
		}
	}
	if _, ok := s.Get(backups, "velero", "c"); ok {
		t.Error("an object was found that does not exist")
	}
}
