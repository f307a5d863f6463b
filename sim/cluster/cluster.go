package cluster

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/scenario"
)

const (
	// Default is the name of the backup storage location, and LocationObject how traces name it.
	Default        = "default"
	LocationObject = "backupstoragelocation/" + Default
	// Bucket of the location.
	Bucket = "velosim"
)

// Cluster is a scenario in a cluster.
type Cluster struct {
	*scenario.Scenario
	// Velero is the namespace of the server.
	Velero string
	// Suffix is appended to the namespaces of items, so that several scenarios find room in one cluster; empty: nothing is.
	Suffix string
}

// Objects are what is there before the server starts: the namespaces, the location, the scenario's items, and a Deployment of
// Velero, which an internal restore plugin reads.
func (c Cluster) Objects(l Location) ([]client.Object, error) {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Velero}},
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Velero, Name: "velero"},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "velero"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "velero"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "velero", Image: l.Image}}},
				},
			},
		},
		c.location(l),
	}
	for _, namespace := range c.Namespaces() {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	items, err := c.ItemObjects()
	return append(objects, items...), err
}

// ItemObjects are the scenario's items.
func (c Cluster) ItemObjects() ([]client.Object, error) {
	var objects []client.Object
	for _, item := range c.Items {
		inside := c.Inside(item)
		m := metav1.ObjectMeta{Namespace: inside.Namespace(), Name: inside.Name()}
		manifest := c.Manifest(item)
		switch {
		case manifest != nil:
			o := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(manifest)}
			o.SetNamespace(m.Namespace)
			objects = append(objects, o)
		case item.Resource() == "configmaps":
			objects = append(objects, &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"key": "value"}})
		case item.Resource() == "secrets":
			objects = append(objects, &corev1.Secret{ObjectMeta: m, Data: map[string][]byte{"key": []byte("value")}})
		case item.Resource() == "serviceaccounts":
			objects = append(objects, &corev1.ServiceAccount{ObjectMeta: m})
		default:
			return nil, fmt.Errorf("this world cannot create %s without a manifest", item)
		}
	}
	return objects, nil
}

// Namespaces of the items but the server's own, as the cluster has them, without doubles and in order.
func (c Cluster) Namespaces() []string {
	var namespaces []string
	for _, item := range c.Items {
		namespaces = append(namespaces, c.Inside(item).Namespace())
	}
	namespaces = slices.DeleteFunc(namespaces, func(namespace string) bool { return namespace == c.Velero })
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// Inside is the item as the cluster has it.
func (c Cluster) Inside(item scenario.Item) scenario.Item {
	return scenario.Item(item.Resource() + "/" + c.inside(item.Namespace()) + "/" + item.Name())
}

// inside is the namespace as the cluster has it: where it has no room for the suffix, a hash stands for its end.
func (c Cluster) inside(namespace string) string {
	if namespace == scenario.VeleroNamespace {
		return c.Velero
	}
	if room := validation.DNS1123LabelMaxLength - len(c.Suffix); len(namespace) > room {
		hash := fmt.Sprintf("-%x", sha256.Sum256([]byte(namespace)))[:11]
		namespace = namespace[:room-len(hash)] + hash
	}
	return namespace + c.Suffix
}

// Outside is the item, of the cluster, as the scenario has it.
func (c Cluster) Outside(item string) string {
	parts := strings.Split(item, "/")
	if len(parts) == 3 && parts[1] == c.Velero {
		parts[1] = scenario.VeleroNamespace
	}
	for _, other := range c.Items {
		if len(parts) == 3 && parts[1] == c.inside(other.Namespace()) {
			parts[1] = other.Namespace()
			break
		}
	}
	return strings.Join(parts, "/")
}

// Plugins are the scenario's, with their items as the cluster has them.
func (c Cluster) Plugins() []scenario.Plugin {
	plugins := slices.Clone(c.Scenario.Plugins)
	for i := range plugins {
		for _, items := range []*[]scenario.Item{&plugins[i].Execute.AdditionalItems, &plugins[i].Execute.ItemsToUpdate} {
			*items = slices.Clone(*items)
			for j, item := range *items {
				(*items)[j] = c.Inside(item)
			}
		}
	}
	return plugins
}
