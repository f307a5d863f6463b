package apiserver

import (
	"errors"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// patch returns the object that comes of applying the call's patch, not yet decoded.
func (c *call) patch(before *object) (map[string]any, error) {
	switch {
	case c.PatchType == types.MergePatchType:
		patch, err := c.patchObject()
		if err != nil {
			return nil, err
		}
		return mergePatch(runtime.DeepCopyJSON(before.content.Object), patch), nil
	case c.PatchType == types.StrategicMergePatchType && !c.custom:
		patch, err := c.patchObject()
		if err != nil {
			return nil, err
		}
		typed, err := scheme.Scheme.New(c.gvk)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		m, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(before.content.Object), patch, typed)
		if err != nil {
			return nil, apierrors.NewBadRequest("the strategic merge patch cannot be applied: " + err.Error())
		}
		return m, nil
	case c.PatchType == types.JSONPatchType:
		return c.jsonPatch(before)
	default:
		return nil, unsupportedMediaType(fmt.Sprintf("a patch of type %q to %s", c.PatchType, c.gr))
	}
}

func (c *call) patchObject() (map[string]any, error) {
	var patch map[string]any
	err := json.Unmarshal(c.Body, &patch)
	if err == nil && patch == nil {
		err = errors.New("it must be an object")
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("the patch cannot be decoded: " + err.Error())
	}
	return patch, nil
}

// mergePatch applies a JSON merge patch (RFC 7386). It modifies and returns target, if that is an object.
func mergePatch(target any, patch map[string]any) map[string]any {
	m, ok := target.(map[string]any)
	if !ok || m == nil {
		m = make(map[string]any, len(patch))
	}
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			m[k] = mergePatch(m[k], v)
		default:
			m[k] = v
		}
	}
	return m
}

func (c *call) jsonPatch(before *object) (map[string]any, error) {
	patch, err := jsonpatch.DecodePatch(c.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest("the JSON patch cannot be decoded: " + err.Error())
	}
	patched, err := patch.Apply(c.encode(before))
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	var m map[string]any
	if err := json.Unmarshal(patched, &m); err != nil {
		return nil, apierrors.NewBadRequest("the patched object cannot be decoded: " + err.Error())
	}
	return m, nil
}
