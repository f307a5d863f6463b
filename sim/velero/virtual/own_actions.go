package virtual

import (
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v1"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	riav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"
	"k8s.io/apimachinery/pkg/runtime"
)

// The item actions of a process of the user's. One of version 1 starts no operation: what Velero adapts it to
// (pkg/plugin/clientmgmt/backupitemaction/v2) is no other.
type (
	ownBackup  struct{ *own }
	ownRestore struct{ *own }
	ownDelete  struct{ *own }
)

func (o *own) backupItemAction() biav2.BackupItemAction {
	return o.recorded().BackupItemAction(ownBackup{o})
}

func (o *own) restoreItemAction() riav2.RestoreItemAction {
	return o.recorded().RestoreItemAction(ownRestore{o})
}

func (o *own) deleteItemAction() velero.DeleteItemAction {
	return o.recorded().DeleteItemAction(ownDelete{o})
}

func (o *own) Name() string { return o.id.Name }

func (o *own) AppliesTo() (s velero.ResourceSelector, err error) {
	if called := o.call(func(client any) {
		s, err = client.(interface {
			AppliesTo() (velero.ResourceSelector, error)
		}).AppliesTo()
	}); called != nil {
		return s, called
	}
	return s, err
}

func (o ownBackup) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	out runtime.Unstructured, additional []velero.ResourceIdentifier, operation string, update []velero.ResourceIdentifier, err error,
) {
	called := o.call(func(client any) {
		switch a := client.(type) {
		case biav2.BackupItemAction:
			out, additional, operation, update, err = a.Execute(item, backup)
		case biav1.BackupItemAction:
			out, additional, err = a.Execute(item, backup)
		}
	})
	if called != nil {
		return nil, nil, "", nil, called
	}
	return out, additional, operation, update, err
}

func (o ownBackup) Progress(operation string, backup *velerov1.Backup) (velero.OperationProgress, error) {
	return o.progress(func(client any) (velero.OperationProgress, error) {
		return client.(biav2.BackupItemAction).Progress(operation, backup)
	})
}

func (o ownBackup) Cancel(operation string, backup *velerov1.Backup) error {
	return o.cancel(func(client any) error { return client.(biav2.BackupItemAction).Cancel(operation, backup) })
}

func (o *own) progress(method func(client any) (velero.OperationProgress, error)) (p velero.OperationProgress, err error) {
	if called := o.call(func(client any) { p, err = method(client) }); called != nil {
		return velero.OperationProgress{}, called
	}
	return p, err
}

func (o *own) cancel(method func(client any) error) (err error) {
	if called := o.call(func(client any) { err = method(client) }); called != nil {
		return called
	}
	return err
}

func (o ownRestore) Execute(in *velero.RestoreItemActionExecuteInput) (out *velero.RestoreItemActionExecuteOutput, err error) {
	called := o.call(func(client any) {
		out, err = client.(riav1.RestoreItemAction).Execute(in) // one of version 2 is such a one, too
	})
	if called != nil {
		return nil, called
	}
	return out, err
}

func (o ownRestore) Progress(operation string, restore *velerov1.Restore) (velero.OperationProgress, error) {
	return o.progress(func(client any) (velero.OperationProgress, error) {
		return client.(riav2.RestoreItemAction).Progress(operation, restore)
	})
}

func (o ownRestore) Cancel(operation string, restore *velerov1.Restore) error {
	return o.cancel(func(client any) error { return client.(riav2.RestoreItemAction).Cancel(operation, restore) })
}

func (o ownRestore) AreAdditionalItemsReady(items []velero.ResourceIdentifier, restore *velerov1.Restore) (ready bool, err error) {
	called := o.call(func(client any) {
		ready, err = client.(riav2.RestoreItemAction).AreAdditionalItemsReady(items, restore)
	})
	if called != nil {
		return false, called
	}
	return ready, err
}

func (o ownDelete) Execute(in *velero.DeleteItemActionExecuteInput) error {
	return o.cancel(func(client any) error { return client.(velero.DeleteItemAction).Execute(in) })
}
