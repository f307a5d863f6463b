package cluster

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"path"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/itemoperation"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/sim/trace"
)

// Store reads an object of the object store by bucket/key; not ok: there is none.
type Store func(key string) (data []byte, ok bool)

// RestOfBackup is the backup as the API has it.
func RestOfBackup(b velerov1.Backup) trace.Rest { return restOfBackup(b, "api") }

func restOfBackup(b velerov1.Backup, copy string) trace.Rest {
	return trace.Rest{
		Copy: copy, Phase: string(b.Status.Phase), Errors: b.Status.Errors, Warnings: b.Status.Warnings,
		Attempted: b.Status.BackupItemOperationsAttempted, Completed: b.Status.BackupItemOperationsCompleted,
		Failed: b.Status.BackupItemOperationsFailed, Ended: b.Status.CompletionTimestamp != nil,
	}
}

// RestOfRestore is the restore as the API has it.
func RestOfRestore(x velerov1.Restore) trace.Rest {
	return trace.Rest{
		Copy: "api", Phase: string(x.Status.Phase), Errors: x.Status.Errors, Warnings: x.Status.Warnings,
		Attempted: x.Status.RestoreItemOperationsAttempted, Completed: x.Status.RestoreItemOperationsCompleted,
		Failed: x.Status.RestoreItemOperationsFailed, Ended: x.Status.CompletionTimestamp != nil,
	}
}

// StoredBackup is the backup and its operations as the object store has them.
func (c Cluster) StoredBackup(s Store, name string) (trace.Rest, bool) {
	folder := path.Join(Bucket, "backups", name)
	var b velerov1.Backup
	data, ok := s(folder + "/velero-backup.json")
	if !ok || json.Unmarshal(data, &b) != nil {
		return trace.Rest{}, false
	}
	rest := restOfBackup(b, "store")
	operations, _ := stored[itemoperation.BackupOperation](s, folder+"/"+name+"-itemoperations.json.gz")
	for _, o := range operations {
		rest.Operations = append(rest.Operations, c.operation(o.Spec.OperationID, o.Spec.BackupItemAction, o.Spec.ResourceIdentifier, o.Status))
	}
	return rest, true
}

// StoredRestore is the restore's operations: the object store has no more of it.
func (c Cluster) StoredRestore(s Store, name string) (trace.Rest, bool) {
	rest := trace.Rest{Copy: "store"}
	operations, ok := stored[itemoperation.RestoreOperation](s, path.Join(Bucket, "restores", name, "restore-"+name+"-itemoperations.json.gz"))
	for _, o := range operations {
		rest.Operations = append(rest.Operations, c.operation(o.Spec.OperationID, o.Spec.RestoreItemAction, o.Spec.ResourceIdentifier, o.Status))
	}
	return rest, ok
}

// Left is what the object store still holds of an object that is gone, by its name in the cluster, kind/name.
func (c Cluster) Left(s Store, object string) (trace.Rest, bool) {
	kind, name, _ := strings.Cut(object, "/")
	if kind == "restore" {
		return c.StoredRestore(s, name)
	}
	return c.StoredBackup(s, name)
}

func (c Cluster) operation(id, plugin string, item velero.ResourceIdentifier, status itemoperation.OperationStatus) trace.Operation {
	return trace.Operation{
		ID: id, Plugin: plugin, Item: c.Outside(path.Join(item.GroupResource.String(), item.Namespace, item.Name)),
		Phase: string(status.Phase), Error: status.Error,
	}
}

// stored are the operations in an object, if there is one that can be read.
func stored[T any](s Store, key string) (operations []*T, ok bool) {
	data, ok := s(key)
	return operations, ok && unzip(data, &operations) == nil
}

// unzip decodes compressed JSON.
func unzip(data []byte, into any) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return json.NewDecoder(z).Decode(into)
}
