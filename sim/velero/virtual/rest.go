package virtual

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"path"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/itemoperation"
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
	var operations []*itemoperation.BackupOperation
	if data, ok := r.objects[folder+"/"+name+"-itemoperations.json.gz"]; ok && unzip(data, &operations) == nil {
		for _, o := range operations {
			id := o.Spec.ResourceIdentifier
			rest.Operations = append(rest.Operations, trace.Operation{
				ID: o.Spec.OperationID, Plugin: o.Spec.BackupItemAction, Item: path.Join(id.GroupResource.String(), id.Namespace, id.Name),
				Phase: string(o.Status.Phase), Error: o.Status.Error,
			})
		}
	}
	return rest, true
}

// unzip decodes compressed JSON.
func unzip(data []byte, into any) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return json.NewDecoder(z).Decode(into)
}
