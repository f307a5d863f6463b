package scenario_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/vmware-tanzu/velero/config/crd/v1/crds"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestSpecs keeps what the parser knows of Velero's API in step with its CRDs.
func TestSpecs(t *testing.T) {
	specs := map[string]any{}
	for _, kind := range []string{"Backup", "Restore"} {
		i := slices.IndexFunc(crds.CRDs, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Spec.Names.Kind == kind })
		if i < 0 {
			t.Fatalf("Velero has no CRD of %s", kind)
		}
		b, err := json.Marshal(crds.CRDs[i].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
		if err != nil {
			t.Fatal(err)
		}
		var spec map[string]any
		if err := json.Unmarshal(b, &spec); err != nil {
			t.Fatal(err)
		}
		specs[map[string]string{"Backup": "backup", "Restore": "restore"}[kind]] = checked(spec)
	}
	b, err := json.MarshalIndent(specs, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "specs.json", append(b, '\n'))
}

// checked is what the parser checks of a schema.
func checked(schema map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"type", "required", "enum", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"} {
		if value, ok := schema[name]; ok {
			out[name] = value
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[name].(map[string]any); ok {
			out[name] = checked(inner)
		}
	}
	if fields, ok := schema["properties"].(map[string]any); ok {
		properties := map[string]any{}
		for name, field := range fields {
			properties[name] = checked(field.(map[string]any))
		}
		out["properties"] = properties
	}
	return out
}
