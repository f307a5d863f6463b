package world

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/velosim/velosim/sim/scenario"
)

func TestLacks(t *testing.T) {
	kill := []scenario.Fault{{}, {Do: scenario.Do{Kill: &scenario.Kill{}}}}
	for name, tt := range map[string]struct {
		scenario scenario.Scenario
		has      []string
		want     []string
	}{
		"a backup":                       {scenario.Scenario{}, []string{CanBackup}, nil},
		"a backup, nothing":              {scenario.Scenario{}, nil, []string{CanBackup}},
		"a restore":                      {scenario.Scenario{Restores: []scenario.Restore{{}}}, []string{CanBackup}, []string{CanRestore}},
		"a kill":                         {scenario.Scenario{Faults: kill}, []string{CanBackup, CanRestore}, []string{CanKill}},
		"a kill in a restore":            {scenario.Scenario{Restores: []scenario.Restore{{}}, Faults: kill}, []string{CanBackup}, []string{CanRestore, CanKill}},
		"a kill in a restore, all of it": {scenario.Scenario{Restores: []scenario.Restore{{}}, Faults: kill}, []string{CanKill, CanRestore, CanBackup}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Info{Capabilities: tt.has}.lacks(&tt.scenario)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
