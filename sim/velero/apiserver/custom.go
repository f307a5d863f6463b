package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// newCustomResource returns the resource that a CRD defines, and the CRD as the server serves it: established.
func newCustomResource(d *definition) (*resource, *unstructured.Unstructured, error) {
	names := d.crd.Spec.Names
	r := &resource{
		gr:         schema.GroupResource{Group: d.crd.Spec.Group, Resource: names.Plural},
		listKind:   names.ListKind,
		singular:   names.Singular,
		shortNames: names.ShortNames,
		categories: names.Categories,
		namespaced: d.crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		custom:     true,
	}
	for i, definition := range d.crd.Spec.Versions {
		v := newVersion(r, schema.GroupVersionKind{Group: d.crd.Spec.Group, Version: definition.Name, Kind: names.Kind})
		v.status = definition.Subresources != nil && definition.Subresources.Status != nil
		v.generation = true
		v.kind = d.kinds[i]
		if definition.Served {
			r.versions = append(r.versions, v)
		}
		if definition.Storage {
			r.storage = v
		}
	}
	if r.gr.Group == "" || r.gr.Resource == "" || names.Kind == "" || r.storage == nil || len(r.versions) == 0 {
		return nil, nil, errors.New("it needs a group, a plural, a kind, a version that is served and one that is stored")
	}
	slices.SortFunc(r.versions, func(a, b *version) int {
		return -apimachineryversion.CompareKubeAwareVersionStrings(a.gvk.Version, b.gvk.Version)
	})

	now := metav1.NewTime(time.Now().Truncate(time.Second))
	crd := apiextensionsv1.CustomResourceDefinition{ObjectMeta: d.crd.ObjectMeta, Status: d.crd.Status}
	crd.TypeMeta = metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"}
	crd.CreationTimestamp, crd.Generation = now, 1
	crd.Status.AcceptedNames = names
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{
			Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "NoConflicts", Message: "no conflicts found",
		},
		{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&crd)
	if err != nil {
		return nil, nil, err
	}
	content["spec"] = d.spec
	return r, &unstructured.Unstructured{Object: content}, nil
}

// customKind is a version of a custom resource. It does what apiextensions-apiserver's pkg/registry/customresource and
// customresource_handler.go do, which cannot be imported without a whole API server. Ratcheting is left out: the CRD does
// not change, so that no stored object is invalid.
type customKind struct {
	namespaced bool
	structural *structuralschema.Structural
	schema     *validator
	rules      *cel.Validator // nil without x-kubernetes-validations
	// embedded: some field is a whole object with metadata of its own; keyed: some list is a set or a map. Most CRDs have
	// neither, and can do without a walk over the object.
	embedded, keyed bool
}

func newCustomKind(definition *apiextensionsv1.CustomResourceDefinitionVersion, namespaced bool) (*customKind, error) {
	if definition.Schema == nil || definition.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("it has no schema")
	}
	var root apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Schema.OpenAPIV3Schema, &root, nil)
	if err != nil {
		return nil, err
	}
	k := &customKind{namespaced: namespaced}
	if k.structural, err = structuralschema.NewStructural(&root); err != nil {
		return nil, fmt.Errorf("its schema is not structural: %w", err)
	}
	if errs := structuralschema.ValidateStructural(field.NewPath("schema"), k.structural); len(errs) > 0 {
		return nil, fmt.Errorf("its schema is not structural: %w", errs.ToAggregate())
	}
	if k.schema, err = newValidator(root, 2); err != nil { // of objects, and of what is in their spec and status
		return nil, err
	}
	k.rules = cel.NewValidator(k.structural, true, celconfig.PerCallLimit)
	(&structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		k.embedded = k.embedded || s.XEmbeddedResource
		k.keyed = k.keyed || s.XListType != nil && *s.XListType != "atomic"
		return false
	}}).Visit(k.structural)
	return k, nil
}

func (k *customKind) decode(m map[string]any) (map[string]any, error) {
	pruning.Prune(m, k.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(m, k.structural)
	if k.embedded {
		if err := objectmeta.Coerce(nil, m, k.structural, false, false); err != nil {
			return nil, err
		}
	}
	defaulting.Default(m, k.structural)
	return m, nil
}

func (k *customKind) create(map[string]any) {}

func (k *customKind) validate(object, old *unstructured.Unstructured) field.ErrorList {
	metadata := field.NewPath("metadata")
	var errs field.ErrorList
	var before map[string]any
	if old == nil {
		errs = validation.ValidateObjectMetaAccessor(object, k.namespaced, validation.NameIsDNSSubdomain, metadata)
	} else {
		errs = validation.ValidateObjectMetaAccessorUpdate(object, old, metadata)
		before = old.Object
	}
	errs = append(errs, k.schema.validate(nil, object.Object, before)...)
	if k.embedded {
		errs = append(errs, objectmeta.Validate(nil, object.Object, k.structural, false)...)
	}
	if k.keyed {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object.Object)...)
	}
	if k.rules == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil,
				"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	ruleErrs, _ := k.rules.Validate(context.Background(), nil, k.structural, object.Object, before, celconfig.RuntimeCELCostBudget)
	return append(errs, ruleErrs...)
}
