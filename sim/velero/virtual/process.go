package virtual

import (
	"encoding/json"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	ibav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/itemblockaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/runtime"
)

// The actions below are called as if over the border of a process. A panic becomes an error, as on the plugin's side of
// Velero's framework (pkg/plugin/framework/common/handle_panic.go), which the client's side unwraps; a request that
// is too large never comes to the plugin; and the reply comes to nobody if the server, and with it the plugin, was killed meanwhile.

type backupItemAction struct {
	biav2.BackupItemAction
	inc *incarnation
}

func (a backupItemAction) AppliesTo() (s velero.ResourceSelector, err error) {
	defer a.inc.returned(&err)
	return a.BackupItemAction.AppliesTo()
}

func (a backupItemAction) Execute(item runtime.Unstructured, b *velerov1.Backup) (u runtime.Unstructured, additional []velero.ResourceIdentifier, operation string, update []velero.ResourceIdentifier, err error) {
	if err := received(item.UnstructuredContent(), b); err != nil {
		return nil, nil, "", nil, err
	}
	defer a.inc.returned(&err)
	return a.BackupItemAction.Execute(item, b)
}

func (a backupItemAction) Progress(operation string, b *velerov1.Backup) (p velero.OperationProgress, err error) {
	defer a.inc.returned(&err)
	return a.BackupItemAction.Progress(operation, b)
}

func (a backupItemAction) Cancel(operation string, b *velerov1.Backup) (err error) {
	defer a.inc.returned(&err)
	return a.BackupItemAction.Cancel(operation, b)
}

type restoreItemAction struct {
	riav2.RestoreItemAction
	inc *incarnation
}

func (a restoreItemAction) AppliesTo() (s velero.ResourceSelector, err error) {
	defer a.inc.returned(&err)
	return a.RestoreItemAction.AppliesTo()
}

func (a restoreItemAction) Execute(in *velero.RestoreItemActionExecuteInput) (out *velero.RestoreItemActionExecuteOutput, err error) {
	if err := received(in.Item.UnstructuredContent(), in.ItemFromBackup.UnstructuredContent(), in.Restore); err != nil {
		return nil, err
	}
	defer a.inc.returned(&err)
	return a.RestoreItemAction.Execute(in)
}

func (a restoreItemAction) Progress(operation string, b *velerov1.Restore) (p velero.OperationProgress, err error) {
	defer a.inc.returned(&err)
	return a.RestoreItemAction.Progress(operation, b)
}

func (a restoreItemAction) Cancel(operation string, b *velerov1.Restore) (err error) {
	defer a.inc.returned(&err)
	return a.RestoreItemAction.Cancel(operation, b)
}

func (a restoreItemAction) AreAdditionalItemsReady(items []velero.ResourceIdentifier, b *velerov1.Restore) (ready bool, err error) {
	defer a.inc.returned(&err)
	return a.RestoreItemAction.AreAdditionalItemsReady(items, b)
}

type deleteItemAction struct {
	velero.DeleteItemAction
	inc *incarnation
}

func (a deleteItemAction) AppliesTo() (s velero.ResourceSelector, err error) {
	defer a.inc.returned(&err)
	return a.DeleteItemAction.AppliesTo()
}

func (a deleteItemAction) Execute(in *velero.DeleteItemActionExecuteInput) (err error) {
	if err := received(in.Item.UnstructuredContent(), in.Backup); err != nil {
		return err
	}
	defer a.inc.returned(&err)
	return a.DeleteItemAction.Execute(in)
}

type itemBlockAction struct {
	ibav1.ItemBlockAction
	inc *incarnation
}

func (a itemBlockAction) GetRelatedItems(item runtime.Unstructured, b *velerov1.Backup) (related []velero.ResourceIdentifier, err error) {
	defer a.inc.returned(&err)
	return a.ItemBlockAction.GetRelatedItems(item, b)
}

// returned is deferred by every call of an action.
func (inc *incarnation) returned(err *error) {
	if p := recover(); p != nil {
		*err = common.FromGRPCError(common.HandlePanic(p))
	}
	inc.await("call")
}

// maxRequest is the largest message that a gRPC server takes where it is not told otherwise, as those of plugins are not
// (pkg/plugin/framework/server.go). Clients of plugins have a limit of 2 GiB (hashicorp/go-plugin).
const maxRequest = 4 << 20

// received is the error of a request with these objects that is too large. The few bytes of it that are not of objects do not count.
func received(objects ...any) error {
	size := 0
	for _, o := range objects {
		b, err := json.Marshal(o)
		if err != nil {
			return err
		}
		size += len(b)
	}
	if size > maxRequest {
		return status.Errorf(codes.ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", size, maxRequest)
	}
	return nil
}
