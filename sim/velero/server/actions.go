package server

import (
	"cmp"
	"slices"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	bia "github.com/vmware-tanzu/velero/pkg/backup/actions"
	csibia "github.com/vmware-tanzu/velero/pkg/backup/actions/csi"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/constant"
	"github.com/vmware-tanzu/velero/pkg/datamover"
	iba "github.com/vmware-tanzu/velero/pkg/itemblock/actions"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v1"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	ibav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/itemblockaction/v1"
	riav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"
	ria "github.com/vmware-tanzu/velero/pkg/restore/actions"
	csiria "github.com/vmware-tanzu/velero/pkg/restore/actions/csi"
	"github.com/vmware-tanzu/velero/simshim"
	"k8s.io/apimachinery/pkg/runtime"
)

// InternalAction is an item action that Velero itself registers.
type InternalAction struct {
	Name string
	// Kind is Velero's name of the plugin's kind.
	Kind common.PluginKind
	new  common.HandlerInitializer
}

// InternalActions are Velero's own backup item, restore item, delete item and item block actions, in the order in which it calls them:
// of each kind those of version 1 first, then by name (pkg/plugin/framework/common/server_mux.go,
// pkg/plugin/clientmgmt/process/registry.go). F makes the clients that they use.
func InternalActions(f veleroclient.Factory) []InternalAction {
	actions := []InternalAction{
		{"velero.io/pv", common.PluginKindBackupItemAction, plain(bia.NewPVCAction)},
		{"velero.io/pod", common.PluginKindBackupItemAction, plain(bia.NewPodAction)},
		{"velero.io/service-account", common.PluginKindBackupItemAction, serviceAccount(f, bia.NewServiceAccountAction)},
		{"velero.io/crd-remap-version", common.PluginKindBackupItemAction, remapCRDVersion(f)},
		{"velero.io/csi-pvc-backupper", common.PluginKindBackupItemActionV2, csibia.NewPvcBackupItemAction(f)},
		{"velero.io/csi-volumesnapshot-backupper", common.PluginKindBackupItemActionV2, csibia.NewVolumeSnapshotBackupItemAction(f)},
		{"velero.io/csi-volumesnapshotcontent-backupper", common.PluginKindBackupItemActionV2, csibia.NewVolumeSnapshotContentBackupItemAction},
		{"velero.io/csi-volumesnapshotclass-backupper", common.PluginKindBackupItemActionV2, csibia.NewVolumeSnapshotClassBackupItemAction},
		{"velero.io/job", common.PluginKindRestoreItemAction, plain(ria.NewJobAction)},
		{"velero.io/pod", common.PluginKindRestoreItemAction, plain(ria.NewPodAction)},
		{"velero.io/pod-volume-restore", common.PluginKindRestoreItemAction, podVolumeRestore(f)},
		{"velero.io/init-restore-hook", common.PluginKindRestoreItemAction, plain(ria.NewInitRestoreHookPodAction)},
		{"velero.io/service", common.PluginKindRestoreItemAction, plain(ria.NewServiceAction)},
		{"velero.io/service-account", common.PluginKindRestoreItemAction, plain(ria.NewServiceAccountAction)},
		{"velero.io/add-pvc-from-pod", common.PluginKindRestoreItemAction, plain(ria.NewAddPVCFromPodAction)},
		{"velero.io/change-storage-class", common.PluginKindRestoreItemAction, changeStorageClass(f)},
		{"velero.io/change-image-name", common.PluginKindRestoreItemAction, changeImageName(f)},
		{"velero.io/role-bindings", common.PluginKindRestoreItemAction, plain(ria.NewRoleBindingAction)},
		{"velero.io/cluster-role-bindings", common.PluginKindRestoreItemAction, plain(ria.NewClusterRoleBindingAction)},
		{"velero.io/crd-preserve-fields", common.PluginKindRestoreItemAction, plain(ria.NewCRDV1PreserveUnknownFieldsAction)},
		{"velero.io/pvc", common.PluginKindRestoreItemAction, persistentVolumeClaim(f)},
		{"velero.io/apiservice", common.PluginKindRestoreItemAction, plain(ria.NewAPIServiceAction)},
		{"velero.io/admission-webhook-configuration", common.PluginKindRestoreItemAction, plain(ria.NewAdmissionWebhookConfigurationAction)},
		{"velero.io/secret", common.PluginKindRestoreItemAction, withClient(f, ria.NewSecretAction)},
		{"velero.io/dataupload", common.PluginKindRestoreItemAction, withClient(f, ria.NewDataUploadRetrieveAction)},
		{constant.PluginCSIPVCRestoreRIA, common.PluginKindRestoreItemActionV2, csiria.NewPvcRestoreItemAction(f)},
		{constant.PluginCsiVolumeSnapshotRestoreRIA, common.PluginKindRestoreItemActionV2, csiria.NewVolumeSnapshotRestoreItemAction(f)},
		{"velero.io/csi-volumesnapshotcontent-restorer", common.PluginKindRestoreItemActionV2, csiria.NewVolumeSnapshotContentRestoreItemAction(f)},
		{"velero.io/csi-volumesnapshotclass-restorer", common.PluginKindRestoreItemActionV2, csiria.NewVolumeSnapshotClassRestoreItemAction},
		{"velero.io/dataupload-delete", common.PluginKindDeleteItemAction, withClient(f, datamover.NewDataUploadDeleteAction)},
		{"velero.io/csi-volumesnapshotcontent-delete", common.PluginKindDeleteItemAction, simshim.NewVolumeSnapshotContentDeleteItemAction(f)},
		{"velero.io/pvc", common.PluginKindItemBlockAction, iba.NewPVCAction(f)},
		{"velero.io/pod", common.PluginKindItemBlockAction, plain(iba.NewPodAction)},
		{"velero.io/service-account", common.PluginKindItemBlockAction, serviceAccount(f, iba.NewServiceAccountAction)},
	}
	slices.SortFunc(actions, func(a, b InternalAction) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) // BackupItemAction, BackupItemActionV2, …
	})
	return actions
}

