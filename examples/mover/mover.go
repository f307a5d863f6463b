package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	steps = 10 // of an operation
	step  = 200 * time.Millisecond

	idPrefix  = "mover-"
	idHash    = 16 // bytes
	cancelled = ".cancelled"
)

// mover is what the actions of backups and of restores have in common. It keeps only when an operation was started and cancelled: what has
// come of it follows from the time.
type mover struct {
	store Store
	now   func() time.Time
}

// start starts an operation for the item, if it is one to move, and returns its ID. It does not wait for it.
func (m mover) start(item runtime.Unstructured, owner metav1.OwnerReference, veleroNamespace string) (string, error) {
	u := unstructured.Unstructured{Object: item.UnstructuredContent()}
	_, own := u.GetLabels()[stateLabel]
	if u.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "ConfigMap"}) || own || u.GetNamespace() == veleroNamespace {
		return "", nil
	}
	// The ID follows from the backup and the item: called again, Execute finds its operation. A hash is a safe name of a file.
	of := []string{owner.Kind, string(owner.UID), owner.Name, u.GetNamespace(), u.GetName()}
	hash := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	id := idPrefix + hex.EncodeToString(hash[:idHash])
	return id, m.store.Put(id, m.now(), owner)
}

// progress returns biav2.InvalidOperationIDError, of the same text as riav2's, for what start has not made: IDs come back from Velero, which
// reads them from the object store.
func (m mover) progress(id string, now time.Time) (velero.OperationProgress, error) {
	hash, err := hex.DecodeString(strings.TrimPrefix(id, idPrefix))
	if err != nil || len(hash) != idHash {
		return velero.OperationProgress{}, biav2.InvalidOperationIDError(id)
	}
	started, err := m.store.Get(id)
	if err != nil {
		return velero.OperationProgress{}, err
	}
	if started.IsZero() {
		return velero.OperationProgress{}, biav2.InvalidOperationIDError(id)
	}
	stopped, err := m.store.Get(id + cancelled)
	return report(started, stopped, now), err
}

// cancel ends the operation now. One that has ended stays as it is.
func (m mover) cancel(id string, owner metav1.OwnerReference) error {
	now := m.now()
	p, err := m.progress(id, now)
	if err != nil || p.Completed {
		return err
	}
	return m.store.Put(id+cancelled, now, owner)
}

// report is what an operation has come to. It changes with each step and in the end, and Updated says when it did. A clock that is behind
// that of the machine where the operation was started counts as no time.
func report(started, stopped, now time.Time) velero.OperationProgress {
	if !stopped.IsZero() {
		now = stopped
	}
	elapsed := min(max(now.Sub(started), 0), steps*step)
	done := elapsed / step
	p := velero.OperationProgress{
		Completed: done == steps, NCompleted: int64(done), NTotal: steps, OperationUnits: "steps", Description: "moving",
		Started: started, Updated: started.Add(done * step),
	}
	if !stopped.IsZero() {
		p.Completed, p.Err, p.Description, p.Updated = true, "cancelled", "cancelled", started.Add(elapsed)
	}
	return p
}
