package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/itemoperation"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
)

const slowMover = `
plugins: [{name: example.io/mover, operation: {progress: [{at: 0s, of: 10}, {at: 5m, done: 5}, {at: 1h, completed: true}]}}]`

var controllers = map[string]struct {
	scenario string
	play     func(*virtual.Player) error
	check    func(trace.Trace) error
}{
	"a request deletes a backup, what is stored of it, and its restore": {
		scenario: `
faults: [{at: {phase: Completed}, do: {delete: backup/backup-1}}] # else the action would never be called
items: [configmaps/app/a, configmaps/app/b]
plugins:
- {name: example.io/mover, operation: {progress: [{at: 10m, completed: true}]}}
- {name: example.io/cleaner, action: DeleteItemAction}`,
		play: func(p *virtual.Player) error {
			if err := errors.Join(backedUp(p), restoredAgain(p), deleteRequest(p), gone(p, 5*time.Minute, backupOf("backup-1")), p.Wait(time.Minute)); err != nil {
				return err
			}
			if left := append(p.Stored("backups/"), p.Stored("restores/")...); len(left) > 0 {
				return fmt.Errorf("the store still has %v", left)
			}
			return errors.Join(
				nothing(p, new(velerov1.RestoreList), func(l *velerov1.RestoreList) int { return len(l.Items) }),
				nothing(p, new(velerov1.DeleteBackupRequestList), func(l *velerov1.DeleteBackupRequestList) int { return len(l.Items) }))
		},
		check: func(tr trace.Trace) error {
			var cleaned []string
			for _, e := range tr.Events {
				if e.Call != nil && e.Call.Plugin == "example.io/cleaner" && e.Call.Method == "Execute" {
					cleaned = append(cleaned, e.Object+" "+e.Call.Item+" "+e.Call.Controller)
				}
				if e.Write != nil && strings.HasSuffix(e.Write.Name, "/") { // requests have generated names, and are deleted together
					return fmt.Errorf("a write without a name: %+v", e.Write)
				}
			}
			slices.Sort(cleaned)
			want := []string{"backup/backup-1 configmaps/app/a backup-deletion", "backup/backup-1 configmaps/app/b backup-deletion"}
			if !slices.Equal(cleaned, want) {
				return fmt.Errorf("calls of the DeleteItemAction: %q", cleaned)
			}
			return nil
		},
	},
	"downloads upload the operations that are in memory": {
		scenario: `
items: [configmaps/app/a, configmaps/app/b]
restore: {}
plugins:
- {name: example.io/mover, operation: {progress: [{at: 0s, of: 10}, {at: 5m, done: 5}, {at: 1h, completed: true}]}}
- {name: example.io/r, action: RestoreItemAction, operation: {progress: [{at: 0s, of: 10}, {at: 5m, done: 5}, {at: 1h, completed: true}]}}`,
		play: func(p *virtual.Player) error {
			describe := func(kind velerov1.DownloadTargetKind, target, key string, done func() ([]int64, error)) error {
				if before, err := done(); err != nil || !slices.Equal(before, []int64{0, 0}) {
					return fmt.Errorf("stored of %s before: %v, %w", target, before, err)
				}
				for i := range 3 { // together, and as the operations are polled
					if err := download(p, fmt.Sprintf("%s-%d", target, i), kind, target); err != nil {
						return err
					}
				}
				r := &velerov1.DownloadRequest{ObjectMeta: meta(target + "-2")}
				processed := func() bool {
					return p.Get(context.Background(), client.ObjectKeyFromObject(r), r) == nil && r.Status.Phase == velerov1.DownloadRequestPhaseProcessed
				}
				if err := p.UntilTrue(time.Minute, "the request is processed", processed); err != nil {
					return err
				}
				if want := "memory://velosim/" + key; r.Status.DownloadURL != want {
					return fmt.Errorf("URL %s, want %s", r.Status.DownloadURL, want)
				}
				if after, err := done(); err != nil || !slices.Equal(after, []int64{5, 5}) {
					return fmt.Errorf("stored of %s afterwards: %v, %w", target, after, err)
				}
				return gone(p, 12*time.Minute, r)
			}
			const b, x = "backups/backup-1/backup-1-itemoperations.json.gz", "restores/restore-1/restore-restore-1-itemoperations.json.gz"
			if err := errors.Join(p.Create(context.Background(), backupOf("backup-1", "app")), p.Until(time.Minute, "backup/backup-1", waiting), p.Wait(10*time.Minute)); err != nil {
				return err
			}
			if err := describe(velerov1.DownloadTargetKindBackupItemOperations, "backup-1", b, func() ([]int64, error) {
				return operations(p, b, func(o itemoperation.BackupOperation) itemoperation.OperationStatus { return o.Status })
			}); err != nil {
				return err
			}
			if err := p.Until(time.Hour, "backup/backup-1", "Completed"); err != nil {
				return err
			}
			for _, name := range []string{"a", "b"} {
				if err := p.Delete(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: name}}); err != nil {
					return err
				}
			}
			restore := &velerov1.Restore{ObjectMeta: meta("restore-1"), Spec: velerov1.RestoreSpec{BackupName: "backup-1", RestorePVs: new(false)}}
			if err := errors.Join(p.Create(context.Background(), restore), p.Until(time.Minute, "restore/restore-1", waiting), p.Wait(10*time.Minute)); err != nil {
				return err
			}
			if err := describe(velerov1.DownloadTargetKindRestoreItemOperations, "restore-1", x, func() ([]int64, error) {
				return operations(p, x, func(o itemoperation.RestoreOperation) itemoperation.OperationStatus { return o.Status })
			}); err != nil {
				return err
			}
			return p.Until(time.Hour, "restore/restore-1", "Completed")
		},
	},
	"downloads meet the polls that change the operations": {
		scenario: func() string {
			var steps []string
			for i := range 120 {
				steps = append(steps, fmt.Sprintf("{at: %ds, of: 200, done: %d}", i*10, i))
			}
			return "\nplugins: [{name: example.io/mover, operation: {progress: [" + strings.Join(steps, ", ") + ", {at: 30m, completed: true}]}}]"
		}(),
		play: func(p *virtual.Player) error {
			if err := errors.Join(p.Create(context.Background(), backupOf("backup-1", "app")), p.Until(time.Minute, "backup/backup-1", waiting)); err != nil {
				return err
			}
			for i := range 100 { // at each tenth of a second between two polls
				if err := errors.Join(download(p, fmt.Sprint("d", i), velerov1.DownloadTargetKindBackupItemOperations, "backup-1"), p.Wait(10100*time.Millisecond)); err != nil {
					return err
				}
			}
			return p.Until(time.Hour, "backup/backup-1", "Completed")
		},
	},
	"a schedule makes a backup each time that it is due": {
		scenario: slowMover,
		play: func(p *virtual.Player) error {
			began := time.Now()
			s := &velerov1.Schedule{ObjectMeta: meta("regular"), Spec: velerov1.ScheduleSpec{Schedule: "@every 3h", Template: backupOf("", "app").Spec}}
			if err := p.Create(context.Background(), s); err != nil {
				return err
			}
			var l velerov1.BackupList
			if err := p.UntilTrue(8*time.Hour, "there are two backups", func() bool { return p.Completed() == 2 }); err != nil {
				return err
			}
			if err := p.List(context.Background(), &l); err != nil {
				return err
			}
			for i, b := range l.Items {
				at, err := time.Parse("regular-20060102150405", b.Name)
				if err != nil {
					return err
				}
				if late := at.Sub(began) - time.Duration(i+1)*3*time.Hour; late < 0 || late > 3*time.Minute {
					return fmt.Errorf("backup %s is %v late", b.Name, late)
				}
				if b.Labels[velerov1.ScheduleNameLabel] != "regular" {
					return fmt.Errorf("backup %s has labels %v", b.Name, b.Labels)
				}
			}
			return p.Delete(context.Background(), s)
		},
	},
	"an expired backup is collected": {
		scenario: "\nserver: {garbageCollectionFrequency: 10m}",
		play: func(p *virtual.Player) error {
			b := backupOf("backup-1", "app")
			b.Spec.TTL.Duration = 35 * time.Minute
			if err := errors.Join(p.Create(context.Background(), b), p.Until(time.Minute, "backup/backup-1", "Completed"), p.Wait(34*time.Minute)); err != nil {
				return err
			}
			if err := p.Get(context.Background(), client.ObjectKeyFromObject(b), b); err != nil {
				return fmt.Errorf("too early: %w", err)
			}
			if err := gone(p, 13*time.Minute, b); err != nil {
				return err
			}
			if left := p.Stored("backups/"); len(left) > 0 {
				return fmt.Errorf("the store still has %v", left)
			}
			return nil
		},
	},
	"a backup that is in the store only is synced": {
		play: func(p *virtual.Player) error {
			for _, name := range []string{"backup-1", "backup-2", "backup-3"} {
				if err := errors.Join(p.Create(context.Background(), backupOf(name, "app")), p.Until(time.Minute, "backup/"+name, "Completed")); err != nil {
					return err
				}
			}
			for _, name := range []string{"backup-1", "backup-2", "backup-3"} {
				if err := p.Delete(context.Background(), backupOf(name)); err != nil {
					return err
				}
			}
			for _, name := range []string{"backup-1", "backup-2", "backup-3"} {
				if err := p.Until(3*time.Minute, "backup/"+name, "Completed"); err != nil {
					return err
				}
			}
			return nil
		},
		check: func(tr trace.Trace) error {
			synced := 0
			for i, e := range tr.Events {
				if e.Phase != nil && e.Phase.From == "" && e.Phase.To == "Completed" && tr.Events[i-1].Write != nil && tr.Events[i-1].Write.Client == "backup-sync" {
					synced++
				}
			}
			if synced != 3 {
				return fmt.Errorf("%d backups went from nothing to Completed by backup-sync", synced)
			}
			return nil
		},
	},
	"one backup at a time":  atOnce(1, 1, 0, "a", "b", "c"),
	"two backups at a time": atOnce(2, 2, 0, "a", "b", "c"),
	// Created at once, two of them can run at once: the queue controller, whose cache is behind, gives both the same position, and
	// neither of two with the same position waits for the other (pkg/controller/backup_queue_controller.go).
	"of one namespace one backup at a time": atOnce(3, 1, 5*time.Second, "a", "a", "a"),
	"the server lists its plugins": {
		scenario: slowMover,
		play: func(p *virtual.Player) error {
			r := &velerov1.ServerStatusRequest{ObjectMeta: meta("version")}
			if err := errors.Join(p.Create(context.Background(), r), p.Until(time.Minute, "serverstatusrequest/version", "Processed")); err != nil {
				return err
			}
			if err := p.Get(context.Background(), client.ObjectKeyFromObject(r), r); err != nil {
				return err
			}
			for _, want := range []velerov1.PluginInfo{
				{Name: "example.io/mover", Kind: "BackupItemActionV2"},
				{Name: "velero.io/dataupload-delete", Kind: "DeleteItemAction"},
				{Name: "velosim.io/memory", Kind: "ObjectStore"},
			} {
				if !slices.Contains(r.Status.Plugins, want) {
					return fmt.Errorf("%+v is not among %+v", want, r.Status.Plugins)
				}
			}
			return gone(p, 10*time.Minute, r)
		},
	},
}

