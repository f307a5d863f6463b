package scenario

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// kind is a kind of object that the cluster can have, and the resource that serves it.
type objectKind struct {
	apiVersion, kind, resource string
	// short: items of it can be written in short, as an object without content is valid.
	short bool
}

func objectKinds() []objectKind {
	return []objectKind{
		{"v1", "ConfigMap", "configmaps", true},
		{"v1", "Secret", "secrets", true},
		{"v1", "ServiceAccount", "serviceaccounts", true},
		{"v1", "Service", "services", false},
		{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", false},
		{"v1", "Pod", "pods", false},
		{"apps/v1", "Deployment", "deployments", false},
		{"apps/v1", "StatefulSet", "statefulsets", false},
		{"velero.io/v1", "VolumeSnapshotLocation", "volumesnapshotlocations", false},
	}
}

// VeleroNamespace is the server's own namespace, as scenarios call it.
const VeleroNamespace = "velero"

// backedUp tells whether the object is there to be backed up, and not for the server.
func (m Manifest) backedUp() bool {
	item, ok := m.Item()
	return !ok || item.Namespace() != VeleroNamespace
}

// UnmarshalJSON implements json.Unmarshaler: whole numbers stay whole, as Kubernetes has them.
func (s *Spec) UnmarshalJSON(b []byte) error {
	var fields map[string]any
	err := json.Unmarshal(b, &fields)
	*s = fields
	return err
}

// UnmarshalJSON implements json.Unmarshaler: whole numbers stay whole, as Kubernetes has them.
func (m *Manifest) UnmarshalJSON(b []byte) error {
	var object map[string]any
	err := json.Unmarshal(b, &object)
	*m = object
	return err
}

// Item is the manifest's object, as the scenario names it; not ok: the manifest does not say.
func (m Manifest) Item() (item Item, ok bool) {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	metadata, _ := m["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	if apiVersion == "" || kind == "" || namespace == "" || name == "" {
		return "", false
	}
	kinds := objectKinds()
	if i := slices.IndexFunc(kinds, func(k objectKind) bool { return k.apiVersion == apiVersion && k.kind == kind }); i >= 0 {
		return Item(kinds[i].resource + "/" + namespace + "/" + name), true
	}
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return Item(resource.GroupResource().String() + "/" + namespace + "/" + name), true
}

// Manifest is the item's; nil: it is written in short.
func (s *Scenario) Manifest(item Item) Manifest {
	for _, m := range s.Manifests {
		if of, ok := m.Item(); ok && of == item {
			return m
		}
	}
	return nil
}
