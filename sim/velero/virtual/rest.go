package virtual

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"path"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/itemoperation"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/trace"
)

// rest records what the API server and the object store hold when the run has ended.
func (r *run) rest() {
	for _, o := range r.api.List(velerov1.SchemeGroupVersion.WithResource("backups")) {
		name := "backup/" + o.GetName()
		var b velerov1.Backup
		if err := fromUnstructured(o, &b); err == nil {
			r.rec.add(0, name, trace.Body{Rest: new(restOfBackup(b, "api"))})
		}
		if stored, ok := r.storedBackup(o.GetName()); ok {
			r.rec.add(0, name, trace.Body{Rest: &stored})
		}
	}
	for _, o := range r.api.List(velerov1.SchemeGroupVersion.WithResource("restores")) {
		var x velerov1.Restore
		if err := fromUnstructured(o, &x); err == nil {
			r.rec.add(0, "restore/"+o.GetName(), trace.Body{Rest: new(restOfRestore(x))})
		}
		if stored, ok := r.storedRestore(o.GetName()); ok {
			r.rec.add(0, "restore/"+o.GetName(), trace.Body{Rest: &stored})
		}
	}
}

func fromUnstructured(o *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
}

func restOfBackup(b velerov1.Backup, copy string) trace.Rest {
	return trace.Rest{
		Copy: copy, Phase: string(b.Status.Phase), Errors: b.Status.Errors, Warnings: b.Status.Warnings,
		Attempted: b.Status.BackupItemOperationsAttempted, Completed: b.Status.BackupItemOperationsCompleted,
		Failed: b.Status.BackupItemOperationsFailed, Ended: b.Status.CompletionTimestamp != nil,
	}
}

func restOfRestore(x velerov1.Restore) trace.Rest {
	return trace.Rest{
		Copy: "api", Phase: string(x.Status.Phase), Errors: x.Status.Errors, Warnings: x.Status.Warnings,
		Attempted: x.Status.RestoreItemOperationsAttempted, Completed: x.Status.RestoreItemOperationsCompleted,
		Failed: x.Status.RestoreItemOperationsFailed, Ended: x.Status.CompletionTimestamp != nil,
	}
}

// storedBackup is the backup and its operations as the object store has them.
func (r *run) storedBackup(name string) (trace.Rest, bool) {
	folder := path.Join(bucket, "backups", name)
	var b velerov1.Backup
	data, ok := r.objects[folder+"/velero-backup.json"]
	if !ok || json.Unmarshal(data, &b) != nil {
		return trace.Rest{}, false
	}
	rest := restOfBackup(b, "store")
	operations, _ := stored[itemoperation.BackupOperation](r, folder+"/"+name+"-itemoperations.json.gz")
	for _, o := range operations {
		rest.Operations = append(rest.Operations, operation(o.Spec.OperationID, o.Spec.BackupItemAction, o.Spec.ResourceIdentifier, o.Status))
	}
	return rest, true
}

// storedRestore is the restore's operations: the object store has no more of it.
func (r *run) storedRestore(name string) (trace.Rest, bool) {
	rest := trace.Rest{Copy: "store"}
	operations, ok := stored[itemoperation.RestoreOperation](r, path.Join(bucket, "restores", name, "restore-"+name+"-itemoperations.json.gz"))
	for _, o := range operations {
		rest.Operations = append(rest.Operations, operation(o.Spec.OperationID, o.Spec.RestoreItemAction, o.Spec.ResourceIdentifier, o.Status))
	}
	return rest, ok
}

func operation(id, plugin string, item velero.ResourceIdentifier, status itemoperation.OperationStatus) trace.Operation {
	return trace.Operation{
		ID: id, Plugin: plugin, Item: path.Join(item.GroupResource.String(), item.Namespace, item.Name), Phase: string(status.Phase), Error: status.Error,
	}
}

// stored are the operations in an object, if there is one that can be read.
func stored[T any](r *run, key string) (operations []*T, ok bool) {
	data, ok := r.objects[key]
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
