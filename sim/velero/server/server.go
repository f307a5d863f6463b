package server

import (
	"context"
	"fmt"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/backup"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/cmd/server/config"
	"github.com/vmware-tanzu/velero/pkg/constant"
	"github.com/vmware-tanzu/velero/pkg/controller"
	"github.com/vmware-tanzu/velero/pkg/discovery"
	"github.com/vmware-tanzu/velero/pkg/itemoperationmap"
	"github.com/vmware-tanzu/velero/pkg/metrics"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/podvolume"
	"github.com/vmware-tanzu/velero/pkg/repository"
	"github.com/vmware-tanzu/velero/pkg/restore"
	"github.com/vmware-tanzu/velero/simshim"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Views gives each controller, by its name in Velero's pkg/constant, its own view of what the real server's controllers
// share, so that the caller knows who acts.
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
	Log       logrus.FieldLogger
}

// MarkInProgress does what the server does before it starts its controllers (setupBeforeControllerRun).
func (s *Server) MarkInProgress(ctx context.Context, c client.Client) error {
	simshim.MarkInProgressCRsFailed(ctx, c, s.Namespace, s.Log)
	return simshim.SetDefaultBackupLocation(ctx, c, s.Namespace, s.Flags.DefaultBackupLocation, s.Log)
}

// setup is a controller that can add itself to a manager.
type setup interface{ SetupWithManager(ctrl.Manager) error }

// SetupControllers adds to the manager the controllers of backup storage locations, of backups (queue, backup, operations,
// finalizer) and of restores (restore, operations, finalizer). Ctx is the server's: it ends when the server does.
func (s *Server) SetupControllers(ctx context.Context) error {
	var (
		serverMetrics = metrics.NewServerMetrics()
		tracker       = controller.NewBackupTracker()
		hooks         = simshim.NewMultiHookTracker()
		log, v, f     = s.Log, s.Views, s.Flags
		logLevel      = f.LogLevel.Parse()
		logFormat     = f.LogFormat.Parse()
	)
	backupper, err := s.backupper(ctx, constant.ControllerBackup, v.Direct(constant.ControllerBackup))
	if err != nil {
		return err
	}
	// The finalizer's backupper reads items from the manager's client; the backup's from crClient.
	finalizerBackupper, err := s.backupper(ctx, constant.ControllerBackupFinalizer, v.Cached(constant.ControllerBackupFinalizer))
	if err != nil {
		return err
	}
	restorer, err := s.restorer(ctx, hooks)
	if err != nil {
		return err
	}
	controllers := []struct {
		name string
		setup
	}{
		{constant.ControllerBackupStorageLocation, controller.NewBackupStorageLocationReconciler(
			ctx, v.Cached(constant.ControllerBackupStorageLocation),
			simshim.DefaultBackupLocationInfo{StorageLocation: f.DefaultBackupLocation, ServerValidationFrequency: f.StoreValidationFrequency},
			v.Plugins(constant.ControllerBackupStorageLocation), s.Stores, serverMetrics, log)},
		{constant.ControllerBackup, controller.NewBackupReconciler(
			ctx, s.Discovery, backupper, log, logLevel, v.Plugins(constant.ControllerBackup), tracker,
			v.Cached(constant.ControllerBackup), f.DefaultBackupLocation, f.DefaultVolumesToFsBackup, f.DefaultBackupTTL,
			f.DefaultVGSLabelKey, f.DefaultCSISnapshotTimeout, f.ResourceTimeout, f.DefaultItemOperationTimeout,
			f.DefaultVolumeSnapshotLocations.Data(), serverMetrics, s.Stores, logFormat, nil, f.MaxConcurrentK8SConnections,
			f.DefaultSnapshotMoveData, f.ItemBlockWorkerCount, f.ConcurrentBackups, v.Direct(constant.ControllerBackup),
			f.GlobalBackupVolumePoliciesConfigMap)},
		{constant.ControllerBackupOperations, controller.NewBackupOperationsReconciler(
			log, v.Cached(constant.ControllerBackupOperations), f.ItemOperationSyncFrequency,
			v.Plugins(constant.ControllerBackupOperations), s.Stores, serverMetrics, itemoperationmap.NewBackupItemOperationsMap())},
		{constant.ControllerBackupFinalizer, controller.NewBackupFinalizerReconciler(
			v.Cached(constant.ControllerBackupFinalizer), v.Direct(constant.ControllerBackupFinalizer), clock.RealClock{},
			finalizerBackupper, v.Plugins(constant.ControllerBackupFinalizer), tracker, s.Stores, log, serverMetrics, f.ResourceTimeout)},
		{constant.ControllerRestoreOperations, controller.NewRestoreOperationsReconciler(
			log, s.Namespace, v.Cached(constant.ControllerRestoreOperations), f.ItemOperationSyncFrequency,
			v.Plugins(constant.ControllerRestoreOperations), s.Stores, serverMetrics, itemoperationmap.NewRestoreItemOperationsMap())},
		{constant.ControllerRestore, controller.NewRestoreReconciler(
			ctx, s.Namespace, restorer, v.Cached(constant.ControllerRestore), log, logLevel, v.Plugins(constant.ControllerRestore),
			s.Stores, serverMetrics, logFormat, f.DefaultItemOperationTimeout, f.DisableInformerCache,
			v.Direct(constant.ControllerRestore), f.ResourceTimeout)},
		{constant.ControllerRestoreFinalizer, controller.NewRestoreFinalizerReconciler(
			log, s.Namespace, v.Cached(constant.ControllerRestoreFinalizer), v.Plugins(constant.ControllerRestoreFinalizer),
			s.Stores, serverMetrics, v.Direct(constant.ControllerRestoreFinalizer), hooks, f.ResourceTimeout)},
		{constant.ControllerBackupQueue, controller.NewBackupQueueReconciler(
			v.Cached(constant.ControllerBackupQueue), v.Manager(constant.ControllerBackupQueue).GetScheme(), log,
			f.ConcurrentBackups, tracker)},
	}
	for _, c := range controllers {
		if err := c.SetupWithManager(v.Manager(c.name)); err != nil {
			return fmt.Errorf("failed to set up controller %s: %w", c.name, err)
		}
	}
	return s.startInformers(ctx)
}