// BackupItemAction makes the action, adapted to version 2 as Velero does (pkg/plugin/clientmgmt/backupitemaction/v2).
func (a InternalAction) BackupItemAction(log logrus.FieldLogger) (biav2.BackupItemAction, error) {
	h, err := a.new(log)
	if err != nil {
		return nil, err
	}
	if v1, ok := h.(biav1.BackupItemAction); ok && a.Kind == common.PluginKindBackupItemAction {
		return backupItemActionV1{v1, a.Name}, nil
	}
	return h.(biav2.BackupItemAction), nil
}

// RestoreItemAction makes the action, adapted to version 2 as Velero does (pkg/plugin/clientmgmt/restoreitemaction/v2).
func (a InternalAction) RestoreItemAction(log logrus.FieldLogger) (riav2.RestoreItemAction, error) {
	h, err := a.new(log)
	if err != nil {
		return nil, err
	}
	if v1, ok := h.(riav1.RestoreItemAction); ok && a.Kind == common.PluginKindRestoreItemAction {
		return restoreItemActionV1{v1, a.Name}, nil
	}
	return h.(riav2.RestoreItemAction), nil
}

// DeleteItemAction makes the action.
func (a InternalAction) DeleteItemAction(log logrus.FieldLogger) (velero.DeleteItemAction, error) {
	h, err := a.new(log)
	if err != nil {
		return nil, err
	}
	return h.(velero.DeleteItemAction), nil
}

// ItemBlockAction makes the action.
func (a InternalAction) ItemBlockAction(log logrus.FieldLogger) (ibav1.ItemBlockAction, error) {
	h, err := a.new(log)
	if err != nil {
		return nil, err
	}
	return h.(ibav1.ItemBlockAction), nil
}

type backupItemActionV1 struct {
	biav1.BackupItemAction
	name string
}

func (a backupItemActionV1) Name() string { return a.name }

func (a backupItemActionV1) Execute(item runtime.Unstructured, b *velerov1.Backup) (runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error) {
	updated, additional, err := a.BackupItemAction.Execute(item, b)
	return updated, additional, "", nil, err
}

func (a backupItemActionV1) Progress(string, *velerov1.Backup) (velero.OperationProgress, error) {
	return velero.OperationProgress{}, biav2.AsyncOperationsNotSupportedError()
}

func (a backupItemActionV1) Cancel(string, *velerov1.Backup) error { return nil }

type restoreItemActionV1 struct {
	riav1.RestoreItemAction
	name string
}

func (a restoreItemActionV1) Name() string { return a.name }

func (a restoreItemActionV1) Progress(string, *velerov1.Restore) (velero.OperationProgress, error) {
	return velero.OperationProgress{}, riav2.AsyncOperationsNotSupportedError()
}

func (a restoreItemActionV1) Cancel(string, *velerov1.Restore) error { return nil }

func (a restoreItemActionV1) AreAdditionalItemsReady([]velero.ResourceIdentifier, *velerov1.Restore) (bool, error) {
	return true, nil
}

// plain is for actions that need nothing but a log.
func plain[T any](construct func(logrus.FieldLogger) T) common.HandlerInitializer {
	return func(log logrus.FieldLogger) (any, error) { return construct(log), nil }
}
