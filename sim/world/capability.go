package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// The capabilities.
const (
	CanBackup  = "backup"       // run backups, as every scenario does
	CanRestore = "restore"      // run restores
	CanKill    = "kill"         // kill the server, and start it again
	CanPause   = "pause"        // stop the server for a while
	CanRollOut = "roll out"     // start another server while one runs
	CanSever   = "sever"        // come between the server and the API server
	CanCRDs    = "replace CRDs" // install other CRDs than those of Velero's release
	CanStore   = "store"        // let accesses to the object store fail, or be where a fault strikes
	CanAct     = "act"          // call pre- and post-actions
)

// Unable is why the world cannot run the scenario; empty: it can.
func (i Info) Unable(s *scenario.Scenario) string {
	lacks := i.lacks(s)
	if i.World == "envtest" && slices.Equal(lacks, []string{CanAct}) {
		return "it has pre- or post-actions, which no release of Velero calls, but velosim's own server, of the newest release: leave out --velero"
	}
	if len(lacks) > 0 {
		return fmt.Sprintf("it needs a world that can %s; the world %s (build: %s) cannot: leave the scenario out, or install a newer world (velosim setup)",
			strings.Join(lacks, " and "), i.World, i.Build)
	}
	if len(s.Worlds) > 0 && !slices.Contains(s.Worlds, i.World) {
		return "it is for the world " + strings.Join(s.Worlds, " or ")
	}
	release, err := phase.ForRelease(i.Velero)
	if err != nil {
		return ""
	}
	if len(s.Releases) > 0 && !slices.Contains(s.Releases, release.Name) {
		return "it is for Velero " + strings.Join(s.Releases, " or ")
	}
	if release.Unqueued && s.Server.ConcurrentBackups > 1 {
		return fmt.Sprintf("Velero %s runs one backup at a time, and server.concurrentBackups is %d", i.Velero, s.Server.ConcurrentBackups)
	}
	points := s.Points()
	for _, what := range slices.Sorted(maps.Keys(points)) {
		at := points[what]
		names := []string{at.Phase}
		if at.Write != nil {
			names = append(names, at.Write.From, at.Write.Phase)
		}
		if at.Call != nil {
			names = append(names, at.Call.Phase)
		}
		for _, name := range names {
			if p, err := phase.Parse(name); err == nil && !release.Has(p) {
				return fmt.Sprintf("%s is at %s, and Velero %s has no such phase", what, p, i.Velero)
			}
		}
	}
	return ""
}

// lacks returns the capabilities that the scenario needs and the world does not have; none: the world can run it.
func (i Info) lacks(s *scenario.Scenario) []string {
	needs := []string{CanBackup}
	if len(s.Restores) > 0 {
		needs = append(needs, CanRestore)
	}
	if slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Kill != nil }) {
		needs = append(needs, CanKill)
	}
	if slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Pause.Duration > 0 }) {
		needs = append(needs, CanPause)
	}
	if slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Rollout != nil }) {
		needs = append(needs, CanRollOut)
	}
	if slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Severs() }) {
		needs = append(needs, CanSever)
	}
	if s.CRDs.Lack() {
		needs = append(needs, CanCRDs)
	}
	if s.Store.Immutable || slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.At.Store != nil || f.Do.Outage.Duration > 0 }) {
		needs = append(needs, CanStore)
	}
	if s.HasActions() {
		needs = append(needs, CanAct)
	}
	return slices.DeleteFunc(needs, func(c string) bool { return slices.Contains(i.Capabilities, c) })
}
