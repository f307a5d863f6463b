package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// beyond is why nothing is predicted of a scenario: what its faults may come to is more than the model explores. Empty: it is not.
func beyond(s *scenario.Scenario) string {
	if s.Store.Immutable {
		return "the model does not explore what comes of an object store that refuses to overwrite"
	}
	if s.CRDs.Lack() {
		return "the model does not explore CRDs that lack phases"
	}
	if i := slices.IndexFunc(s.Plugins, func(p scenario.Plugin) bool { return p.Own }); i >= 0 {
		return "what " + s.Plugins[i].Name + " answers, which is your own plugin, the scenario does not say"
	}
	for _, f := range s.Faults {
		switch {
		case f.Do.Outage.Duration > 0:
			return "the model does not explore an outage of the object store"
		case f.Do.Tear != nil && f.Do.Tear.Error == "" && (len(s.Restores) > 0 || !strings.HasSuffix(f.At.Store.Key, ".tar.gz")):
			return "the model does not explore what comes of an object that is torn unnoticed"
		case f.Do.StaleCache.Duration > 0:
			return "the model does not explore what a server does by a cache that stays stale"
		case f.Do.APIOutage.Duration > 0:
			return "the model does not explore an outage of the API server"
		case f.At.Store != nil && f.Do.Latency.Duration > phase.CallDeadline:
			return "the model does not explore accesses to the object store that take longer than the deadline of calls"
		case f.Do.Rollout != nil:
			return "the model does not explore two servers at once"
		case f.Do.Hang != nil:
			return "the model does not explore accesses to the object store that hang"
		case f.At.Write != nil && f.At.Write.Phase == "" && (f.Do.Refuse != "" || f.Do.LoseReply) && slices.ContainsFunc(s.Plugins, once):
			return "the model does not explore what comes of writes of the statuses of actions that fail"
		case f.Do.Crash != nil && f.At.Call != nil: // that survivors leaves
			return "the model does not explore plugin processes that end by themselves, other than once in a call that returns no errors of its own, and with a process that starts again"
		}
	}
	return ""
}

// survivors is the scenario in which calls return an error, once, instead of ending their plugin's process, where that comes to the same:
// Velero starts the plugin again when it next calls it (pkg/plugin/clientmgmt/process/restartable_process.go). Progress errs for one
// operation, and its process ends for all.
func survivors(s *scenario.Scenario) *scenario.Scenario {
	c := *s
	c.Plugins, c.Faults = slices.Clone(s.Plugins), nil
	for _, f := range s.Faults {
		if f.Do.Crash == nil || f.At.Call == nil || f.Times > 1 || f.For.Duration > 0 || !errs(&c, *f.At.Call, max(f.At.Nth, 1)) {
			c.Faults = append(c.Faults, f)
		}
	}
	return &c
}

// errs has the nth call return an error; not ok: it cannot be said so in a script, as where one process serves several actions, whose
// calls count together, or where it may not start again.
func errs(s *scenario.Scenario, call scenario.Call, nth int) bool {
	serves := 0
	for _, p := range s.Plugins {
		if p.Name == call.Plugin {
			serves++
		}
	}
	if relaunched(s, call) { // and called again
		return true
	}
	if serves > 1 || call.Phase != "" && call.Phase != phase.InProgress.String() || s.StartOf(call.Plugin).Fails() {
		return false
	}
	for i := range s.Plugins {
		p := &s.Plugins[i]
		methods := map[string]*scenario.Behaviour{"AppliesTo": &p.AppliesTo, "Execute": &p.Execute.Behaviour, "Progress": &p.Progress}
		b := methods[call.Method]
		single := call.Method != "Progress" || len(s.Items) == 1 && len(s.Objects()) == 1
		if p.Name == call.Plugin && b != nil && single && b.Error == "" && !b.Hang && b.Panic == "" {
			b.Error, b.Nth, b.Times = "its process ended", nth, 1
			return true
		}
	}
	return false
}

// relocated is what comes of a change of the location. A backup whose operations are polled must have one that it can write to; a
// restore, and both finalizers, must have one.
//
// Source: Reconcile in pkg/controller/backup_operations_controller.go, restore_operations_controller.go, backup_finalizer_controller.go and
// restore_finalizer_controller.go.
func (s subject) relocated(f scenario.Fault) (c consequence) {
	switch change := f.Do.Location; {
	case change == scenario.Removed && s.kind == phase.Restore:
		c.inputs = []phase.Input{phase.LookupFailed, phase.BackupNotFound}
	case change == scenario.Removed:
		c.inputs, c.stays = []phase.Input{phase.LookupFailed}, finalizing()
	case change == scenario.ReadOnly && s.kind == phase.Backup:
		c.inputs = []phase.Input{phase.LookupFailed}
	}
	return s.since(f, c)
}

// relocates reports whether the location changes in the scenario.
func (s subject) relocates() bool {
	return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Location != "" })
}

// homeless reports whether the validation of the subject may find no location that it can be stored at or read from: one that was removed
// or, for a backup, is read-only.
//
// Source: prepareBackupRequest in pkg/controller/backup_controller.go, validateAndComplete in restore_controller.go.
func (s subject) homeless() bool {
	return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool {
		late := f.At.Object == s.object && phaseNamed(f.At.Phase) >= phase.InProgress
		return !late && (f.Do.Location == scenario.Removed || f.Do.Location == scenario.ReadOnly && s.kind == phase.Backup)
	})
}

// remain adds the paths of a backup whose finalizer a fault leaves nothing to work on: it is called again for ever, or gives the backup up.
func (p *predictor) remain() {
	for _, f := range p.faults {
		for path := range maps.Clone(p.paths) {
			for i := range len(path) {
				if end := phase.Phase(path[i]); slices.Contains(f.stays, end) && f.reached(path[:i+1]) {
					if !p.holdsGone {
						p.paths[path[:i+1]+string([]byte{byte(phase.PartiallyFailed)})] = true
						continue
					}
					p.paths[path[:i+1]] = true
					p.stays[end] = true
				}
			}
		}
	}
}
