package server

import (
	"context"
	"fmt"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/backup"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/constant"
	"github.com/vmware-tanzu/velero/pkg/controller"
	"github.com/vmware-tanzu/velero/pkg/itemoperationmap"
	"github.com/vmware-tanzu/velero/pkg/metrics"
	"github.com/vmware-tanzu/velero/pkg/podvolume"
	"github.com/vmware-tanzu/velero/pkg/repository"
	repomanager "github.com/vmware-tanzu/velero/pkg/repository/manager"
	"github.com/vmware-tanzu/velero/pkg/restore"
	"github.com/vmware-tanzu/velero/simshim"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// named is a controller, by its name in Velero's pkg/constant, that can add itself to a manager.
type named struct {
	name string
	setup
}

type setup interface{ SetupWithManager(ctrl.Manager) error }

// controllers are the server's, in the order of Velero's pkg/cmd/server/server.go and with its arguments.
func (s *Server) controllers(ctx context.Context) ([]named, error) {
	var (
		serverMetrics = metrics.NewServerMetrics()
		tracker       = controller.NewBackupTracker()
		hooks         = simshim.NewMultiHookTracker()
		backups       = itemoperationmap.NewBackupItemOperationsMap()
		restores      = itemoperationmap.NewRestoreItemOperationsMap()
		stores        = s.Actions.Stores(s.Stores)
		log, v, f     = s.Log, s.Views, s.Flags
		logLevel      = f.LogLevel.Parse()
		logFormat     = f.LogFormat.Parse()
	)
	credentials, err := simshim.NewCredentialStores(v.Cached("server"), s.Namespace, f.CredentialsDirectory)
	if err != nil {
		return nil, fmt.Errorf("failed to make a folder for credentials: %w", err)
	}
	repositories := repomanager.NewManager(s.Namespace, v.Cached(constant.ControllerBackupRepo), repository.NewRepoLocker(),
		credentials.Files, credentials.Secrets, log)
	backupper, err := s.backupper(ctx, constant.ControllerBackup)
	if err != nil {
		return nil, err
	}
	finalizer, err := s.backupper(ctx, constant.ControllerBackupFinalizer)
	if err != nil {
		return nil, err
	}
	restorer, err := s.restorer(ctx, hooks, credentials)
	if err != nil {
		return nil, err
	}
	return []named{
		{constant.ControllerBackupStorageLocation, controller.NewBackupStorageLocationReconciler(
			ctx, v.Cached(constant.ControllerBackupStorageLocation),
			simshim.DefaultBackupLocationInfo{StorageLocation: f.DefaultBackupLocation, ServerValidationFrequency: f.StoreValidationFrequency},
			v.Plugins(constant.ControllerBackupStorageLocation), s.Stores, serverMetrics, log)},
		{constant.ControllerBackup, controller.NewBackupReconciler(
			ctx, s.Discovery, s.Actions.Backupper(backupper), log, logLevel, v.Plugins(constant.ControllerBackup), tracker,
			s.Actions.Client(v.Cached(constant.ControllerBackup)), f.DefaultBackupLocation, f.DefaultVolumesToFsBackup, f.DefaultBackupTTL,
			f.DefaultVGSLabelKey, f.DefaultCSISnapshotTimeout, f.ResourceTimeout, f.DefaultItemOperationTimeout,
			f.DefaultVolumeSnapshotLocations.Data(), serverMetrics, stores, logFormat, credentials.Files, f.MaxConcurrentK8SConnections,
			f.DefaultSnapshotMoveData, f.ItemBlockWorkerCount, f.ConcurrentBackups, v.Direct(constant.ControllerBackup),
			f.GlobalBackupVolumePoliciesConfigMap)},
		{constant.ControllerBackupDeletion, controller.NewBackupDeletionReconciler(
			log, v.Cached(constant.ControllerBackupDeletion), tracker, repositories, serverMetrics, s.Discovery,
			v.Plugins(constant.ControllerBackupDeletion), s.Stores, credentials.Files, s.ensurer(constant.ControllerBackupDeletion))},
		{constant.ControllerBackupOperations, controller.NewBackupOperationsReconciler(
			log, v.Cached(constant.ControllerBackupOperations), f.ItemOperationSyncFrequency,
			v.Plugins(constant.ControllerBackupOperations), stores, serverMetrics, backups)},
		{constant.ControllerBackupFinalizer, controller.NewBackupFinalizerReconciler(
			v.Cached(constant.ControllerBackupFinalizer), v.Direct(constant.ControllerBackupFinalizer), clock.RealClock{},
			finalizer, v.Plugins(constant.ControllerBackupFinalizer), tracker, stores, log, serverMetrics, f.ResourceTimeout)},
		{constant.ControllerBackupRepo, controller.NewBackupRepoReconciler(
			s.Namespace, log, v.Cached(constant.ControllerBackupRepo), repositories, f.RepoMaintenanceFrequency, f.BackupRepoConfig,
			f.RepoMaintenanceJobConfig, logLevel, f.LogFormat, serverMetrics)},
		{constant.ControllerBackupSync, controller.NewBackupSyncReconciler(
			v.Cached(constant.ControllerBackupSync), s.Namespace, f.BackupSyncPeriod, v.Plugins(constant.ControllerBackupSync), s.Stores, log)},
		{constant.ControllerRestoreOperations, controller.NewRestoreOperationsReconciler(
			log, s.Namespace, v.Cached(constant.ControllerRestoreOperations), f.ItemOperationSyncFrequency,
			v.Plugins(constant.ControllerRestoreOperations), s.Stores, serverMetrics, restores)},
		{constant.ControllerDownloadRequest, controller.NewDownloadRequestReconciler(
			v.Cached(constant.ControllerDownloadRequest), clock.RealClock{}, v.Plugins(constant.ControllerDownloadRequest), s.Stores, log,
			backups, restores)},
		{constant.ControllerGarbageCollection, controller.NewGCReconciler(
			log, v.Cached(constant.ControllerGarbageCollection), f.GarbageCollectionFrequency)},
		{constant.ControllerRestore, controller.NewRestoreReconciler(
			ctx, s.Namespace, s.Actions.Restorer(restorer), s.Actions.Client(v.Cached(constant.ControllerRestore)), log, logLevel, v.Plugins(constant.ControllerRestore),
			s.Stores, serverMetrics, logFormat, f.DefaultItemOperationTimeout, f.DisableInformerCache,
			v.Direct(constant.ControllerRestore), f.ResourceTimeout)},
		{constant.ControllerSchedule, controller.NewScheduleReconciler(
			s.Namespace, log, v.Cached(constant.ControllerSchedule), serverMetrics, f.ScheduleSkipImmediately)},
		{constant.ControllerServerStatusRequest, controller.NewServerStatusRequestReconciler(
			ctx, v.Cached(constant.ControllerServerStatusRequest), s.Plugins, clock.RealClock{}, log)},
		{constant.ControllerRestoreFinalizer, controller.NewRestoreFinalizerReconciler(
			log, s.Namespace, v.Cached(constant.ControllerRestoreFinalizer), v.Plugins(constant.ControllerRestoreFinalizer),
			s.Stores, serverMetrics, v.Direct(constant.ControllerRestoreFinalizer), hooks, f.ResourceTimeout)},
		{constant.ControllerBackupQueue, controller.NewBackupQueueReconciler(
			v.Cached(constant.ControllerBackupQueue), v.Manager(constant.ControllerBackupQueue).GetScheme(), log,
			f.ConcurrentBackups, tracker)},
	}, nil
}

func (s *Server) ensurer(name string) *repository.Ensurer {
	return repository.NewEnsurer(s.Views.Cached(name), s.Log, s.Flags.ResourceTimeout)
}

// backupper is that of the backup controller or of the finalizer, which reads items through the manager's client.
func (s *Server) backupper(ctx context.Context, name string) (backup.Backupper, error) {
	informer, err := s.cache().GetInformer(ctx, &velerov1.PodVolumeBackup{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("failed to get the informer for pod volume backups: %w", err)
	}
	c := s.Views.Direct(name)
	if name == constant.ControllerBackupFinalizer {
		c = s.Views.Cached(name)
	}
	return backup.NewKubernetesBackupper(c, s.Discovery, veleroclient.NewDynamicFactory(s.Views.Dynamic(name)),
		s.Commands,
		podvolume.NewBackupperFactory(repository.NewRepoLocker(), s.ensurer(name), s.Views.Direct(name), informer, s.Log),
		s.Flags.PodVolumeOperationTimeout, s.Flags.DefaultVolumesToFsBackup, s.Flags.ClientPageSize, s.Flags.UploaderType,
		s.Views.Plugins(name), s.Stores)
}

func (s *Server) restorer(ctx context.Context, hooks *simshim.MultiHookTracker, credentials simshim.CredentialStores) (restore.Restorer, error) {
	const name = constant.ControllerRestore
	informer, err := s.cache().GetInformer(ctx, &velerov1.PodVolumeRestore{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("failed to get the informer for pod volume restores: %w", err)
	}
	kube := s.Views.Kube(name)
	return restore.NewKubernetesRestorer(s.Discovery, veleroclient.NewDynamicFactory(s.Views.Dynamic(name)),
		s.Flags.RestoreResourcePriorities, kube.CoreV1().Namespaces(),
		podvolume.NewRestorerFactory(repository.NewRepoLocker(), s.ensurer(name), kube, s.Views.Direct(name), informer, s.Log),
		s.Flags.PodVolumeOperationTimeout, s.Flags.ResourceTerminatingTimeout, s.Flags.ResourceTimeout, s.Log,
		s.Commands,
		kube.CoreV1().RESTClient(), credentials.Files, s.Views.Cached(name), hooks)
}
