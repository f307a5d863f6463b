package world_test

import (
	"testing"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/world"
)

// TestUnable: what a world or a release cannot have, is said before anything runs.
func TestUnable(t *testing.T) {
	all := []string{world.CanBackup, world.CanRestore, world.CanKill, world.CanStore}
	for text, want := range map[string]string{
		"":                               "",
		"releases: [v1.14]":              "",
		"worlds: [envtest]":              "",
		"releases: [v1.18]":              "it is for Velero v1.18",
		"worlds: [virtual]":              "it is for the world virtual",
		"server: {concurrentBackups: 2}": "Velero 1.14.0 runs one backup at a time, and server.concurrentBackups is 2",
		"faults: [{at: {phase: Queued}, do: {kill: {}}}]":                                     "fault fault-1 is at Queued, and Velero 1.14.0 has no such phase",
		"faults: [{at: {write: {from: Queued, phase: ReadyToStart}}, do: {refuse: Invalid}}]": "fault fault-1 is at Queued, and Velero 1.14.0 has no such phase",
		"backups: [{}, {at: {phase: ReadyToStart, object: backup/backup-1}}]":                 "the creation of backup/backup-2 is at ReadyToStart, and Velero 1.14.0 has no such phase",
		"plugins: [{name: a.io/b, action: PreBackupAction}]": "it has pre- or post-actions, which no release of Velero calls, " +
			"but velosim's own server, of the newest release: leave out --velero",
	} {
		s, errs := scenario.Parse("s.yaml", []byte("apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nexpect: {phase: Completed}\n"+text+"\n"))
		if len(errs) > 0 {
			t.Errorf("%s: %v", text, errs)
			continue
		}
		if got := (world.Info{World: "envtest", Velero: "1.14.0", Capabilities: all}).Unable(s); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
