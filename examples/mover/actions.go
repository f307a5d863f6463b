package main

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AppliesTo is the same in every process.
func (mover) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: []string{"configmaps"}}, nil
}

// Name is not called: Velero knows the name by which an action is registered.
func (mover) Name() string { return name }

type backupAction struct{ mover }

func (a backupAction) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	switch backup.Status.Phase {
	case velerov1.BackupPhaseFinalizing, velerov1.BackupPhaseFinalizingPartiallyFailed:
		return item, nil, "", nil, nil // nobody would poll an operation: Velero refuses it
	}
	id, err := a.start(item, owner("Backup", backup), backup.Namespace)
	return item, nil, id, nil, err
}

func (a backupAction) Progress(id string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	return a.progress(id, a.now())
}

func (a backupAction) Cancel(id string, b *velerov1.Backup) error {
	return a.cancel(id, owner("Backup", b))
}

type restoreAction struct{ mover }

func (a restoreAction) Execute(in *velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	id, err := a.start(in.Item, owner("Restore", in.Restore), in.Restore.Namespace)
	return velero.NewRestoreItemActionExecuteOutput(in.Item).WithOperationID(id), err
}

func (a restoreAction) Progress(id string, _ *velerov1.Restore) (velero.OperationProgress, error) {
	return a.progress(id, a.now())
}

func (a restoreAction) Cancel(id string, r *velerov1.Restore) error {
	return a.cancel(id, owner("Restore", r))
}

// AreAdditionalItemsReady is not called, as Execute returns none.
func (restoreAction) AreAdditionalItemsReady([]velero.ResourceIdentifier, *velerov1.Restore) (bool, error) {
	return true, nil
}

// owner is the backup or restore, with which the state of its operations goes.
func owner(kind string, o metav1.Object) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "velero.io/v1", Kind: kind, Name: o.GetName(), UID: o.GetUID()}
}
