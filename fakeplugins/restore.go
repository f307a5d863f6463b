package fakeplugins

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"

	"github.com/velosim/velosim/sim/trace"
)

// RestoreItemAction is the process as a RestoreItemAction, version 2. Its additional items are always ready.
func (p *Process) RestoreItemAction() riav2.RestoreItemAction { return restoreItemAction{p} }

type restoreItemAction struct{ *Process }

// Execute starts the script's operation.
func (a restoreItemAction) Execute(in *velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	c := trace.Call{Method: "Execute", Item: itemName(in.Item), Phase: string(in.Restore.Status.Phase)}
	out, err := a.call(restoreObject(in.Restore), c)
	if err != nil {
		return nil, err
	}
	reply := velero.NewRestoreItemActionExecuteOutput(in.Item).WithOperationID(out.Operation)
	reply.AdditionalItems = identifiers(out.AdditionalItems)
	return reply, nil
}

func (a restoreItemAction) Progress(operationID string, restore *velerov1.Restore) (velero.OperationProgress, error) {
	return a.progress(restoreObject(restore), string(restore.Status.Phase), operationID)
}

func (a restoreItemAction) Cancel(operationID string, restore *velerov1.Restore) error {
	return a.cancel(restoreObject(restore), string(restore.Status.Phase), operationID)
}

func (a restoreItemAction) AreAdditionalItemsReady([]velero.ResourceIdentifier, *velerov1.Restore) (bool, error) {
	return true, nil
}

func restoreObject(restore *velerov1.Restore) string { return "restore/" + restore.Name }
