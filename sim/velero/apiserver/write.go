package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// maxBody is the largest body of a write that k8s.io/apiserver takes (MaxRequestBodyBytes, pkg/server/config.go).
const maxBody = 3 << 20

// write applies a write, and returns when the observers have seen it.
func (s *Server) write(c *call) (answer, error) {
	s.mu.Lock()
	var a answer
	var err error
	var last *observation
	if c.Verb == "deletecollection" {
		a, last, err = s.deleteCollection(c)
	} else {
		old := c.get(c.Namespace, c.Name)
		var now *object
		switch {
		case len(c.Body) > maxBody:
			err = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
		case c.Verb == "create":
			old, now, a, err = s.create(c)
		case c.Verb == "delete":
			now, a, err = s.delete(c, old)
		default:
			now, a, err = s.update(c, old)
		}
		a.changed = err == nil && old != now
		last = s.record(newWrite(c.Request, old, now, err))
	}
	s.mu.Unlock()
	s.observe(last)
	return a, err
}

func newWrite(r Request, old, now *object, err error) Write {
	w := Write{Request: r, Err: err}
	if old != nil {
		w.Old = old.content
	}
	if now != nil {
		w.New = now.content
	}
	return w
}

// create returns the object that stands in the way, if any, and the new one.
func (s *Server) create(c *call) (old, now *object, a answer, err error) {
	m, metadata, err := c.decode(c.Body)
	if err != nil {
		return nil, nil, a, err
	}
	if err := c.place(metadata, ""); err != nil {
		return nil, nil, a, err
	}
	if c.namespaced && s.resources[schema.GroupResource{Resource: "namespaces"}].get("", c.Namespace) == nil {
		return nil, nil, a, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, c.Namespace)
	}
	if metadata.ResourceVersion != "" {
		return nil, nil, a, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "resourceVersion should not be set on objects to be created",
		}}
	}
	for generate := metadata.Name == "" && metadata.GenerateName != ""; generate; generate = c.get(c.Namespace, metadata.Name) != nil {
		metadata.Name = metadata.GenerateName + suffix(s.names)
		s.names++
	}
	metadata.UID = uid(s.uids + 1)
	metadata.CreationTimestamp = metav1.NewTime(time.Now().Truncate(time.Second))
	metadata.DeletionTimestamp, metadata.DeletionGracePeriodSeconds = nil, nil
	metadata.ManagedFields = nil
	metadata.Generation = 0
	if c.generation {
		metadata.Generation = 1
	}
	if c.status {
		delete(m, "status")
	}
	if err := setMetadata(m, metadata); err != nil {
		return nil, nil, a, err
	}
	c.kind.create(m)
	if errs := c.kind.validate(&unstructured.Unstructured{Object: m}, nil); len(errs) > 0 {
		return nil, nil, a, apierrors.NewInvalid(c.gvk.GroupKind(), metadata.Name, errs)
	}
	if old := c.get(c.Namespace, metadata.Name); old != nil {
		return old, nil, a, apierrors.NewAlreadyExists(c.gr, metadata.Name)
	}
	if now, err = s.store(c, m, nil); err != nil {
		return nil, nil, a, err
	}
	s.uids++
	a, err = c.answer(http.StatusCreated, now)
	return nil, now, a, err
}

