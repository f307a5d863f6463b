package apiserver

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// decode decodes a body into an object of this version.
func (v *version) decode(body []byte) (map[string]any, *metav1.ObjectMeta, error) {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, nil, apierrors.NewBadRequest("the body cannot be decoded: " + err.Error())
	}
	return v.decodeContent(m)
}

func (v *version) decodeContent(m map[string]any) (map[string]any, *metav1.ObjectMeta, error) {
	u := unstructured.Unstructured{Object: m}
	if gvk := u.GroupVersionKind(); gvk != v.gvk {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the object provided is a %q, and %q is expected here: check its apiVersion and kind", gvk, v.gvk))
	}
	m, err := v.kind.decode(m)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is no %s: %v", v.gvk.Kind, err))
	}
	if untyped := m["metadata"]; untyped != nil && metadataOf(m) == nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("metadata must be an object, not %T", untyped))
	}
	metadata := &metav1.ObjectMeta{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadataOf(m), metadata); err != nil {
		return nil, nil, apierrors.NewBadRequest("metadata cannot be decoded: " + err.Error())
	}
	return m, metadata, nil
}

// place checks that metadata is of the object that the URL names, and fills in its namespace.
func (c *call) place(metadata *metav1.ObjectMeta, name string) error {
	if metadata.Namespace == "" {
		metadata.Namespace = c.Namespace
	}
	if metadata.Namespace != c.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if name != "" && metadata.Name != name {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", metadata.Name, name))
	}
	return nil
}

// metadataOf returns an object's metadata; nil if it has none.
func metadataOf(m map[string]any) map[string]any {
	metadata, _ := m["metadata"].(map[string]any)
	return metadata
}

// setMetadata replaces an object's metadata.
func setMetadata(m map[string]any, metadata *metav1.ObjectMeta) error {
	untyped, err := runtime.DefaultUnstructuredConverter.ToUnstructured(metadata)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	m["metadata"] = untyped
	return nil
}
