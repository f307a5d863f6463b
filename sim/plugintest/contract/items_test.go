package contract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/scenario"
)

const (
	settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: app, name: settings}\n"
	volume   = "apiVersion: example.io/v1\nkind: Volume\nmetadata: {namespace: app, name: data}\nspec: {copies: 3}\n"
	volumes  = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: volumes.example.io}\n"
)

// parse reads documents of a file.
func parse(documents ...string) (contract.Items, error) {
	return contract.ParseItems("items.yaml", []byte(strings.Join(documents, "---\n")))
}

// names are the items' names.
func names(t *testing.T, items contract.Items) (names []scenario.Item) {
	t.Helper()
	for _, m := range items.Manifests {
		item, ok := m.Item()
		if !ok {
			t.Errorf("%v has no name", m)
		}
		names = append(names, item)
	}
	return names
}

func TestParseItems(t *testing.T) {
	items, err := parse("# What the plugin is for.\n", volumes, "# Nothing.\n", settings, "\n", volume, "# No more.\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]scenario.Item{"configmaps/app/settings", "volumes.example.io/app/data"}, names(t, items)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	want := scenario.Manifest{
		"apiVersion": "example.io/v1", "kind": "Volume", "metadata": map[string]any{"namespace": "app", "name": "data"},
		"spec": map[string]any{"copies": int64(3)},
	}
	if diff := cmp.Diff(want, items.Manifests[1]); diff != "" {
		t.Errorf("the custom resource (-want +got):\n%s", diff)
	}
	if len(items.Definitions) != 1 || !strings.Contains(items.Definitions[0], "kind: CustomResourceDefinition") ||
		!strings.Contains(items.Definitions[0], "volumes.example.io") || strings.Contains(items.Definitions[0], "ConfigMap") {
		t.Errorf("definitions %q", items.Definitions)
	}
}

// Objects of one name are several if they are of several kinds or in several namespaces.
func TestParseItemsOfOneName(t *testing.T) {
	secret, elsewhere := strings.Replace(settings, "ConfigMap", "Secret", 1), strings.Replace(settings, "namespace: app", "namespace: web", 1)
	items, err := parse(settings, secret, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	want := []scenario.Item{"configmaps/app/settings", "secrets/app/settings", "configmaps/web/settings"}
	if diff := cmp.Diff(want, names(t, items)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestParseItemsSaysWhatIsWrong(t *testing.T) {
	const incomplete = "an object has apiVersion, kind, metadata.namespace and metadata.name"
	for name, tt := range map[string]struct {
		documents []string
		want      []string // each of its own line
	}{
		"broken YAML":       {[]string{settings, "kind: {\n"}, []string{"items.yaml: [5:7] ", "kind: {"}},
		"a text":            {[]string{settings, "ConfigMap\n"}, []string{"items.yaml:5: this is no object of Kubernetes: "}},
		"a key twice":       {[]string{settings, "kind: Pod\nkind: Pod\n"}, []string{"items.yaml: [6:1] mapping key \"kind\" already defined"}},
		"a List":            {[]string{settings, "kind: List\nitems: []\n"}, []string{"items.yaml:5: a list is not taken; write its items as documents"}},
		"a List of nothing": {[]string{"apiVersion: v1\nkind: List\n"}, []string{"items.yaml:1: a list is not taken"}},
		"a ConfigMapList":   {[]string{"apiVersion: v1\nkind: ConfigMapList\nitems: []\n"}, []string{"items.yaml:1: a list is not taken"}},
		"no namespace":      {[]string{settings, "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"}, []string{"items.yaml:5: metadata.namespace is missing"}},
		"no name":           {[]string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: app}\n"}, []string{"items.yaml:1: " + incomplete}},
		"no kind":           {[]string{"apiVersion: v1\nmetadata: {namespace: app, name: x}\n"}, []string{"items.yaml:1: " + incomplete}},
		"one twice":         {[]string{settings, volume, settings}, []string{"items.yaml:10: configmaps/app/settings is there twice; remove one"}},
		"namespace velero": {
			[]string{settings, strings.Replace(settings, "app", "velero", 1)}, []string{"items.yaml:5: the namespace velero is the server's own"},
		},
		"an empty file":     {nil, []string{"items.yaml: it has no object"}},
		"null":              {[]string{"null\n"}, []string{"items.yaml: it has no object"}},
		"comments alone":    {[]string{"# Nothing.\n", "# Nor here.\n"}, []string{"items.yaml: it has no object"}},
		"definitions alone": {[]string{volumes}, []string{"items.yaml: it has no object"}},
		"all that is wrong": {
			[]string{"text\n", settings, "kind: Pod\nmetadata: {namespace: app, name: x}\n", settings},
			[]string{"items.yaml:1: this is no object", "items.yaml:7: " + incomplete, "items.yaml:10: configmaps/app/settings is there twice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tt.documents...)
			if err == nil {
				t.Fatal("no error")
			}
			said := err.Error()
			for _, want := range tt.want {
				_, after, found := strings.Cut(said, want)
				if !found {
					t.Errorf("%q is not said, or not in this order:\n%v", want, err)
				}
				said = after
			}
		})
	}
}

// The items that are there by themselves are of the kinds that plugins are commonly for, several of those that they start operations for.
func TestCommonItems(t *testing.T) {
	items, err := contract.CommonItems()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, item := range names(t, items) {
		resource, _, _ := strings.Cut(string(item), "/")
		count[resource]++
	}
	want := map[string]int{
		"configmaps": 3, "secrets": 2, "serviceaccounts": 1, "services": 1, "persistentvolumeclaims": 2, "pods": 2, "deployments": 1, "statefulsets": 1,
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("items of a kind (-want +got):\n%s", diff)
	}
	if len(items.Definitions) > 0 {
		t.Errorf("definitions %q", items.Definitions)
	}
}
