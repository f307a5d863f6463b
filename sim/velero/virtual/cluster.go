package virtual

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	volumegroupsnapshotv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	velerocrds "github.com/vmware-tanzu/velero/config/crd/v1/crds"
	velerov2alpha1crds "github.com/vmware-tanzu/velero/config/crd/v2alpha1/crds"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	velerov2alpha1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v2alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/velero/apiserver"
)

const (
	veleroNamespace     = "velero"
	objectStoreProvider = "velosim.io/memory"
)

// newScheme holds what the real server's scheme holds (Velero pkg/cmd/server/server.go, newServer).
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		velerov1.AddToScheme, velerov2alpha1.AddToScheme, corev1.AddToScheme, snapshotv1.AddToScheme,
		volumegroupsnapshotv1beta2.AddToScheme, batchv1.AddToScheme, appsv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("failed to make the scheme: %w", err)
		}
	}
	return s, nil
}

// newCluster makes the API server and what is there before the server starts.
func (r *run) newCluster() (err error) {
	if r.scheme, err = newScheme(); err != nil {
		return err
	}
	crds := append(velerocrds.CRDs[:len(velerocrds.CRDs):len(velerocrds.CRDs)], velerov2alpha1crds.CRDs...)
	if r.api, err = apiserver.New(apiserver.Options{CRDs: crds, Definitions: &r.world.definitions}); err != nil {
		return err
	}
	if r.mapper, err = r.newMapper(); err != nil {
		return err
	}
	objects, err := r.cluster.Objects(location())
	if err != nil {
		return err
	}
	c := r.userClient()
	for _, o := range objects {
		if err := c.Create(context.Background(), o); err != nil {
			return fmt.Errorf("failed to create %T %s: %w", o, o.GetName(), err)
		}
		r.world.steps.Add(1) // a sign of life
	}
	return nil
}

// location is where backups are stored.
func location() cluster.Location {
	return cluster.Location{Provider: objectStoreProvider, Image: "velero/velero:v" + Velero}
}

// newMapper knows what the API server serves. controller-runtime's own mapper would too, but a client asks it at every request,
// and it looks through every priority each time.
func (r *run) newMapper() (meta.RESTMapper, error) {
	c, err := discovery.NewDiscoveryClientForConfig(r.restConfig(r.api.Transport(nil)))
	if err != nil {
		return nil, err
	}
	_, lists, err := c.ServerGroupsAndResources()
	if err != nil {
		return nil, fmt.Errorf("failed to discover what the API server serves: %w", err)
	}
	m := meta.NewDefaultRESTMapper(nil)
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, x := range list.APIResources {
			scope := meta.RESTScopeRoot
			if x.Namespaced {
				scope = meta.RESTScopeNamespace
			}
			if !strings.Contains(x.Name, "/") {
				m.AddSpecific(gv.WithKind(x.Kind), gv.WithResource(x.Name), gv.WithResource(x.SingularName), scope)
				m.Add(gv.WithKind(x.Kind+"List"), scope) // the cache asks for it
			}
		}
	}
	return m, nil
}

func (r *run) restConfig(transport http.RoundTripper) *rest.Config {
	const json = "application/json"
	return &rest.Config{
		Host: "http://apiserver.invalid", Transport: transport, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: json, AcceptContentTypes: json},
	}
}

// userGate lets the user's requests through at once: the world makes them when everything is blocked.
type userGate struct{ r *run }

func (g userGate) Request(context.Context, apiserver.Request) error {
	g.r.writer = writer{client: "user"}
	return nil
}

func (userGate) Reply(context.Context, apiserver.Request, bool, error) error { return nil }

func (userGate) Watch(context.Context, apiserver.Request, apiserver.WatchEvent) error { return nil }

// userClient is the user's client.
func (r *run) userClient() client.Client {
	cfg := r.restConfig(r.api.Transport(userGate{r}))
	c, err := client.New(cfg, client.Options{HTTPClient: &http.Client{Transport: cfg.Transport}, Scheme: r.scheme, Mapper: r.mapper})
	if err != nil {
		panic(fmt.Sprintf("client of the user: %v", err)) // the configuration above is at fault, no input
	}
	return c
}

// objectOf is how the trace names what a request is about: backup/backup-1; resource/namespace/name outside Velero's
// namespace.
func objectOf(r apiserver.Request) string {
	if r.Group == velerov1.SchemeGroupVersion.Group && r.Namespace == veleroNamespace {
		return strings.TrimSuffix(r.Resource, "s") + "/" + r.Name
	}
	if r.Namespace == "" {
		return r.Resource + "/" + r.Name
	}
	return r.Resource + "/" + r.Namespace + "/" + r.Name
}

func phaseOf(o *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return phase
}
