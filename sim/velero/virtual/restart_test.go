package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
)

// Whatever a server was doing when it was killed, the next one brings to the end that is wanted, and deletes it on request.
func TestRestartInEachPhase(t *testing.T) {
	const deleting = "Deleting"
	tests := []struct {
		object, phase string // in which the server is killed
		want          string // phase that the object comes to; Deleting: it stays until there is another request
	}{
		{"backup/backup-1", "", "Completed"},
		{"backup/backup-1", "Queued", "Completed"},
		{"backup/backup-1", "ReadyToStart", "ReadyToStart"}, // known deviation: ready-backup-forgotten-by-restart
		{"backup/backup-1", "InProgress", "Failed"},
		{"backup/backup-1", "FailedValidation", "FailedValidation"},
		{"backup/backup-1", waiting, "Completed"},
		{"backup/backup-1", waitingFailed, "PartiallyFailed"},
		{"backup/backup-1", "Finalizing", "Completed"},
		{"backup/backup-1", finalFailed, "PartiallyFailed"},
		{"backup/backup-1", "Completed", "Completed"},
		{"backup/backup-1", "PartiallyFailed", "PartiallyFailed"},
		{"backup/backup-1", deleting, deleting},
		{"restore/restore-1", "", "Completed"},
		{"restore/restore-1", "InProgress", "Failed"},
		{"restore/restore-1", "FailedValidation", "FailedValidation"},
		{"restore/restore-1", waiting, "Completed"},
		{"restore/restore-1", waitingFailed, "PartiallyFailed"},
		{"restore/restore-1", "Finalizing", "Completed"},
		{"restore/restore-1", finalFailed, "PartiallyFailed"},
		{"restore/restore-1", "Completed", "Completed"},
	}
	for _, tt := range tests {
		t.Run(tt.object+" "+tt.phase, func(t *testing.T) {
			fails := strings.HasSuffix(tt.phase, "PartiallyFailed")
			s := parse(t, "test.yaml", scenarioOf(t, failing(tt.object, fails), "Completed"))
			s.Faults = []scenario.Fault{{
				ID: "fault-1", At: scenario.Point{Object: tt.object, Phase: tt.phase}, Do: scenario.Do{Kill: &scenario.Kill{RestartAfter: scenario.Duration{Duration: 10 * time.Second}}},
			}}
			play := func(p *virtual.Player) error {
				b := backupOf("backup-1", "app")
				if tt.phase == "FailedValidation" && strings.HasPrefix(tt.object, "backup") {
					b.Spec.StorageLocation = "missing"
				}
				x := &velerov1.Restore{ObjectMeta: meta("restore-1"), Spec: velerov1.RestoreSpec{BackupName: "backup-1", RestorePVs: new(false)}}
				if tt.phase == "FailedValidation" {
					x.Spec.BackupName = "missing"
				}
				if err := p.Create(context.Background(), b); err != nil {
					return err
				}
				if strings.HasPrefix(tt.object, "restore") {
					if err := errors.Join(p.Until(2*time.Hour, "backup/backup-1", "Completed"), p.Create(context.Background(), x)); err != nil {
						return err
					}
				}
				switch tt.phase {
				case "":
					p.Kill(10 * time.Second)
				case deleting:
					if err := errors.Join(p.Until(2*time.Hour, "backup/backup-1", "Completed"), deleteRequest(p)); err != nil {
						return err
					}
				}
				if err := errors.Join(p.Until(2*time.Hour, tt.object, tt.want), p.Wait(time.Hour), p.Until(time.Second, tt.object, tt.want)); err != nil {
					return err
				}
				if b.Spec.StorageLocation == "missing" {
					return nil // Velero refuses to delete it
				}
				if err := errors.Join(deleteRequest(p), gone(p, 5*time.Minute, b), p.Wait(5*time.Minute)); err != nil {
					return err
				}
				if left := p.Stored("backups/"); len(left) > 0 {
					return fmt.Errorf("the store still has %v", left)
				}
				return nil
			}
			for seed := int64(1); seed <= seeds(t, 4); seed++ {
				tr := played(t, s, seed, play)
				servers := 0
				for _, e := range tr.Events {
					if e.Process != nil && e.Process.Name == "server" && e.Process.State == "started" {
						servers++
					}
				}
				if tr.End.Reason != trace.Settled || servers != 2 {
					t.Errorf("seed %d: ended %+v, %d servers", seed, tr.End, servers)
				}
				if seed == 1 {
					if d := differ(ndjson(t, tr), ndjson(t, played(t, s, seed, play))); d != "" {
						t.Errorf("seed %d: %s", seed, d)
					}
				}
			}
		})
	}
}

// failing are plugins of backups and restores, of which one of the object's fails soon if fails.
func failing(object string, fails bool) string {
	end := map[bool]string{true: "failed: volume is gone", false: "completed: true"}[fails]
	backup, restore := "completed: true", "completed: true"
	if strings.HasPrefix(object, "backup") {
		backup = end
	} else {
		restore = end
	}
	const action = `
- {name: example.io/%s, action: %s, operation: {progress: [{at: %s, %s}]}}`
	return "\nrestore: {}\nplugins:" +
		fmt.Sprintf(action, "a", "BackupItemAction", "1m", backup) + fmt.Sprintf(action, "b", "BackupItemAction", "1h", "completed: true") +
		fmt.Sprintf(action, "c", "RestoreItemAction", "1m", restore) + fmt.Sprintf(action, "d", "RestoreItemAction", "1h", "completed: true")
}
