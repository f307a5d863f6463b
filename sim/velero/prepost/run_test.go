package prepost

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/actions"
)

func TestClientMarksARunThatBegins(t *testing.T) {
	queued := newBackup(velerov1.BackupPhaseReadyToStart)
	queued.Annotations = map[string]string{Annotation: `{"run":"uid-1","post":[{"pluginName":"example.io/quiesce"}]}`, "mine": "1"} // forged
	c := newCluster(t, queued)
	s := newServer(t.Context(), c, "a", quiesce(nil))
	stale := c.get(t)
	run := func(read *velerov1.Backup) (*velerov1.Backup, error) {
		b := read.DeepCopy()
		b.Status.Phase = velerov1.BackupPhaseInProgress
		return b, s.Client(c.client).Patch(t.Context(), b, client.MergeFrom(read))
	}
	b, err := run(stale)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{Annotation: `{"run":"uid-1"}`, "mine": "1"}
	for _, b := range []*velerov1.Backup{b, c.get(t)} {
		if diff := cmp.Diff(want, b.Annotations); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{actions.Finalizer}, b.Finalizers); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if _, err := run(stale); !apierrors.IsConflict(err) {
		t.Errorf("a run that begins anew by a stale cache: %v, want a conflict", err)
	}
}

func TestClientBlamesThePreAction(t *testing.T) {
	c := newCluster(t, begun(velerov1.BackupPhaseInProgress, record{}))
	s := newServer(t.Context(), c, "a", quiesce(nil))
	read := c.get(t)
	s.begins(read)
	s.fails(read, errors.New("no such namespace"))
	for range 2 { // the reply of the first is lost
		b := read.DeepCopy()
		b.Status.Phase = velerov1.BackupPhaseFailed
		if err := s.Client(c.client).Patch(t.Context(), b, client.MergeFrom(read)); err != nil {
			t.Fatal(err)
		}
		if b.Status.Phase != velerov1.BackupPhaseFailed {
			t.Errorf("Velero sees %s, want Failed", b.Status.Phase)
		}
		got := c.get(t).Status
		if got.Phase != actions.BackupPhaseFailedPreBackupActions || got.FailureReason != "no such namespace" || got.CompletionTimestamp == nil {
			t.Errorf("%s, because of %q, at %s", got.Phase, got.FailureReason, got.CompletionTimestamp)
		}
		if s.isRunning(read) || s.failure(read.UID) != "" {
			t.Error("it is still known as one that runs, or whose pre-action has failed")
		}
		s.fails(read, errors.New("no such namespace"))
	}
}

func TestStored(t *testing.T) {
	for name, why := range map[string]string{"a run": "", "a failed pre-action": "no such namespace"} {
		b := begun(velerov1.BackupPhaseFailed, record{})
		b.Annotations["mine"] = "1"
		b.Finalizers = append(b.Finalizers, "mine.io/x")
		s := newServer(t.Context(), newCluster(t), "a", quiesce(nil))
		if why != "" {
			s.fails(b, errors.New(why))
		}
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.stored(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var got velerov1.Backup
		if err := json.NewDecoder(r).Decode(&got); err != nil {
			t.Fatal(err)
		}
		want := newBackup(velerov1.BackupPhaseFailed)
		want.Annotations, want.Finalizers = map[string]string{"mine": "1"}, []string{"mine.io/x"}
		if why != "" {
			want.Status.Phase, want.Status.FailureReason = actions.BackupPhaseFailedPreBackupActions, why
			want.Status.CompletionTimestamp = got.Status.CompletionTimestamp
			if want.Status.CompletionTimestamp == nil {
				t.Errorf("%s: no completionTimestamp", name)
			}
		}
		if diff := cmp.Diff(want, &got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
