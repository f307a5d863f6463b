package server

import (
	"context"
	"fmt"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/cmd/server/config"
	"github.com/vmware-tanzu/velero/pkg/constant"
	"github.com/vmware-tanzu/velero/pkg/controller"
	"github.com/vmware-tanzu/velero/pkg/discovery"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/podexec"
	"github.com/vmware-tanzu/velero/simshim"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/velero/prepost"
)

// Views gives each controller, by its name in Velero's pkg/constant, its own view of what the real server's controllers
// share, so that the caller knows who acts. "server" are all of them.
type Views interface {
	// Manager is the one manager.
	Manager(controller string) ctrl.Manager
	// Cached is the manager's client: it reads from the cache and writes to the API server.
	Cached(controller string) client.Client
	// Direct is the server's crClient: it reads from the API server.
	Direct(controller string) client.Client
	Kube(controller string) kubernetes.Interface
	Dynamic(controller string) dynamic.Interface
	// Plugins makes the plugin manager of one reconcile.
	Plugins(controller string) func(logrus.FieldLogger) clientmgmt.Manager
}

// Server is what the real server holds: its flags and the views of its controllers.
type Server struct {
	// Namespace of the server.
	Namespace string
	// Flags, as config.GetDefaultConfig gives them when the server is started without any.
	Flags     *config.Config
	Views     Views
	Discovery discovery.Helper
	Stores    persistence.ObjectBackupStoreGetter
	// Plugins are those that the server has found.
	Plugins controller.PluginLister
	// Commands runs commands in pods: hooks; nil: no item has one.
	Commands podexec.PodCommandExecutor
	// Actions has the controllers call pre- and post-actions; nil: there are none.
	Actions *prepost.Server
	Log     logrus.FieldLogger
}

// MarkInProgress does what the server does before it starts its controllers (setupBeforeControllerRun).
func (s *Server) MarkInProgress(ctx context.Context, c client.Client) error {
	simshim.MarkInProgressCRsFailed(ctx, c, s.Namespace, s.Log)
	return simshim.SetDefaultBackupLocation(ctx, c, s.Namespace, s.Flags.DefaultBackupLocation, s.Log)
}

// SetupControllers adds the server's controllers to the manager, all of them and in its order (runControllers). Ctx is the
// server's: it ends when the server does.
func (s *Server) SetupControllers(ctx context.Context) error {
	controllers, err := s.controllers(ctx)
	if err != nil {
		return err
	}
	for _, c := range controllers {
		if err := c.SetupWithManager(s.Views.Manager(c.name)); err != nil {
			return fmt.Errorf("failed to set up controller %s: %w", c.name, err)
		}
	}
	if s.Actions != nil {
		return s.Actions.SetupWithManager(s.Views.Manager)
	}
	return nil
}

func (s *Server) cache() cache.Cache { return s.Views.Manager(constant.ControllerBackup).GetCache() }
