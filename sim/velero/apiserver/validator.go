package apiserver

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validator validates values by a schema. Its properties have validators of their own, so that an update need only validate
// those that it changes: validation is by far the most expensive part of a write.
type validator struct {
	// own is for what the schema says but for its properties. Plain: that is no more than that the value is an object.
	own   crvalidation.SchemaValidator
	plain bool
	// properties are those that have validators of their own, down to a depth.
	properties map[string]*validator
}

// newValidator takes an object's schema apart, and its properties', to the depth.
func newValidator(s apiextensions.JSONSchemaProps, depth int) (v *validator, err error) {
	v = &validator{}
	if depth > 0 {
		v.properties = make(map[string]*validator, len(s.Properties))
		for name, property := range s.Properties {
			if v.properties[name], err = newValidator(property, depth-1); err != nil {
				return nil, err
			}
		}
		s.Properties = nil
		v.plain = reflect.DeepEqual(s, apiextensions.JSONSchemaProps{Type: "object", Description: s.Description})
	}
	v.own, _, err = crvalidation.NewSchemaValidator(&s)
	return v, err
}

// validate validates a value of which what was there before is valid. At is nil for a whole object.
func (v *validator) validate(at *field.Path, value, before any) (errs field.ErrorList) {
	object, isObject := value.(map[string]any)
	if !isObject || !v.plain {
		errs = crvalidation.ValidateCustomResource(at, value, v.own)
	}
	was, _ := before.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		p := v.properties[name]
		if p == nil {
			continue
		}
		old, ok := was[name]
		if ok && equal(object[name], old) {
			continue
		}
		child := field.NewPath(name)
		if at != nil {
			child = at.Child(name)
		}
		errs = append(errs, p.validate(child, object[name], old)...)
	}
	return errs
}
