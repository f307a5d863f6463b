package apiserver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/velosim/velosim/sim/velero/apiserver"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	gadgets      = schema.GroupVersionResource{Group: "example.io", Version: "v1", Resource: "gadgets"}
	gadgetsAlpha = schema.GroupVersionResource{Group: "example.io", Version: "v1alpha1", Resource: "gadgets"}
)

// gadgetCRD has what Velero's CRDs lack: a status subresource, defaults, a second version, and a validation rule.
func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	withDefault := text
	withDefault.Default = &apiextensionsv1.JSON{Raw: []byte(`"grey"`)}
	set, preserve := "set", true
	properties := func(spec map[string]apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceValidation {
		return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Required: []string{"spec"},
			Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"spec": {Type: "object", Properties: spec, XValidations: apiextensionsv1.ValidationRules{
					{Rule: "self.colour != 'beige'", Message: "no beige"},
				}},
				"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"phase": {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"Ready"`)}}},
				}},
			},
		}}
	}
	subresources := &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.example.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{
					Name: "v1alpha1", Served: true, Subresources: subresources,
					Schema: properties(map[string]apiextensionsv1.JSONSchemaProps{"colour": withDefault}),
				},
				{
					Name: "v1", Served: true, Storage: true, Subresources: subresources,
					Schema: properties(map[string]apiextensionsv1.JSONSchemaProps{
						"colour": withDefault, "size": {Type: "integer"},
						"template": {Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: &preserve},
						"tags":     {Type: "array", XListType: &set, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
					}),
				},
			},
		},
	}
}

func gadget(name string, spec map[string]any) *unstructured.Unstructured {
	return object(gadgets, "Gadget", name, map[string]any{"spec": spec, "status": map[string]any{"phase": "Ready"}})
}

