package fakeplugins

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/trace"
)

// BackupItemAction is the process as a BackupItemAction, version 2.
func (p *Process) BackupItemAction() biav2.BackupItemAction { return backupItemAction{p} }

type backupItemAction struct{ *Process }

// Execute starts the script's operation, except for items that Velero backs up again while it finalizes: it accepts none
// there (pkg/plugin/velero/backupitemaction/v2, pkg/backup/item_backupper.go).
func (a backupItemAction) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	finalizing := backup.Status.Phase == velerov1.BackupPhaseFinalizing ||
		backup.Status.Phase == velerov1.BackupPhaseFinalizingPartiallyFailed
	var r trace.Return
	c := trace.Call{Method: "Execute", Item: itemName(item), Phase: string(backup.Status.Phase)}
	err := a.call(backupObject(backup), c, a.script.Execute.Behaviour, func() (trace.Return, error) {
		if a.script.Operation != nil && !finalizing {
			r.Operation = a.operations.start(a.Process, *a.script.Operation)
		}
		return r, nil
	})
	if err != nil {
		return nil, nil, "", nil, err
	}
	var update []velero.ResourceIdentifier
	if r.Operation != "" {
		update = identifiers(a.script.Execute.ItemsToUpdate)
	}
	return item, identifiers(a.script.Execute.AdditionalItems), r.Operation, update, nil
}

func (a backupItemAction) Progress(operationID string, backup *velerov1.Backup) (velero.OperationProgress, error) {
	return a.progress(backupObject(backup), string(backup.Status.Phase), operationID)
}

func (a backupItemAction) Cancel(operationID string, backup *velerov1.Backup) error {
	return a.cancel(backupObject(backup), string(backup.Status.Phase), operationID)
}

func backupObject(backup *velerov1.Backup) string { return "backup/" + backup.Name }
