package apiserver

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// resource is a resource in all its versions, and its objects. The state is guarded by Server.mu.
type resource struct {
	gr         schema.GroupResource
	listKind   string
	singular   string
	shortNames []string
	categories []string
	namespaced bool
	readOnly   bool
	custom     bool       // defined by a CRD
	versions   []*version // those served, the preferred one first
	storage    *version   // the one that objects are stored in; not necessarily served

	objects      []*object // sorted by key
	history      []event   // the newest events, oldest first
	historyLimit int
	forgotten    uint64 // revision of the newest event that fell out of history
	watches      []*watcher
}

// version is a resource in one version.
type version struct {
	*resource
	gvk    schema.GroupVersionKind
	status bool // has a status subresource
	// generation: metadata.generation counts the changes outside metadata.
	generation bool
	kind       kind
	head       string // what encode puts before an object's body
}

// kind is what a version knows about the objects' content.
type kind interface {
	// decode prunes and defaults m, which it may modify, or fails if m cannot be such an object.
	decode(m map[string]any) (map[string]any, error)
	// create completes a new object before it is validated.
	create(m map[string]any)
	// validate says what is wrong with an object. old is nil for a new one.
	validate(object, old *unstructured.Unstructured) field.ErrorList
}

func newVersion(r *resource, gvk schema.GroupVersionKind) *version {
	return &version{
		resource: r, gvk: gvk,
		head: `{"apiVersion":"` + gvk.GroupVersion().String() + `","kind":"` + gvk.Kind + `",`,
	}
}

// encode returns o as JSON. o must have been converted to this version.
func (v *version) encode(o *object) []byte {
	b := make([]byte, 0, len(v.head)+len(o.body))
	b = append(b, v.head...)
	return append(b, o.body[1:]...)
}

// convert returns o in this version, as the conversion strategy None does. A nil o stays nil.
func (v *version) convert(o *object) (*object, error) {
	if o == nil || v == v.storage {
		return o, nil
	}
	m, err := v.convertContent(runtime.DeepCopyJSON(o.content.Object))
	if err != nil {
		return nil, err
	}
	return newObject(m, o.revision)
}

func (v *version) convertContent(m map[string]any) (map[string]any, error) {
	if m["apiVersion"] == v.gvk.GroupVersion().String() {
		return m, nil
	}
	m["apiVersion"] = v.gvk.GroupVersion().String()
	return v.kind.decode(m)
}

func (r *resource) find(key string) (int, bool) {
	return slices.BinarySearchFunc(r.objects, key, func(o *object, key string) int { return strings.Compare(o.key, key) })
}

// get returns nil if there is no such object.
func (r *resource) get(namespace, name string) *object {
	if i, ok := r.find(key(namespace, name)); ok {
		return r.objects[i]
	}
	return nil
}

// in returns the objects of a namespace, or all if it is empty. The slice is not to be kept.
func (r *resource) in(namespace string) []*object {
	if namespace == "" {
		return r.objects
	}
	start, _ := r.find(namespace + "/")
	end, _ := r.find(namespace + "0") // "0" follows "/"
	return r.objects[start:end]
}

func (r *resource) put(o *object) {
	if i, ok := r.find(o.key); ok {
		r.objects[i] = o
	} else {
		r.objects = slices.Insert(r.objects, i, o)
	}
}

func (r *resource) remove(o *object) {
	if i, ok := r.find(o.key); ok {
		r.objects = slices.Delete(r.objects, i, i+1)
	}
}

// event is a change of an object.
type event struct {
	kind watch.EventType
	// object is the new state; for DELETED the last one, with the revision of the deletion.
	object *object
	// old is the state before; nil for ADDED.
	old *object
}

// publish adds an event to the history and hands it to all watches.
func (r *resource) publish(e event) {
	r.history = append(r.history, e)
	if len(r.history) > r.historyLimit {
		r.forgotten = r.history[0].object.revision
		r.history[0] = event{}
		r.history = r.history[1:]
	}
	for _, w := range r.watches {
		w.enqueue(e)
	}
}
