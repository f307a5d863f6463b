package cluster

import (
	"fmt"
	"slices"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
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

// Location is where backups are stored.
type Location struct {
	Provider string
	Config   map[string]string
	// Image of Velero's placeholder Deployment.
	Image string
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
		&velerov1.BackupStorageLocation{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Velero, Name: Default},
			Spec: velerov1.BackupStorageLocationSpec{
				Provider: l.Provider, Default: true, Config: l.Config,
				StorageType: velerov1.StorageType{ObjectStorage: &velerov1.ObjectStorageLocation{Bucket: Bucket}},
			},
		},
	}
	for _, namespace := range c.Namespaces() {
		if namespace != c.Velero {
			objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		}
	}
	items, err := c.ItemObjects()
	return append(objects, items...), err
}

// ItemObjects are the scenario's items.
func (c Cluster) ItemObjects() ([]client.Object, error) {
	var objects []client.Object
	for _, item := range c.Items {
		resource, namespace, name := Split(c.Inside(item))
		m := metav1.ObjectMeta{Namespace: namespace, Name: name}
		switch resource {
		case "configmaps":
			objects = append(objects, &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"key": "value"}})
		case "secrets":
			objects = append(objects, &corev1.Secret{ObjectMeta: m, Data: map[string][]byte{"key": []byte("value")}})
		default:
			return nil, fmt.Errorf("this world cannot create %s: it knows configmaps and secrets", item)
		}
	}
	return objects, nil
}

// Namespaces of the items, as the cluster has them, without doubles and in order.
func (c Cluster) Namespaces() []string {
	var namespaces []string
	for _, item := range c.Items {
		_, namespace, _ := Split(c.Inside(item))
		namespaces = append(namespaces, namespace)
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// Split takes resource/namespace/name apart.
func Split(item scenario.Item) (resource, namespace, name string) {
	resource, rest, _ := strings.Cut(string(item), "/")
	namespace, name, _ = strings.Cut(rest, "/")
	return resource, namespace, name
}

// Inside is the item as the cluster has it.
func (c Cluster) Inside(item scenario.Item) scenario.Item {
	resource, namespace, name := Split(item)
	return scenario.Item(resource + "/" + namespace + c.Suffix + "/" + name)
}

// Outside is the item, of the cluster, as the scenario has it.
func (c Cluster) Outside(item string) string {
	parts := strings.Split(item, "/")
	if len(parts) == 3 {
		parts[1] = strings.TrimSuffix(parts[1], c.Suffix)
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

// Backup is the scenario's, and how the trace tells that it was created.
func (c Cluster) NewBackup() (*velerov1.Backup, trace.Created) {
	b := c.Scenario.Backup
	return &velerov1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Velero, Name: b.Name},
		Spec: velerov1.BackupSpec{
			IncludedNamespaces: c.Namespaces(), StorageLocation: Default, SnapshotVolumes: new(false),
			ItemOperationTimeout: metav1.Duration{Duration: b.ItemOperationTimeout.Duration},
		},
	}, trace.Created{ItemOperationTimeout: trace.Time(b.ItemOperationTimeout.Duration)}
}

// NewRestore is the scenario's, and how the trace tells that it was created.
func (c Cluster) NewRestore() (*velerov1.Restore, trace.Created) {
	x, backup := c.Scenario.Restore, c.Scenario.Backup.Name
	return &velerov1.Restore{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Velero, Name: x.Name},
		Spec: velerov1.RestoreSpec{
			BackupName: backup, RestorePVs: new(false),
			ItemOperationTimeout: metav1.Duration{Duration: x.ItemOperationTimeout.Duration},
		},
	}, trace.Created{ItemOperationTimeout: trace.Time(x.ItemOperationTimeout.Duration), Backup: backup}
}
