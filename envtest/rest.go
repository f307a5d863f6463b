package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// rest records what the API server and the object store hold when the run has ended.
func (r *run) rest() error {
	var backups velerov1.BackupList
	var restores velerov1.RestoreList
	backups.SetGroupVersionKind(velerov1.SchemeGroupVersion.WithKind("BackupList")) // which reading leaves out
	restores.SetGroupVersionKind(velerov1.SchemeGroupVersion.WithKind("RestoreList"))
	for _, list := range []client.ObjectList{&backups, &restores} {
		if err := r.client.List(r.ctx, list, client.InNamespace(r.cluster.Velero)); err != nil {
			return fmt.Errorf("failed to look at the end: %w", err)
		}
	}
	if err := r.keep(&backups, &restores); err != nil {
		return err
	}
	for _, b := range backups.Items {
		name := "backup/" + b.Name
		r.rec.add(0, name, trace.Body{Rest: new(cluster.RestOfBackup(b))})
		if stored, ok := r.cluster.StoredBackup(r.stored, b.Name); ok {
			r.rec.add(0, name, trace.Body{Rest: &stored})
		}
	}
	for _, x := range restores.Items {
		name := "restore/" + x.Name
		r.rec.add(0, name, trace.Body{Rest: new(cluster.RestOfRestore(x))})
		if stored, ok := r.cluster.StoredRestore(r.stored, x.Name); ok {
			r.rec.add(0, name, trace.Body{Rest: &stored})
		}
	}
	for _, object := range r.deleted() { // what is left of them in the object store
		if stored, ok := r.cluster.Left(r.stored, r.names.In(object)); ok {
			r.rec.add(0, object, trace.Body{Rest: &stored})
		}
	}
	return r.user.RestOfItems(r.ctx, func(item string, is trace.Item) { r.rec.add(0, item, trace.Body{Item: &is}) })
}

// deleted are the objects that are gone, in order.
func (r *run) deleted() (objects []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for object, phase := range r.phases {
		if phase == scenario.Deleted {
			objects = append(objects, object)
		}
	}
	slices.Sort(objects)
	return objects
}

// keep writes the resources into the job's folder, if it has one.
func (r *run) keep(lists ...client.ObjectList) error {
	if r.job.Keep == "" {
		return nil
	}
	for _, list := range lists {
		kind := list.GetObjectKind().GroupVersionKind().Kind
		b, err := yaml.Marshal(list)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.job.Keep, strings.ToLower(kind)+".yaml"), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
