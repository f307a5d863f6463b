package fakeplugins

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v1"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/trace"
)

// BackupItemAction is the process as a BackupItemAction, version 2.
func (p *Process) BackupItemAction() biav2.BackupItemAction { return backupItemAction{p} }

type backupItemAction struct{ *Process }

// Execute starts the script's operation.
func (a backupItemAction) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	c := trace.Call{Method: "Execute", Item: itemName(item), Phase: string(backup.Status.Phase)}
	out, err := a.call(backupObject(backup), c)
	if err != nil {
		return nil, nil, "", nil, err
	}
	if out.TooLarge {
		item = enlarged(item)
	}
	return item, identifiers(out.AdditionalItems), out.Operation, identifiers(out.ItemsToUpdate), nil
}

func (a backupItemAction) Progress(operationID string, backup *velerov1.Backup) (velero.OperationProgress, error) {
	return a.progress(backupObject(backup), string(backup.Status.Phase), operationID)
}

func (a backupItemAction) Cancel(operationID string, backup *velerov1.Backup) error {
	return a.cancel(backupObject(backup), string(backup.Status.Phase), operationID)
}

// BackupItemActionV1 is the process as a BackupItemAction, version 1: what Execute starts, nobody asks for.
func (p *Process) BackupItemActionV1() biav1.BackupItemAction { return backupItemActionV1{p} }

type backupItemActionV1 struct{ *Process }

func (a backupItemActionV1) Execute(item runtime.Unstructured, backup *velerov1.Backup) (runtime.Unstructured, []velero.ResourceIdentifier, error) {
	item, additional, _, _, err := a.BackupItemAction().Execute(item, backup)
	return item, additional, err
}

// DeleteItemAction is the process as a DeleteItemAction. It does nothing to the item.
func (p *Process) DeleteItemAction() velero.DeleteItemAction { return deleteItemAction{p} }

type deleteItemAction struct{ *Process }

func (a deleteItemAction) Execute(in *velero.DeleteItemActionExecuteInput) error {
	c := trace.Call{Method: "Execute", Item: itemName(in.Item), Phase: string(in.Backup.Status.Phase)}
	_, err := a.call(backupObject(in.Backup), c)
	return err
}

func backupObject(backup *velerov1.Backup) string { return "backup/" + backup.Name }