// atOnce creates backups of the namespaces, one after the other, on a server that runs so many at a time.
func atOnce(concurrent, most int, gap time.Duration, namespaces ...string) (c struct {
	scenario string
	play     func(*virtual.Player) error
	check    func(trace.Trace) error
},
) {
	c.scenario = fmt.Sprintf(`
server: {concurrentBackups: %d}
items: [configmaps/a/settings, configmaps/b/settings, configmaps/c/settings]
plugins: [{name: example.io/mover, execute: {delay: 3m}, operation: {progress: [{at: 1h, completed: true}]}}]`, concurrent)
	c.play = func(p *virtual.Player) error {
		for i, namespace := range namespaces {
			if err := errors.Join(p.Create(context.Background(), backupOf(fmt.Sprint("backup-", i), namespace)), p.Wait(gap)); err != nil {
				return err
			}
		}
		for i := range namespaces {
			if err := p.Until(4*time.Hour, fmt.Sprint("backup/backup-", i), "Completed"); err != nil {
				return err
			}
		}
		return nil
	}
	c.check = func(tr trace.Trace) error {
		if n := mostAtOnce(tr, "InProgress"); n != most {
			return fmt.Errorf("%d backups were InProgress at a time, want %d", n, most)
		}
		return nil
	}
	return c
}

// elsewhere is the trace of a run in another time zone.
func elsewhere(run func() trace.Trace) trace.Trace {
	here := time.Local
	defer func() { time.Local = here }()
	time.Local = time.FixedZone("elsewhere", 5*60*60)
	return run()
}

func TestControllers(t *testing.T) {
	for name, tt := range controllers {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "sync") && !virtual.Seeded {
				t.Skip("Velero syncs backups in the order of a map, which follows the seed only in a test that is built with -overlay, as make test does")
			}
			s := parse(t, "test.yaml", scenarioOf(t, tt.scenario, "Completed"))
			s.Faults = nil // the test is the user
			for seed := int64(1); seed <= seeds(t, 8); seed++ {
				tr := played(t, s, seed, tt.play)
				if tr.End.Reason != trace.Settled {
					t.Errorf("seed %d: ended %+v", seed, tr.End)
				}
				if tt.check != nil {
					if err := tt.check(tr); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
				if d := differ(ndjson(t, tr), ndjson(t, elsewhere(func() trace.Trace { return played(t, s, seed, tt.play) }))); d != "" {
					t.Errorf("seed %d: %s", seed, d)
				}
			}
		})
	}
}
