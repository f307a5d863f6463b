package virtual_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/backup"
	"github.com/vmware-tanzu/velero/pkg/itemoperation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/world"
)

// played is the trace of a run whose user the test is.
func played(t testing.TB, s *scenario.Scenario, seed int64, play func(*virtual.Player) error) trace.Trace {
	t.Helper()
	var tr trace.Trace
	var err error
	tr.End, err = virtual.New().Play(context.Background(), world.Job{Scenario: s, Seed: seed, Bound: trace.Time(24 * time.Hour)}, func(e trace.Event) error {
		tr.Events = append(tr.Events, e)
		return nil
	}, play)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	return tr
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "velero", Name: name} }

func backupOf(name string, namespaces ...string) *velerov1.Backup {
	return &velerov1.Backup{ObjectMeta: meta(name), Spec: velerov1.BackupSpec{IncludedNamespaces: namespaces, StorageLocation: "default", SnapshotVolumes: new(false)}}
}

// backedUp creates backup-1 of namespace app, and waits until it is Completed.
func backedUp(p *virtual.Player) error {
	if err := p.Create(context.Background(), backupOf("backup-1", "app")); err != nil {
		return err
	}
	return p.Until(2*time.Hour, "backup/backup-1", "Completed")
}

// restoredAgain creates restore-1 of backup-1, and waits until it is Completed.
func restoredAgain(p *virtual.Player) error {
	x := &velerov1.Restore{ObjectMeta: meta("restore-1"), Spec: velerov1.RestoreSpec{BackupName: "backup-1", RestorePVs: new(false)}}
	if err := p.Create(context.Background(), x); err != nil {
		return err
	}
	return p.Until(2*time.Hour, "restore/restore-1", "Completed")
}

func deleteRequest(p *virtual.Player) error {
	b := &velerov1.Backup{ObjectMeta: meta("backup-1")}
	if err := p.Get(context.Background(), client.ObjectKeyFromObject(b), b); err != nil {
		return err
	}
	d := backup.NewDeleteBackupRequest(b.Name, string(b.UID))
	d.Namespace = b.Namespace
	return p.Create(context.Background(), d)
}

// gone lets the server act until the object is.
func gone(p *virtual.Player, within time.Duration, o client.Object) error {
	return p.UntilTrue(within, fmt.Sprintf("%T %s is gone", o, o.GetName()), func() bool {
		return apierrors.IsNotFound(p.Get(context.Background(), client.ObjectKeyFromObject(o), o))
	})
}

func nothing[L client.ObjectList](p *virtual.Player, l L, n func(L) int) error {
	if err := p.List(context.Background(), l); err != nil {
		return err
	}
	if n(l) > 0 {
		return fmt.Errorf("left: %+v", l)
	}
	return nil
}

func download(p *virtual.Player, name string, kind velerov1.DownloadTargetKind, target string) error {
	return p.Create(context.Background(), &velerov1.DownloadRequest{
		ObjectMeta: meta(name), Spec: velerov1.DownloadRequestSpec{Target: velerov1.DownloadTarget{Kind: kind, Name: target}},
	})
}

// operations are how far the operations are that the object store has.
func operations[T any](p *virtual.Player, key string, status func(T) itemoperation.OperationStatus) (done []int64, err error) {
	z, err := gzip.NewReader(bytes.NewReader(p.Object(key)))
	if err != nil {
		return nil, err
	}
	var os []T
	if err := json.NewDecoder(z).Decode(&os); err != nil {
		return nil, err
	}
	for _, o := range os {
		done = append(done, status(o).NCompleted)
	}
	return done, nil
}

// mostAtOnce is how many objects have the phase at a time, at most.
func mostAtOnce(tr trace.Trace, phase string) (most int) {
	n := 0
	for _, e := range tr.Events {
		if e.Phase != nil && e.Phase.To == phase {
			n++
		}
		if e.Phase != nil && e.Phase.From == phase {
			n--
		}
		most = max(most, n)
	}
	return most
}