// update puts or patches old, as k8s.io/apiserver's rest.BeforeUpdate and registry.Store.Update do.
func (s *Server) update(c *call, old *object) (now *object, a answer, err error) {
	if old == nil {
		return nil, a, apierrors.NewNotFound(c.gr, c.Name)
	}
	before, err := c.convert(old)
	if err != nil {
		return nil, a, apierrors.NewInternalError(err)
	}
	m, metadata, err := c.requested(before)
	if err != nil {
		return nil, a, err
	}
	was := before.content
	if err := c.checkRevision(metadata, was); err != nil {
		return nil, a, err
	}
	metadata.ManagedFields = nil
	metadata.Generation = was.GetGeneration()
	metadata.CreationTimestamp = was.GetCreationTimestamp()
	if was.GetDeletionTimestamp() != nil { // it cannot be taken back
		metadata.DeletionTimestamp = was.GetDeletionTimestamp()
		metadata.DeletionGracePeriodSeconds = was.GetDeletionGracePeriodSeconds()
	}
	if err := setMetadata(m, metadata); err != nil {
		return nil, a, err
	}
	m = c.separateStatus(m, was.Object)
	if c.generation && c.Subresource == "" && !equalOutsideMetadata(m, was.Object) {
		metadataOf(m)["generation"] = was.GetGeneration() + 1
	}
	object := &unstructured.Unstructured{Object: m}
	if errs := c.kind.validate(object, was); len(errs) > 0 {
		return nil, a, apierrors.NewInvalid(c.gvk.GroupKind(), c.Name, errs)
	}
	if was.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
		// The writer sees its own object, with the resourceVersion that it had.
		last, err := newObject(m, old.revision)
		if err != nil {
			return nil, a, apierrors.NewInternalError(err)
		}
		return nil, answer{code: http.StatusOK, body: c.encode(last)}, s.remove(c, old)
	}
	if now, err = s.store(c, m, old); err != nil {
		return nil, a, err
	}
	a, err = c.answer(http.StatusOK, now)
	return now, a, err
}

// requested returns the object that an update or patch asks for.
func (c *call) requested(before *object) (map[string]any, *metav1.ObjectMeta, error) {
	var m map[string]any
	var metadata *metav1.ObjectMeta
	var err error
	if c.Verb == "patch" {
		if m, err = c.patch(before); err == nil {
			m, metadata, err = c.decodeContent(m)
		}
	} else {
		m, metadata, err = c.decode(c.Body)
	}
	if err != nil {
		return nil, nil, err
	}
	return m, metadata, c.place(metadata, c.Name)
}

// checkRevision checks that the writer has seen the object as it is, if it says what it has seen.
func (c *call) checkRevision(metadata *metav1.ObjectMeta, was *unstructured.Unstructured) error {
	if metadata.UID == "" {
		metadata.UID = was.GetUID()
	} else if metadata.UID != was.GetUID() && c.Verb == "update" {
		return apierrors.NewConflict(c.gr, c.Name,
			fmt.Errorf("precondition failed: UID in precondition: %s, UID in object meta: %s", metadata.UID, was.GetUID()))
	}
	switch {
	case metadata.ResourceVersion == "" && c.custom:
		return apierrors.NewInvalid(c.gvk.GroupKind(), c.Name, field.ErrorList{field.Invalid(
			field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	case metadata.ResourceVersion == "":
		metadata.ResourceVersion = was.GetResourceVersion()
	case metadata.ResourceVersion != was.GetResourceVersion():
		return apierrors.NewConflict(c.gr, c.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

// separateStatus keeps status and everything else apart where there is a status subresource.
func (c *call) separateStatus(m, was map[string]any) map[string]any {
	target, source := m, was
	if c.Subresource == "status" {
		target, source = runtime.DeepCopyJSON(was), m
	} else if !c.status {
		return m
	}
	if status, ok := source["status"]; ok {
		target["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(target, "status")
	}
	return target
}

func equalOutsideMetadata(a, b map[string]any) bool {
	for k, v := range a {
		if k != "metadata" && !equal(v, b[k]) {
			return false
		}
	}
	return len(a) == len(b) // both have metadata
}

// store stores m, which is in the call's version, at a new revision. It returns old if that is no change.
func (s *Server) store(c *call, m map[string]any, old *object) (*object, error) {
	m, err := c.storage.convertContent(m)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if old != nil && equal(m, old.content.Object) {
		return old, nil
	}
	o, err := newObject(m, s.revision+1)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	kind := watch.Modified
	if old == nil {
		kind = watch.Added
	}
	s.commit(c.resource, event{kind, o, old})
	return o, nil
}

// commit applies an event, whose object has the next revision.
func (s *Server) commit(r *resource, e event) {
	s.revision++
	if e.kind == watch.Deleted {
		r.remove(e.old)
	} else {
		r.put(e.object)
	}
	r.publish(e)
}
