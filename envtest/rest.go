package envtest

import (
	"fmt"
	"os"
	"path/filepath"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/trace"
)

// rest records what the API server and the object store hold when the run has ended.
func (r *run) rest() error {
	var backups velerov1.BackupList
	var restores velerov1.RestoreList
	for _, list := range []client.ObjectList{&backups, &restores} {
		if err := r.user.List(r.ctx, list, client.InNamespace(r.cluster.Velero)); err != nil {
			return fmt.Errorf("failed to look at the end: %w", err)
		}
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
	return nil
}

// stored reads an object of the object store.
func (r *run) stored(key string) ([]byte, bool) {
	data, err := os.ReadFile(filepath.Join(r.folder, "store", filepath.FromSlash(key)))
	return data, err == nil
}