// startInformers makes the cache hold what controllers of the real server that are not assembled here watch, and the ones
// assembled here read.
func (s *Server) startInformers(ctx context.Context) error {
	for _, o := range []client.Object{&velerov1.VolumeSnapshotLocation{}} {
		if _, err := s.cache().GetInformer(ctx, o, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("failed to start an informer for %T: %w", o, err)
		}
	}
	return nil
}

func (s *Server) cache() cache.Cache { return s.Views.Manager(constant.ControllerBackup).GetCache() }

func (s *Server) backupper(ctx context.Context, name string, c client.Client) (backup.Backupper, error) {
	informer, err := s.cache().GetInformer(ctx, &velerov1.PodVolumeBackup{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("failed to get the informer for pod volume backups: %w", err)
	}
	locker, ensurer := repository.NewRepoLocker(), repository.NewEnsurer(s.Views.Cached(name), s.Log, s.Flags.ResourceTimeout)
	return backup.NewKubernetesBackupper(c, s.Discovery, veleroclient.NewDynamicFactory(s.Views.Dynamic(name)),
		nil, // runs commands in pods: hooks
		podvolume.NewBackupperFactory(locker, ensurer, s.Views.Direct(name), informer, s.Log),
		s.Flags.PodVolumeOperationTimeout, s.Flags.DefaultVolumesToFsBackup, s.Flags.ClientPageSize, s.Flags.UploaderType,
		s.Views.Plugins(name), s.Stores)
}

func (s *Server) restorer(ctx context.Context, hooks *simshim.MultiHookTracker) (restore.Restorer, error) {
	const name = constant.ControllerRestore
	informer, err := s.cache().GetInformer(ctx, &velerov1.PodVolumeRestore{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("failed to get the informer for pod volume restores: %w", err)
	}
	kube := s.Views.Kube(name)
	locker, ensurer := repository.NewRepoLocker(), repository.NewEnsurer(s.Views.Cached(name), s.Log, s.Flags.ResourceTimeout)
	return restore.NewKubernetesRestorer(s.Discovery, veleroclient.NewDynamicFactory(s.Views.Dynamic(name)),
		s.Flags.RestoreResourcePriorities, kube.CoreV1().Namespaces(),
		podvolume.NewRestorerFactory(locker, ensurer, kube, s.Views.Direct(name), informer, s.Log),
		s.Flags.PodVolumeOperationTimeout, s.Flags.ResourceTerminatingTimeout, s.Flags.ResourceTimeout, s.Log,
		nil, // runs commands in pods: hooks
		kube.CoreV1().RESTClient(), nil, s.Views.Cached(name), hooks)
}
