package fakeplugins

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	riav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"

	"github.com/velosim/velosim/sim/trace"
)

// RestoreItemAction is the process as a RestoreItemAction, version 2.
func (p *Process) RestoreItemAction() riav2.RestoreItemAction { return restoreItemAction{p} }

type restoreItemAction struct{ *Process }

// Execute starts the script's operation.
func (a restoreItemAction) Execute(in *velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	c := trace.Call{Method: "Execute", Item: itemName(in.Item), Phase: string(in.Restore.Status.Phase)}
	out, err := a.call(restoreObject(in.Restore), c)
	if err != nil {
		return nil, err
	}
	item := in.Item
	if out.TooLarge {
		item = enlarged(item)
	}
	reply := velero.NewRestoreItemActionExecuteOutput(item).WithOperationID(out.Operation)
	reply.AdditionalItems = identifiers(out.AdditionalItems)
	reply.SkipRestore, reply.WaitForAdditionalItems = out.SkipRestore, out.WaitForAdditionalItems
	return reply, nil
}

func (a restoreItemAction) Progress(operationID string, restore *velerov1.Restore) (velero.OperationProgress, error) {
	return a.progress(restoreObject(restore), string(restore.Status.Phase), operationID)
}

func (a restoreItemAction) Cancel(operationID string, restore *velerov1.Restore) error {
	return a.cancel(restoreObject(restore), string(restore.Status.Phase), operationID)
}

func (a restoreItemAction) AreAdditionalItemsReady(_ []velero.ResourceIdentifier, restore *velerov1.Restore) (bool, error) {
	out, err := a.call(restoreObject(restore), trace.Call{Method: "AreAdditionalItemsReady", Phase: string(restore.Status.Phase)})
	return out.Ready, err
}

// RestoreItemActionV1 is the process as a RestoreItemAction, version 1: what Execute starts, nobody asks for.
func (p *Process) RestoreItemActionV1() riav1.RestoreItemAction { return p.RestoreItemAction() }

func restoreObject(restore *velerov1.Restore) string { return "restore/" + restore.Name }
