package virtual

import (
	"context"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// rest records what the API server and the object store hold when the run has ended.
func (r *run) rest(ctx context.Context) error {
	for _, o := range r.api.List(velerov1.SchemeGroupVersion.WithResource("backups")) {
		name := "backup/" + o.GetName()
		var b velerov1.Backup
		if err := fromUnstructured(o, &b); err == nil {
			r.rec.add(0, name, trace.Body{Rest: new(cluster.RestOfBackup(b))})
		}
		if stored, ok := r.cluster.StoredBackup(r.stored, o.GetName()); ok {
			r.rec.add(0, name, trace.Body{Rest: &stored})
		}
	}
	for _, o := range r.api.List(velerov1.SchemeGroupVersion.WithResource("restores")) {
		var x velerov1.Restore
		if err := fromUnstructured(o, &x); err == nil {
			r.rec.add(0, "restore/"+o.GetName(), trace.Body{Rest: new(cluster.RestOfRestore(x))})
		}
		if stored, ok := r.cluster.StoredRestore(r.stored, o.GetName()); ok {
			r.rec.add(0, "restore/"+o.GetName(), trace.Body{Rest: &stored})
		}
	}
	for _, object := range sortedKeys(r.phases) { // what is left in the object store of those that are gone
		if r.phases[object] != scenario.Deleted {
			continue
		}
		if stored, ok := r.cluster.Left(r.stored, r.names.In(object)); ok {
			r.rec.add(0, object, trace.Body{Rest: &stored})
		}
	}
	return r.user.RestOfItems(ctx, func(item string, is trace.Item) { r.rec.add(0, item, trace.Body{Item: &is}) })
}

func fromUnstructured(o *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
}

// stored reads an object of the object store.
func (r *run) stored(key string) ([]byte, bool) {
	data, ok := r.objects[key]
	return data, ok
}
