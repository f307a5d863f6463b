package prepost

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/velosim/velosim/sim/actions"
)

const plugin = "example.io/quiesce"

// cluster is an API server. It implements Views.
type cluster struct {
	client client.Client
	kube   kubernetes.Interface
}

func (c cluster) Direct(string) client.Client       { return c.client }
func (c cluster) Kube(string) kubernetes.Interface  { return c.kube }
func (c cluster) get(t *testing.T) *velerov1.Backup { t.Helper(); return read(t, c.client) }
func (c cluster) leases(t *testing.T) (names []string) {
	t.Helper()
	l, err := c.kube.CoordinationV1().Leases("velero").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range l.Items {
		names = append(names, x.Name)
	}
	return names
}

func (c cluster) Plugins(string) func(logrus.FieldLogger) clientmgmt.Manager {
	return func(logrus.FieldLogger) clientmgmt.Manager { return noPlugins{} }
}

// noPlugins is a plugin manager whose object stores nobody asks for.
type noPlugins struct{ clientmgmt.Manager }

func (noPlugins) CleanupClients() {}

func read(t *testing.T, c client.Client) *velerov1.Backup {
	b := &velerov1.Backup{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "velero", Name: "b"}, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func newCluster(t *testing.T, objects ...client.Object) cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := velerov1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	location := &velerov1.BackupStorageLocation{ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "default"}}
	return cluster{
		client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, location)...).Build(), kube: kubefake.NewClientset(),
	}
}

func newBackup(phase velerov1.BackupPhase) *velerov1.Backup {
	return &velerov1.Backup{
		TypeMeta:   metav1.TypeMeta{APIVersion: "velero.io/v1", Kind: "Backup"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "b", UID: "uid-1"},
		Spec:       velerov1.BackupSpec{StorageLocation: "default"},
		Status:     velerov1.BackupStatus{Phase: phase},
	}
}

// begun is a backup whose run has begun, and of whose actions these are known.
func begun(phase velerov1.BackupPhase, r record) *velerov1.Backup {
	b := newBackup(phase)
	mark(b)
	r.Run = b.UID
	b.Annotations[Annotation] = r.encode()
	return b
}

// scripted are plugins that do what a function says. They implement Plugins, and Caller.
type scripted struct {
	all []framework.PluginIdentifier
	do  func(context.Context, common.PluginKind) error
}

func (s scripted) List() []framework.PluginIdentifier     { return s.all }
func (s scripted) Open(string, logrus.FieldLogger) Caller { return s }
func (scripted) Close()                                   {}
func (s scripted) Execute(ctx context.Context, p framework.PluginIdentifier, _ metav1.Object) error {
	return s.do(ctx, p.Kind)
}

// quiesce is a plugin with both actions of backups.
func quiesce(do func(context.Context, common.PluginKind) error) scripted {
	return scripted{do: do, all: []framework.PluginIdentifier{
		{Kind: actions.PluginKindPreBackupAction, Name: plugin}, {Kind: actions.PluginKindPostBackupAction, Name: plugin},
	}}
}

// hung is an object store that never answers.
type hung struct {
	persistence.ObjectBackupStoreGetter
	until <-chan struct{}
}

func (h hung) Get(*velerov1.BackupStorageLocation, persistence.ObjectStoreGetter, logrus.FieldLogger) (persistence.BackupStore, error) {
	<-h.until
	return nil, io.EOF
}

func newServer(ctx context.Context, c cluster, identity string, p Plugins) *Server {
	log := logrus.New()
	log.Out = io.Discard
	return &Server{
		Context: ctx, Namespace: "velero", ResourceTimeout: 10 * time.Minute, Identity: identity, Plugins: p, Views: c,
		ObjectStores: hung{until: ctx.Done()}, Log: log,
	}
}