func TestPruning(t *testing.T) {
	s := newServer(t)
	c := untyped(t, s, nil)
	b := object(backups, "Backup", "b", map[string]any{
		"unknown": true,
		"spec":    map[string]any{"ttl": "1h0m0s", "flavour": "sweet"},
	})
	b.Object["metadata"].(map[string]any)["mood"] = "good"
	created, err := c.Resource(backups).Namespace("velero").Create(t.Context(), b, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cm := object(configMaps, "ConfigMap", "cm", map[string]any{"data": map[string]any{"k": "v"}, "unknown": true})
	if _, err := c.Resource(configMaps).Namespace("velero").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"spec":{"flavour":"sour"}}`)
	patched, err := c.Resource(backups).Namespace("velero").Patch(t.Context(), "b", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}

	got := mustGet(t, s, backups, "b")
	if patched.GetResourceVersion() != created.GetResourceVersion() {
		t.Errorf("a patch of unknown fields alone changed something: %v", patched)
	}
	_, mood := got.Object["metadata"].(map[string]any)["mood"]
	_, unknown := got.Object["unknown"]
	if d := cmp.Diff(map[string]any{"ttl": "1h0m0s"}, got.Object["spec"]); d != "" || mood || unknown {
		t.Errorf("unknown fields were not pruned: %v", got.Object)
	}
	if _, unknown := mustGet(t, s, configMaps, "cm").Object["unknown"]; unknown {
		t.Error("an unknown field of a built-in type was not pruned")
	}
}

func TestEmbeddedMetadata(t *testing.T) {
	s := newServer(t, gadgetCRD())
	template := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "mood": "good"}, "extra": "kept"}
	g := gadget("g", map[string]any{"template": template})
	if _, err := untyped(t, s, nil).Resource(gadgets).Namespace("velero").Create(t.Context(), g, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := mustGet(t, s, gadgets, "g").Object["spec"].(map[string]any)["template"]
	want := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}, "extra": "kept"}
	if d := cmp.Diff(any(want), got); d != "" {
		t.Errorf("embedded object (-want +got):\n%s", d)
	}
}

func TestInvalidCustomResources(t *testing.T) {
	s := newServer(t, gadgetCRD())
	c := untyped(t, s, nil)
	for _, test := range []struct {
		name   string
		gvr    schema.GroupVersionResource
		object *unstructured.Unstructured
		field  string
	}{
		{
			"unknown phase", backups,
			object(backups, "Backup", "b", map[string]any{"status": map[string]any{"phase": "Dreaming"}}), "status.phase",
		},
		{
			"wrong type", backups,
			object(backups, "Backup", "b", map[string]any{"spec": map[string]any{"includedNamespaces": "app"}}), "spec.includedNamespaces",
		},
		{"required property", gadgets, object(gadgets, "Gadget", "g", nil), "spec"},
		{"validation rule", gadgets, gadget("g", map[string]any{"colour": "beige"}), "spec"},
		{
			"embedded object without a kind", gadgets,
			gadget("g", map[string]any{"template": map[string]any{"apiVersion": "v1"}}), "spec.template.kind",
		},
		{"duplicate in a set", gadgets, gadget("g", map[string]any{"tags": []any{"a", "a"}}), "spec.tags[1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.Resource(test.gvr).Namespace("velero").Create(t.Context(), test.object, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) {
				t.Fatalf("got %v, want Invalid", err)
			}
			causes := err.(apierrors.APIStatus).Status().Details.Causes
			if len(causes) == 0 || causes[0].Field != test.field {
				t.Errorf("causes %+v, want the field %s", causes, test.field)
			}
		})
	}

	t.Run("by patch", func(t *testing.T) {
		if err := controllerRuntime(t, s, nil).Create(t.Context(), newBackup("valid")); err != nil {
			t.Fatal(err)
		}
		before := mustGet(t, s, backups, "valid")
		for patch, want := range map[string]string{
			`{"status":{"phase":"Dreaming"}}`:                  `status.phase: Unsupported value: "Dreaming"`,
			`{"status":"Dreaming"}`:                            `status: Invalid value: "string"`,
			`{"spec":{"hooks":{"resources":[{"name":1}]}}}`:    `spec.hooks.resources[0].name: Invalid value: "integer"`,
			`{"spec":{"hooks":{"resources":[{"name":null}]}}}`: "spec.hooks.resources[0].name: Required value",
		} {
			_, err := c.Resource(backups).Namespace("velero").Patch(t.Context(), "valid", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", patch, err, want)
			}
		}
		if mustGet(t, s, backups, "valid") != before {
			t.Error("the rejected patch changed the object")
		}
	})
}

func TestStatusSubresource(t *testing.T) {
	s := newServer(t, gadgetCRD())
	c := untyped(t, s, nil).Resource(gadgets).Namespace("velero")
	ctx := t.Context()
	created, err := c.Create(ctx, gadget("g", map[string]any{"size": int64(1)}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := created.Object["status"]; ok {
		t.Errorf("create set the status: %v", created.Object)
	}
	if d := cmp.Diff(map[string]any{"colour": "grey", "size": int64(1)}, created.Object["spec"]); d != "" {
		t.Errorf("spec, with its default (-want +got):\n%s", d)
	}

	both := []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"size":2},"status":{"phase":"Ready"}}`)
	got, err := c.Patch(ctx, "g", types.MergePatchType, both, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	want := created.DeepCopy()
	want.Object["status"] = map[string]any{"phase": "Ready"}
	want.SetResourceVersion(got.GetResourceVersion())
	if d := cmp.Diff(want, got); d != "" || got.GetGeneration() != 1 {
		t.Errorf("a patch of the status subresource (-want +got):\n%s", d)
	}

	got, err = c.Patch(ctx, "g", types.MergePatchType, []byte(`{"spec":{"size":2},"status":null}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetGeneration() != 2 {
		t.Errorf("generation %d after a change of the spec, want 2", got.GetGeneration())
	}
	if d := cmp.Diff(map[string]any{"phase": "Ready"}, got.Object["status"]); d != "" {
		t.Errorf("a patch of the object changed its status (-want +got):\n%s", d)
	}
	got, err = c.Patch(ctx, "g", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	if err != nil || got.GetGeneration() != 2 {
		t.Errorf("generation %d after a change of labels (%v), want 2", got.GetGeneration(), err)
	}

	got.Object["status"] = map[string]any{"phase": "Broken"}
	if _, err := c.UpdateStatus(ctx, got, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("invalid status: %v, want Invalid", err)
	}
	if _, err := untyped(t, s, nil).Resource(backups).Namespace("velero").Get(ctx, "b", metav1.GetOptions{}, "status"); !apierrors.IsNotFound(err) {
		t.Errorf("status subresource of backups: %v, want NotFound", err)
	}
}

func TestVersions(t *testing.T) {
	s := newServer(t, gadgetCRD())
	c := untyped(t, s, nil)
	if _, err := c.Resource(gadgets).Namespace("velero").Create(t.Context(), gadget("g", map[string]any{"size": int64(1)}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	old, err := c.Resource(gadgetsAlpha).Namespace("velero").Get(t.Context(), "g", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]any{"colour": "grey"}, old.Object["spec"]); d != "" || old.GetAPIVersion() != "example.io/v1alpha1" {
		t.Errorf("as %s (-want +got):\n%s", old.GetAPIVersion(), d)
	}
	// The old version knows no size, so that an update in it loses the size.
	if _, err := c.Resource(gadgetsAlpha).Namespace("velero").Update(t.Context(), old, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := mustGet(t, s, gadgets, "g")
	if d := cmp.Diff(map[string]any{"colour": "grey"}, got.Object["spec"]); d != "" || got.GetAPIVersion() != "example.io/v1" {
		t.Errorf("stored as %s (-want +got):\n%s", got.GetAPIVersion(), d)
	}
}

func TestNewRejects(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*apiextensionsv1.CustomResourceDefinition)
		want  string
	}{
		{"no schema", func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[0].Schema = nil }, "version v1alpha1: it has no schema"},
		{"not structural", func(c *apiextensionsv1.CustomResourceDefinition) {
			c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Description: "of no type"}
		}, "not structural"},
		{"no storage version", func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[1].Storage = false }, "one that is stored"},
		{"a built-in resource", func(c *apiextensionsv1.CustomResourceDefinition) {
			c.Spec.Group, c.Spec.Names.Plural = "batch", "jobs"
		}, "jobs.batch is defined twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			crd := gadgetCRD()
			test.spoil(crd)
			_, err := apiserver.New(apiserver.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New returned %v, want an error with %q", err, test.want)
			}
		})
	}
}
