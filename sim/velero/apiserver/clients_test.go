package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/velosim/velosim/sim/velero/apiserver"
	v1crds "github.com/vmware-tanzu/velero/config/crd/v1/crds"
	v2alpha1crds "github.com/vmware-tanzu/velero/config/crd/v2alpha1/crds"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	backups    = velerov1.SchemeGroupVersion.WithResource("backups")
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
)

// newServer serves Velero's CRDs and more, and has a namespace velero.
func newServer(t testing.TB, more ...*apiextensionsv1.CustomResourceDefinition) *apiserver.Server {
	t.Helper()
	s, err := apiserver.New(apiserver.Options{CRDs: append(append(more, v1crds.CRDs...), v2alpha1crds.CRDs...)})
	if err != nil {
		t.Fatal(err)
	}
	createNamespace(t, s)
	return s
}

func createNamespace(t testing.TB, s *apiserver.Server) {
	t.Helper()
	velero := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "velero"}}
	if _, err := typed(t, s, nil).CoreV1().Namespaces().Create(t.Context(), velero, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func config(s *apiserver.Server, g apiserver.Gate) *rest.Config {
	return &rest.Config{
		Host: "http://apiserver", Transport: s.Transport(g), QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
}

func typed(t testing.TB, s *apiserver.Server, g apiserver.Gate) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfigAndClient(config(s, g), &http.Client{Transport: s.Transport(g)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func untyped(t testing.TB, s *apiserver.Server, g apiserver.Gate) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(config(s, g))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func controllerRuntime(t testing.TB, s *apiserver.Server, g apiserver.Gate) client.WithWatch {
	t.Helper()
	c, err := client.NewWithWatch(config(s, g), client.Options{Scheme: veleroScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func veleroScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, velerov1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func newBackup(name string) *velerov1.Backup {
	return &velerov1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: name},
		Spec:       velerov1.BackupSpec{IncludedNamespaces: []string{"app"}, StorageLocation: "default"},
	}
}

// object is an unstructured object of the namespace velero; more is merged into its top level.
func object(gvr schema.GroupVersionResource, kind, name string, more map[string]any) *unstructured.Unstructured {
	m := map[string]any{
		"apiVersion": gvr.GroupVersion().String(), "kind": kind,
		"metadata": map[string]any{"namespace": "velero", "name": name},
	}
	for k, v := range more {
		m[k] = v
	}
	return &unstructured.Unstructured{Object: m}
}

func mustGet(t testing.TB, s *apiserver.Server, gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	t.Helper()
	u, ok := s.Get(gvr, "velero", name)
	if !ok {
		t.Fatalf("%s velero/%s does not exist", gvr.Resource, name)
	}
	return u
}
