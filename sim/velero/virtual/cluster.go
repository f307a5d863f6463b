package virtual

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	velerocrds "github.com/vmware-tanzu/velero/config/crd/v1/crds"
	velerov2alpha1crds "github.com/vmware-tanzu/velero/config/crd/v2alpha1/crds"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/velero/apiserver"
	"github.com/velosim/velosim/sim/velero/server"
)

const (
	veleroNamespace     = "velero"
	objectStoreProvider = "velosim.io/memory"
)

// newCluster makes the API server and what is there before the server starts.
func (r *run) newCluster() (err error) {
	if r.scheme, err = server.NewScheme(); err != nil {
		return err
	}
	crds, definitions := append(r.lacking(velerocrds.CRDs), velerov2alpha1crds.CRDs...), &r.world.definitions
	if r.job.Scenario.CRDs.Lack() {
		definitions = nil // those of copies are of no use to later runs
	}
	if r.acts() {
		crds, definitions = actions.ExtendCRDs(crds), nil
	}
	sets := slices.ContainsFunc(r.job.Scenario.Items, func(i scenario.Item) bool { return i.Resource() == "statefulsets" })
	if r.api, err = apiserver.New(apiserver.Options{CRDs: crds, Definitions: definitions, Leases: r.acts(), StatefulSets: sets}); err != nil {
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
