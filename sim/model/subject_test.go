package model

import (
	"testing"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// An object that another is created in the run of may be left out.
func TestPointInARunThatIsLeftOut(t *testing.T) {
	for _, missing := range []string{"backup/backup-1", "restore/restore-1"} {
		s := &scenario.Scenario{Backups: []scenario.Backup{
			{Name: "backup-2", At: &scenario.Point{Object: missing, Phase: "InProgress"}}, {Name: "backup-3"},
		}}
		if p := Predict(phase.Demanded(), s); len(p) != 2 {
			t.Errorf("without %s: %v", missing, p)
		}
	}
}
