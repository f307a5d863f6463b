package prepost

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/sim/actions"
)

func TestDue(t *testing.T) {
	status := func(p actions.Phase) []actions.Status { return []actions.Status{{PluginName: plugin, Phase: p}} }
	for name, test := range map[string]struct {
		record record
		skip   string
		due    bool
	}{
		"the pre-action was not called": {record{}, "", false},
		"the pre-action is skipped":     {record{}, "prebackup", true},
		"the pre-action was cut off":    {record{Pre: status(actions.InProgress)}, "", true},
		"the pre-action has failed":     {record{Pre: status(actions.Failed)}, "", true},
		"it is skipped":                 {record{Pre: status(actions.Completed)}, "postbackup", false},
		"it was cut off":                {record{Pre: status(actions.Completed), Post: status(actions.InProgress)}, "", true},
		"it was called":                 {record{Pre: status(actions.Completed), Post: status(actions.Completed)}, "", false},
		"it was called, and has failed": {record{Pre: status(actions.Completed), Post: status(actions.Failed)}, "", false},
	} {
		b := newBackup(velerov1.BackupPhaseCompleted)
		b.Annotations = map[string]string{plugin + "." + test.skip: "skip"}
		s := newServer(t.Context(), newCluster(t), "a", quiesce(nil))
		if due := len(s.due(b, &test.record)) > 0; due != test.due {
			t.Errorf("%s: %t, want %t", name, due, test.due)
		}
	}
}

// calls are those of the kinds.
func calls(made *[]common.PluginKind) scripted {
	return quiesce(func(_ context.Context, k common.PluginKind) error {
		*made = append(*made, k)
		return errors.New("no such namespace")
	})
}

func TestSettle(t *testing.T) {
	copied := begun(velerov1.BackupPhaseCompleted, record{Pre: []actions.Status{{PluginName: plugin, Phase: actions.Completed}}})
	copied.UID = "uid-2"
	ran := record{Pre: []actions.Status{{PluginName: plugin, Phase: actions.Completed}}}
	for name, test := range map[string]struct {
		backup      *velerov1.Backup
		calls, free bool
	}{
		"it has ended":                       {begun(velerov1.BackupPhaseFailed, ran), true, true},
		"it goes on":                         {begun(velerov1.BackupPhaseWaitingForPluginOperations, ran), false, false},
		"it is deleted":                      {begun(velerov1.BackupPhaseDeleting, ran), true, true},
		"its pre-action had not begun":       {begun(velerov1.BackupPhaseFailed, record{}), false, true},
		"it is a copy that sync has brought": {copied, false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var made []common.PluginKind
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c := newCluster(t, test.backup)
			if err := newServer(ctx, c, "a", calls(&made)).settle(ctx, c.get(t)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if called := len(made) > 0; called != test.calls {
				t.Errorf("%s: called: %t, want %t", name, called, test.calls)
			}
			if free := !slices.Contains(c.get(t).Finalizers, actions.Finalizer); free != test.free {
				t.Errorf("%s: free: %t, want %t", name, free, test.free)
			}
			if left := c.leases(t); len(left) > 0 {
				t.Errorf("%s: left behind: %v", name, left)
			}
		})
	}
}

// The user takes the finalizer away, and deletes the backup, while its post-action goes on.
func TestSettleOfWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b := begun(velerov1.BackupPhaseFailed, record{Pre: []actions.Status{{PluginName: plugin, Phase: actions.Completed}}})
		c := newCluster(t, b)
		s := newServer(ctx, c, "a", quiesce(func(context.Context, common.PluginKind) error {
			b := c.get(t)
			b.Finalizers = nil
			return errors.Join(c.client.Update(ctx, b), c.client.Delete(ctx, b))
		}))
		start := time.Now()
		if err := s.settle(ctx, c.get(t)); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("its status is written for %s", took)
		}
		if left := c.leases(t); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// Another server starts while the pre-action goes on, and marks the run as failed: the workloads must be resumed after they were stopped.
func TestPostActionWaitsForAnotherServersPreAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c := newCluster(t, begun(velerov1.BackupPhaseInProgress, record{}))
		var order []string
		act := quiesce(func(_ context.Context, k common.PluginKind) error {
			if k == actions.PluginKindPreBackupAction {
				time.Sleep(time.Minute) // of the bubble's time
			}
			order = append(order, k.String())
			return nil
		})
		first, second := newServer(ctx, c, "first", act), newServer(ctx, c, "second", act)
		ran := make(chan error)
		go func() { ran <- first.pre(c.get(t), first.Log) }()
		synctest.Wait()
		b := c.get(t)
		b.Status.Phase = velerov1.BackupPhaseFailed
		if err := c.client.Update(ctx, b); err != nil {
			t.Fatal(err)
		}
		settled := make(chan error)
		go func() { settled <- second.settle(ctx, c.get(t)) }()
		if err := <-ran; !errors.Is(err, errEnded) {
			t.Errorf("the run: %v, want %v", err, errEnded)
		}
		if err := <-settled; err != nil {
			t.Error(err)
		}
		if want := []string{"PreBackupAction", "PostBackupAction"}; !slices.Equal(order, want) {
			t.Errorf("ended in the order %v, want %v", order, want)
		}
	})
}

// A server that ends while another calls the post-actions must not wait for these.
func TestLeadEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b := begun(velerov1.BackupPhaseFailed, record{})
		c := newCluster(t, b)
		held, let := make(chan struct{}), make(chan struct{})
		go func() {
			_ = newServer(ctx, c, "first", quiesce(nil)).lead(ctx, "x", b, func(context.Context) error {
				close(held)
				<-let
				return nil
			})
		}()
		<-held
		ends, end := context.WithTimeout(ctx, 5*time.Second)
		defer end()
		err := newServer(ends, c, "second", quiesce(nil)).lead(ends, "x", b, func(context.Context) error {
			t.Error("both act")
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want %v", err, context.DeadlineExceeded)
		}
		close(let)
	})
}
