package fakeplugins

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v1"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	riav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/trace"
)

// BackupItemAction records the calls of the action.
func (r Recorded) BackupItemAction(a biav2.BackupItemAction) biav2.BackupItemAction {
	return recordedBackup{r, a}
}

type recordedBackup struct {
	Recorded
	action biav2.BackupItemAction
}

func (r recordedBackup) Name() string { return r.Recorded.Name }

func (r recordedBackup) AppliesTo() (velero.ResourceSelector, error) {
	return r.appliesTo(r.action.AppliesTo)
}

func (r recordedBackup) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	out runtime.Unstructured, additional []velero.ResourceIdentifier, operation string, update []velero.ResourceIdentifier, err error,
) {
	c := trace.Call{Method: "Execute", Item: itemName(item), Phase: string(backup.Status.Phase)}
	err = r.call(backupObject(backup), c, func(ret *trace.Return) error {
		out, additional, operation, update, err = r.action.Execute(item, backup)
		ret.Operation, ret.Item = operation, returned(c.Item, out)
		return err
	})
	return out, additional, operation, update, err
}

func (r recordedBackup) Progress(operation string, backup *velerov1.Backup) (velero.OperationProgress, error) {
	return r.progress(backupObject(backup), string(backup.Status.Phase), operation, func() (velero.OperationProgress, error) {
		return r.action.Progress(operation, backup)
	})
}

func (r recordedBackup) Cancel(operation string, backup *velerov1.Backup) error {
	return r.cancel(backupObject(backup), string(backup.Status.Phase), operation, func() error { return r.action.Cancel(operation, backup) })
}

// BackupItemActionV1 records the calls of the action.
func (r Recorded) BackupItemActionV1(a biav1.BackupItemAction) biav1.BackupItemAction {
	return recordedBackupV1{r, a}
}

type recordedBackupV1 struct {
	Recorded
	action biav1.BackupItemAction
}

func (r recordedBackupV1) AppliesTo() (velero.ResourceSelector, error) {
	return r.appliesTo(r.action.AppliesTo)
}

func (r recordedBackupV1) Execute(item runtime.Unstructured, backup *velerov1.Backup) (out runtime.Unstructured, additional []velero.ResourceIdentifier, err error) {
	c := trace.Call{Method: "Execute", Item: itemName(item), Phase: string(backup.Status.Phase)}
	err = r.call(backupObject(backup), c, func(ret *trace.Return) error {
		out, additional, err = r.action.Execute(item, backup)
		ret.Item = returned(c.Item, out)
		return err
	})
	return out, additional, err
}

// RestoreItemAction records the calls of the action.
func (r Recorded) RestoreItemAction(a riav2.RestoreItemAction) riav2.RestoreItemAction {
	return recordedRestore{r, a}
}

type recordedRestore struct {
	Recorded
	action riav2.RestoreItemAction
}

func (r recordedRestore) Name() string { return r.Recorded.Name }

func (r recordedRestore) AppliesTo() (velero.ResourceSelector, error) {
	return r.appliesTo(r.action.AppliesTo)
}

func (r recordedRestore) Execute(in *velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	return r.execute(in, r.action.Execute)
}

func (r Recorded) execute(
	in *velero.RestoreItemActionExecuteInput, do func(*velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error),
) (out *velero.RestoreItemActionExecuteOutput, err error) {
	c := trace.Call{Method: "Execute", Item: itemName(in.Item), Phase: string(in.Restore.Status.Phase)}
	err = r.call(restoreObject(in.Restore), c, func(ret *trace.Return) error {
		if out, err = do(in); err == nil && out != nil {
			ret.Operation = out.OperationID
			if !out.SkipRestore {
				ret.Item = returned(c.Item, out.UpdatedItem)
			}
		}
		return err
	})
	return out, err
}

func (r recordedRestore) Progress(operation string, restore *velerov1.Restore) (velero.OperationProgress, error) {
	return r.progress(restoreObject(restore), string(restore.Status.Phase), operation, func() (velero.OperationProgress, error) {
		return r.action.Progress(operation, restore)
	})
}

func (r recordedRestore) Cancel(operation string, restore *velerov1.Restore) error {
	return r.cancel(restoreObject(restore), string(restore.Status.Phase), operation, func() error { return r.action.Cancel(operation, restore) })
}

func (r recordedRestore) AreAdditionalItemsReady(items []velero.ResourceIdentifier, restore *velerov1.Restore) (ready bool, err error) {
	c := trace.Call{Method: "AreAdditionalItemsReady", Phase: string(restore.Status.Phase)}
	err = r.call(restoreObject(restore), c, func(ret *trace.Return) error {
		ready, err = r.action.AreAdditionalItemsReady(items, restore)
		ret.Ready = &ready
		return err
	})
	return ready, err
}

// RestoreItemActionV1 records the calls of the action.
func (r Recorded) RestoreItemActionV1(a riav1.RestoreItemAction) riav1.RestoreItemAction {
	return recordedRestoreV1{r, a}
}

type recordedRestoreV1 struct {
	Recorded
	action riav1.RestoreItemAction
}

func (r recordedRestoreV1) AppliesTo() (velero.ResourceSelector, error) {
	return r.appliesTo(r.action.AppliesTo)
}

func (r recordedRestoreV1) Execute(in *velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	return r.execute(in, r.action.Execute)
}

// DeleteItemAction records the calls of the action.
func (r Recorded) DeleteItemAction(a velero.DeleteItemAction) velero.DeleteItemAction {
	return recordedDelete{r, a}
}

type recordedDelete struct {
	Recorded
	action velero.DeleteItemAction
}

func (r recordedDelete) AppliesTo() (velero.ResourceSelector, error) {
	return r.appliesTo(r.action.AppliesTo)
}

func (r recordedDelete) Execute(in *velero.DeleteItemActionExecuteInput) error {
	c := trace.Call{Method: "Execute", Item: itemName(in.Item), Phase: string(in.Backup.Status.Phase)}
	return r.call(backupObject(in.Backup), c, func(*trace.Return) error { return r.action.Execute(in) })
}
