package apiserver

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// crdIndex is where builtinResources puts customresourcedefinitions.
const crdIndex = 0

// builtinResources returns the resources that every server has, and those that are wanted.
func builtinResources(o Options) ([]*resource, error) {
	var resources []*resource
	var err error
	add := func(group, kind, plural, shortNames string, properties ...string) {
		gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
		if !scheme.Scheme.Recognizes(gvk) && group != apiextensionsv1.GroupName {
			err = fmt.Errorf("client-go does not know the type %s", gvk)
		}
		has := func(property string) bool { return slices.Contains(properties, property) }
		r := &resource{
			gr:         schema.GroupResource{Group: group, Resource: plural},
			listKind:   kind + "List",
			singular:   strings.ToLower(kind),
			shortNames: strings.Fields(shortNames),
			namespaced: !has("cluster"),
			readOnly:   has("read-only"),
		}
		if has("all") {
			r.categories = []string{"all"}
		}
		v := newVersion(r, gvk)
		v.status = has("status")
		v.generation = has("generation")
		v.kind = builtin{gvk, r.namespaced}
		r.versions, r.storage = []*version{v}, v
		resources = append(resources, r)
	}
	const apps, batch, rbac = "apps", "batch", "rbac.authorization.k8s.io"
	add(apiextensionsv1.GroupName, "CustomResourceDefinition", "customresourcedefinitions", "crd crds",
		"cluster", "status", "read-only")
	add("", "ConfigMap", "configmaps", "cm")
	add("", "Event", "events", "ev")
	add("", "Namespace", "namespaces", "ns", "cluster", "status")
	add("", "Node", "nodes", "no", "cluster", "status")
	add("", "PersistentVolume", "persistentvolumes", "pv", "cluster", "status")
	add("", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", "status")
	add("", "Pod", "pods", "po", "status", "all")
	add("", "Secret", "secrets", "")
	add("", "Service", "services", "svc", "status", "all")
	add("", "ServiceAccount", "serviceaccounts", "sa")
	add(apps, "DaemonSet", "daemonsets", "ds", "status", "generation", "all")
	add(apps, "Deployment", "deployments", "deploy", "status", "generation", "all")
	add(batch, "Job", "jobs", "", "status", "generation", "all")
	add(rbac, "ClusterRole", "clusterroles", "", "cluster")
	add(rbac, "ClusterRoleBinding", "clusterrolebindings", "", "cluster")
	add(rbac, "Role", "roles", "")
	add(rbac, "RoleBinding", "rolebindings", "")
	if o.Leases {
		add("coordination.k8s.io", "Lease", "leases", "")
	}
	if o.StatefulSets {
		add(apps, "StatefulSet", "statefulsets", "sts", "status", "generation", "all")
	}
	return resources, err
}

// builtin is a kind that client-go has a Go type for.
type builtin struct {
	gvk        schema.GroupVersionKind
	namespaced bool
}

// decode makes a round trip through the Go type, which drops unknown fields.
func (b builtin) decode(m map[string]any) (map[string]any, error) {
	typed, err := scheme.Scheme.New(b.gvk)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, typed); err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
}

func (b builtin) create(m map[string]any) {
	if b.gvk.Kind != "Namespace" {
		return
	}
	u := unstructured.Unstructured{Object: m}
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelMetadataName] = u.GetName()
	u.SetLabels(labels)
	m["status"] = map[string]any{"phase": string(corev1.NamespaceActive)}
}

func (b builtin) validate(object, old *unstructured.Unstructured) field.ErrorList {
	metadata := field.NewPath("metadata")
	if old != nil {
		return validation.ValidateObjectMetaAccessorUpdate(object, old, metadata)
	}
	validName := validation.NameIsDNSSubdomain
	switch {
	case b.gvk.Group == "rbac.authorization.k8s.io":
		validName = path.ValidatePathSegmentName
	case b.gvk.Kind == "Namespace":
		validName = validation.NameIsDNSLabel
	case b.gvk.Kind == "Service":
		validName = validation.NameIsDNS1035Label
	}
	return validation.ValidateObjectMetaAccessor(object, b.namespaced, validName, metadata)
}
