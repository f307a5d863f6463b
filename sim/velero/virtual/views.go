package virtual

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand"
	"net/http"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/velero/apiserver"
	"github.com/velosim/velosim/sim/velero/server"
)

var _ server.Views = (*incarnation)(nil)

// restConfig leads to the in-memory API server; what is sent over it is done by who.
func (inc *incarnation) restConfig(who string) *rest.Config {
	return inc.run.restConfig(inc.run.api.Transport(gate{inc, who}))
}

// Manager implements server.Views.
func (inc *incarnation) Manager(controller string) ctrl.Manager {
	return namedManager{inc.mgr, inc, controller}
}

// Cached implements server.Views. Every read is a step.
func (inc *incarnation) Cached(controller string) client.Client {
	return inc.client(controller, cacheReader{
		Reader: inc.mgr.GetCache(), end: inc.ctx,
		before: func(what string) error { return inc.step(controller, what) },
	})
}

// Direct implements server.Views.
func (inc *incarnation) Direct(controller string) client.Client { return inc.client(controller, nil) }

// Kube implements server.Views.
func (inc *incarnation) Kube(controller string) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(inc.restConfig(controller))
}

// Dynamic implements server.Views.
func (inc *incarnation) Dynamic(controller string) dynamic.Interface {
	return dynamic.NewForConfigOrDie(inc.restConfig(controller))
}

// Plugins implements server.Views.
func (inc *incarnation) Plugins(controller string) func(logrus.FieldLogger) clientmgmt.Manager {
	return inc.pluginManager(controller)
}

// client writes to the API server and reads from cached, or from the API server too if that is nil.
func (inc *incarnation) client(who string, cached client.Reader) client.Client {
	cfg := inc.restConfig(who)
	o := client.Options{HTTPClient: &http.Client{Transport: cfg.Transport}, Scheme: inc.run.scheme, Mapper: inc.run.mapper}
	if cached != nil {
		o.Cache = &client.CacheOptions{Reader: cached}
	}
	c, err := client.New(cfg, o)
	if err != nil {
		panic(fmt.Sprintf("client of %s: %v", who, err)) // the configuration above is at fault, no input
	}
	return c
}

// gate makes the requests of one client of an incarnation steps: one for a read; two for a write, as it is applied and as
// its reply is seen; one for each event of a watch.
type gate struct {
	inc *incarnation
	who string
}

func (g gate) Request(_ context.Context, r apiserver.Request) error {
	switch r.Verb {
	case "get", "list", "watch":
		// Velero's restorer waits for its caches, and for nothing else, to sync (pkg/restore/restore.go).
		if g.inc.run.sched.Draining() {
			return nil
		}
	}
	what := fmt.Sprintf("%s %s/%s %s/%s %08x", r.Verb, r.Resource, r.Subresource, r.Namespace, r.Name, hash(r.Body))
	if err := g.inc.step(g.who, what); err != nil {
		return err
	}
	if err := g.request(r, what); err != nil {
		return err
	}
	g.inc.run.writer = writer{g.inc.n, g.who}
	return nil
}

func (g gate) Reply(_ context.Context, r apiserver.Request, _ bool, err error) error {
	switch r.Verb {
	case "get", "list", "watch":
		return nil
	}
	what := fmt.Sprintf("%s %s %s/%s %08x: reply", r.Verb, r.Resource, r.Namespace, r.Name, hash(r.Body))
	return g.reply(err, what)
}

func (g gate) Watch(ctx context.Context, r apiserver.Request, e apiserver.WatchEvent) error {
	for {
		if err := g.inc.step(g.who+"'s watch of "+r.Resource, string(e.Type)); err != nil {
			return err
		}
		released := g.inc.run.faults.connection.released
		if released == nil || e.Object == nil { // an end is not held up
			return nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func hash(b []byte) uint32 {
	h := fnv.New32a()
	h.Write(b)
	return h.Sum32()
}

// factory makes clients for Velero's internal plugins.
type factory struct {
	inc *incarnation
	who string
}

var _ veleroclient.Factory = factory{}

func (f factory) BindFlags(*pflag.FlagSet)            {}
func (f factory) SetBasename(string)                  {}
func (f factory) SetClientQPS(float32)                {}
func (f factory) SetClientBurst(int)                  {}
func (f factory) Namespace() string                   { return veleroNamespace }
func (f factory) ClientConfig() (*rest.Config, error) { return f.inc.restConfig(f.who), nil }

func (f factory) KubeClient() (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(f.inc.restConfig(f.who))
}

func (f factory) DynamicClient() (dynamic.Interface, error) {
	return dynamic.NewForConfig(f.inc.restConfig(f.who))
}

func (f factory) KubebuilderClient() (client.Client, error) { return f.inc.Direct(f.who), nil }

func (f factory) KubebuilderWatchClient() (client.WithWatch, error) {
	cfg := f.inc.restConfig(f.who)
	return client.NewWithWatch(cfg, client.Options{HTTPClient: &http.Client{Transport: cfg.Transport}, Scheme: f.inc.run.scheme, Mapper: f.inc.run.mapper})
}

func (f factory) DiscoveryClient() (discovery.AggregatedDiscoveryInterface, error) {
	c, err := discovery.NewDiscoveryClientForConfig(f.inc.restConfig(f.who))
	return discoveryClient{c, f.inc}, err
}

// discoveryClient lists a group's preferred resources in an order that the seed decides: client-go has them in the order of
// a map, and Velero backs them up in the order in which it discovers them.
type discoveryClient struct {
	discovery.AggregatedDiscoveryInterface
	inc *incarnation
}

func (c discoveryClient) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	lists, err := c.AggregatedDiscoveryInterface.ServerPreferredResources()
	rng := rand.New(rand.NewSource(c.inc.run.job.Seed + int64(c.inc.n)))
	for _, l := range lists {
		slices.SortFunc(l.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
		rng.Shuffle(len(l.APIResources), func(i, j int) { l.APIResources[i], l.APIResources[j] = l.APIResources[j], l.APIResources[i] })
	}
	return lists, err
}
