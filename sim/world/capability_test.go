package world

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/velosim/velosim/sim/scenario"
)

func TestLacks(t *testing.T) {
	kill := []scenario.Fault{{}, {Do: scenario.Do{Kill: &scenario.Kill{}}}}
	pause := []scenario.Fault{{Do: scenario.Do{Pause: scenario.Duration{Duration: 1}}}}
	rollout := []scenario.Fault{{Do: scenario.Do{Rollout: &scenario.Rollout{}}}}
	for name, tt := range map[string]struct {
		scenario scenario.Scenario
		has      []string
		want     []string
	}{
		"a backup":                       {scenario.Scenario{}, []string{CanBackup}, nil},
		"a backup, nothing":              {scenario.Scenario{}, nil, []string{CanBackup}},
		"an outage of the API server":    {scenario.Scenario{Faults: []scenario.Fault{{Do: scenario.Do{APIOutage: scenario.Duration{Duration: 1}}}}}, []string{CanBackup}, []string{CanSever}},
		"CRDs that lack a phase":         {scenario.Scenario{CRDs: scenario.CRDs{Restore: scenario.CRD{Lacks: []string{"Finalizing"}}}}, []string{CanBackup}, []string{CanCRDs}},
		"a restore":                      {scenario.Scenario{Restores: []scenario.Restore{{}}}, []string{CanBackup}, []string{CanRestore}},
		"a kill":                         {scenario.Scenario{Faults: kill}, []string{CanBackup, CanRestore}, []string{CanKill}},
		"a pause":                        {scenario.Scenario{Faults: pause}, []string{CanBackup, CanKill}, []string{CanPause}},
		"a rollout":                      {scenario.Scenario{Faults: rollout}, []string{CanBackup, CanKill, CanPause}, []string{CanRollOut}},
		"actions":                        {scenario.Scenario{Plugins: []scenario.Plugin{{}, {Action: scenario.PostBackupAction}}}, []string{CanBackup}, []string{CanAct}},
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
