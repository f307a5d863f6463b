package world

import (
	"slices"

	"github.com/velosim/velosim/sim/scenario"
)

// The capabilities.
const (
	CanBackup  = "backup"  // run backups, as every scenario does
	CanRestore = "restore" // run restores
	CanKill    = "kill"    // kill the server, and start it again
	CanStore   = "store"   // let accesses to the object store fail, or be where a fault strikes
)

// Lacks returns the capabilities that the scenario needs and the world does not have; none: the world can run it.
func (i Info) Lacks(s *scenario.Scenario) []string {
	needs := []string{CanBackup}
	if len(s.Restores) > 0 {
		needs = append(needs, CanRestore)
	}
	if slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Kill != nil }) {
		needs = append(needs, CanKill)
	}
	if slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.At.Store != nil }) {
		needs = append(needs, CanStore)
	}
	return slices.DeleteFunc(needs, func(c string) bool { return slices.Contains(i.Capabilities, c) })
}
