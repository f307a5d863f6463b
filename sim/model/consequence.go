package model

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// consequence is what may come of a fault of a scenario, for one object.
type consequence struct {
	// inputs of which one happens; none: the object goes on as if there were no fault.
	inputs []phase.Input
	// in are the phases in which it may happen; none: all.
	in []phase.Phase
	// written are the phases of which one must have been written for the nth time before; none: any.
	written []phase.Phase
	nth     int
	// cancels: when an operation has timed out.
	cancels bool
	// now: when the phase was just written, and nothing else then.
	now bool
	// late: not before the pre-actions.
	late bool
	// again: it may happen several times.
	again bool
	// stays are phases in which its finalizer has nothing to work on from then on.
	stays []phase.Phase
	// ends: the object may be gone from then on. syncs: and come back as its stored copy has it.
	ends, syncs bool
	// surely: a run in which it does not happen shows nothing. reaches: nor does one in which the phases are not written. never:
	// it cannot happen.
	surely, reaches, never bool
}

// possible reports whether the input may come of the fault.
func (c consequence) possible(in phase.Input, n node) bool {
	return slices.Contains(c.inputs, in) && (len(c.in) == 0 || slices.Contains(c.in, n.Object.Phase)) && c.reached(n.path) && (!c.cancels || n.expired > 0)
}

// reached reports whether the path has led to the point.
func (c consequence) reached(path string) bool {
	times := 0
	for _, p := range phases(path) {
		if slices.Contains(c.written, p) {
			times++
		}
	}
	return len(c.written) == 0 || times >= c.nth
}

// consequences returns what may come of each of the scenario's faults, and of what else may befall the object.
func (s subject) consequences(b beginning) []consequence {
	var all []consequence
	for _, f := range s.Faults {
		c := s.consequence(f)
		if !s.Must(f) {
			c.surely, c.reaches, c.never = false, false, false
		}
		all = append(all, c)
	}
	if ttl, expires := s.Expires(); expires && s.kind == phase.Backup && s.spec.TTL.Duration <= ttl {
		// From its validation on it has a time of expiry (pkg/controller/backup_controller.go).
		validated := []phase.Phase{phase.InProgress, phase.FailedValidation}
		all = append(all, consequence{inputs: []phase.Input{phase.DeletionRequested}, written: validated, nth: 1})
	}
	if s.kind == phase.Restore && s.vanishes(s.backup) {
		// What deletes a backup deletes its restores (pkg/controller/backup_deletion_controller.go).
		all = append(all, consequence{inputs: []phase.Input{phase.LookupFailed, phase.BackupNotFound}, ends: s.deletable(s.backup)})
	}
	if b.fails {
		all = append(all, consequence{inputs: []phase.Input{phase.RunFailed}})
	}
	return all
}

// consequence is what may come of a fault. Of one that others may come to as well it is not certain that it strikes the subject.
func (s subject) consequence(f scenario.Fault) (c consequence) {
	if f.Do.Delete != "" || f.Do.Remove != "" || f.Do.Describe != "" {
		return s.asked(f)
	}
	if f.Do.Location != "" {
		return s.relocated(f)
	}
	if f.Do.Pause.Duration > 0 { // time passes (casting.blank), and nothing else comes of it
		return c
	}
	if f.Do.BreakWatches != nil || f.Do.Latency.Duration > 0 { // it is time, and no more
		return c
	}
	hosts := s.hosts(f.At)
	own := slices.Contains(hosts, s.object)
	if own {
		switch {
		case f.At.Phase != "":
			c = atPhase(f)
		case f.At.Call != nil:
			c = s.atCall(f)
		case f.At.Store != nil:
			c = s.atStore(f)
		case f.At.Write != nil:
			c = s.atWrite(f)
		}
		if len(hosts) == 1 && !s.vanishes(s.object) && !s.described() {
			return c
		}
		c.surely, c.reaches, c.never = false, false, false
	}
	others := func(o string) bool { // those that may come to it while the subject runs
		return s.beside(o) || o != s.object && s.precedes(o, s.object) && (s.vanishes(o) || f.At.Delay.Duration > 0)
	}
	if f.Do.Kill == nil {
		return c
	}
	if own || slices.ContainsFunc(hosts, others) {
		return consequence{inputs: killed()}
	}
	return consequence{}
}

// hosts are the objects in whose runs the point may come.
func (s subject) hosts(at scenario.Point) []string {
	if at.Phase != "" {
		return []string{at.Object}
	}
	if at.Write != nil {
		return s.writes(at.Write.Object)
	}
	return slices.DeleteFunc(s.Objects(), func(o string) bool {
		other := subjectOf(s.Scenario, o)
		if at.Store != nil {
			reads := other.kind == phase.Restore && (at.Store.Verb == "get" || at.Store.Verb == "exists")
			return !strings.HasPrefix(at.Store.Key, folder(o)) && (!reads || !strings.HasPrefix(at.Store.Key, folder(other.backup)))
		}
		return !slices.ContainsFunc(s.Plugins, func(p scenario.Plugin) bool {
			return p.Name == at.Call.Plugin && (p.Action == other.action() || p.Action == scenario.DeleteItemAction && s.deletable(o) || once(p) && p.Action.Serves(o))
		})
	})
}

// folder is where the object store has what is stored of an object.
func folder(object string) string { return strings.Replace(object, "/", "s/", 1) + "/" }

// action is that of the plugins which the object's run calls.
func (s subject) action() scenario.Action {
	if s.kind == phase.Restore {
		return scenario.RestoreItemAction
	}
	return scenario.BackupItemAction
}

// asked is what comes of what the user asks Velero for. It is done later, or refused.
func (s subject) asked(f scenario.Fault) (c consequence) {
	switch s.object {
	case f.Do.Delete:
		if s.kind == phase.Backup {
			c.inputs = []phase.Input{phase.DeletionRequested}
		} else {
			c.ends = true
		}
	case f.Do.Remove:
		c.ends, c.syncs = true, true
	case f.Do.Describe:
		c.inputs = []phase.Input{phase.Described}
	default:
		return c
	}
	c = s.since(f, c)
	// The tracker has let go of it then.
	c.surely = len(c.written) > 0 && c.written[0] == phase.Completed && s.kind == phase.Backup && f.Do.Delete != "" && !s.relocates()
	return c
}

// since is the consequence of what the user does from the point on, if that is a phase of the subject.
func (s subject) since(f scenario.Fault, c consequence) consequence {
	if p := phaseNamed(f.At.Phase); f.At.Object == s.object && p != phase.New {
		c.written, c.nth, c.reaches = []phase.Phase{p}, max(f.At.Nth, 1), true
	}
	return c
}

// atPhase is what a kill at a phase of the subject does. One that is delayed may come at any time after, or when it has ended.
func atPhase(f scenario.Fault) consequence {
	p, err := phase.Parse(f.At.Phase)
	c := consequence{inputs: killed(), written: []phase.Phase{p}, nth: max(f.At.Nth, 1), reaches: true}
	switch {
	case err != nil:
		return consequence{}
	case p == phase.New: // it was just created
		c = consequence{inputs: killed()}
		if f.At.Delay.Duration == 0 {
			c.in = []phase.Phase{phase.New}
		}
	case f.At.Delay.Duration > 0:
	case p.Final():
		c.inputs = nil
	default:
		c.inputs, c.in, c.now, c.surely = []phase.Input{phase.ServerKilled}, []phase.Phase{p}, true, true
	}
	return c
}
