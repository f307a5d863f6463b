package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// object is a state of an object. It is never modified, and shared by everyone.
type object struct {
	key      string
	revision uint64
	content  *unstructured.Unstructured
	labels   labels.Set
	// body is the JSON without apiVersion and kind, as a list of a built-in type has it.
	body []byte
}

func key(namespace, name string) string { return namespace + "/" + name }

// newObject takes over content, which must have metadata, and sets its resourceVersion.
func newObject(content map[string]any, revision uint64) (*object, error) {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("metadata must be an object, not %T", content["metadata"])
	}
	metadata["resourceVersion"] = strconv.FormatUint(revision, 10)
	untyped := maps.Clone(content)
	delete(untyped, "apiVersion")
	delete(untyped, "kind")
	body, err := json.Marshal(untyped)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	return &object{key(u.GetNamespace(), u.GetName()), revision, u, u.GetLabels(), body}, nil
}

// at returns the object with another resourceVersion.
func (o *object) at(revision uint64) (*object, error) {
	content := maps.Clone(o.content.Object)
	metadata, _ := content["metadata"].(map[string]any)
	content["metadata"] = maps.Clone(metadata)
	return newObject(content, revision)
}

// uid returns the nth UID.
func uid(n uint64) types.UID { return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", n)) }

// suffix returns the nth suffix of a generated name, in the alphabet that Kubernetes uses (apimachinery's util/rand).
func suffix(n uint64) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	var s [5]byte
	for i := len(s) - 1; i >= 0; i-- {
		s[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return string(s[:])
}

// selector selects the objects of a list, a watch or a deletecollection.
type selector struct {
	namespace string // empty: all
	labels    labels.Selector
	fields    fields.Selector
}

func newSelector(namespace string, o metav1.ListOptions) (selector, error) {
	l, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return selector{}, err
	}
	f, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return selector{}, err
	}
	for _, r := range f.Requirements() {
		if r.Field != "metadata.name" && r.Field != "metadata.namespace" {
			return selector{}, fmt.Errorf("field label not supported: %s", r.Field)
		}
	}
	return selector{namespace, l, f}, nil
}

// matches is false for a nil object.
func (s selector) matches(o *object) bool {
	if o == nil || s.namespace != "" && s.namespace != o.content.GetNamespace() {
		return false
	}
	if !s.labels.Empty() && !s.labels.Matches(o.labels) {
		return false
	}
	return s.fields.Empty() ||
		s.fields.Matches(fields.Set{"metadata.name": o.content.GetName(), "metadata.namespace": o.content.GetNamespace()})
}
