package prepost

import (
	"context"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/constant"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/actions"
)

// Plugins are the action plugins that a server has found.
type Plugins interface {
	// List are all of them, in any order.
	List() []framework.PluginIdentifier
	// Open makes what calls them for one backup or restore, as a controller, and logs what they do.
	Open(controller string, log logrus.FieldLogger) Caller
}

// Caller calls the plugins of one backup or restore ([actions.Client]).
type Caller interface {
	Execute(context.Context, framework.PluginIdentifier, metav1.Object) error
	Close()
}

// Views are what controllers act by, each by its own, so that it can be told who does.
type Views interface {
	// Direct reads from the API server, and writes to it.
	Direct(controller string) client.Client
	Kube(controller string) kubernetes.Interface
	// Plugins makes a plugin manager.
	Plugins(controller string) func(logrus.FieldLogger) clientmgmt.Manager
}

// The controllers of post-actions.
const (
	ControllerPostBackupActions  = "post-backup-actions"
	ControllerPostRestoreActions = "post-restore-actions"
)

// Server is what pre- and post-actions need of a Velero server. Its fields must all be set. A nil Server has no actions: it decorates
// nothing.
type Server struct {
	// Context is the server's: it ends when the server does.
	Context context.Context
	// Namespace of the server.
	Namespace string
	// ResourceTimeout is how long a status that cannot be written is tried again: Velero's flag.
	ResourceTimeout time.Duration
	// Identity tells the server apart from others that run at once.
	Identity string
	Plugins  Plugins
	Views    Views
	// ObjectStores are for the logs of post-actions.
	ObjectStores persistence.ObjectBackupStoreGetter
	Log          logrus.FieldLogger

	mu sync.Mutex
	// running are the objects whose run is under way in this server, and failed those of which a pre-action has failed, and why.
	running map[types.UID]bool
	failed  map[types.UID]string
}

// kinds are those of the actions of an object.
func kinds(o client.Object) (pre, post common.PluginKind) {
	if _, ok := o.(*velerov1.Restore); ok {
		return actions.PluginKindPreRestoreAction, actions.PluginKindPostRestoreAction
	}
	return actions.PluginKindPreBackupAction, actions.PluginKindPostBackupAction
}

// controllers are the one that runs the object, and the one that calls its post-actions.
func controllers(o client.Object) (running, after string) {
	if _, ok := o.(*velerov1.Restore); ok {
		return constant.ControllerRestore, ControllerPostRestoreActions
	}
	return constant.ControllerBackup, ControllerPostBackupActions
}

// acts reports whether there are actions for the object.
func (s *Server) acts(o client.Object) bool {
	pre, post := kinds(o)
	for _, p := range s.Plugins.List() {
		if p.Kind == pre || p.Kind == post {
			return true
		}
	}
	return false
}

// begins and ends note that the run of an object begins and ends in this server.
func (s *Server) begins(o client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[types.UID]bool{}
	}
	s.running[o.GetUID()] = true
	delete(s.failed, o.GetUID())
}

func (s *Server) ends(o client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, o.GetUID())
	delete(s.failed, o.GetUID())
}

// fails notes that a pre-action of the object has failed.
func (s *Server) fails(o client.Object, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = map[types.UID]string{}
	}
	s.failed[o.GetUID()] = shorten(why.Error())
}

func (s *Server) isRunning(o client.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[o.GetUID()]
}

// failure is why a pre-action of the object has failed; empty: none has.
func (s *Server) failure(id types.UID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[id]
}
