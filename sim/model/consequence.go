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

// consequencesOf returns what may come of each of the scenario's faults.
func consequencesOf(s *scenario.Scenario, k phase.Kind) []consequence {
	var all []consequence
	for _, f := range s.Faults {
		var c consequence
		switch {
		case f.At.Phase != "":
			c = atPhase(f, k)
		case f.At.Call != nil:
			c = atCall(s, f, k)
		case f.At.Store != nil:
			c = atStore(s, f, k)
			c.surely = c.surely && !slices.ContainsFunc(s.Faults, func(g scenario.Fault) bool { // the other one may come first
				return g.ID != f.ID && g.At.Store != nil && *g.At.Store == *f.At.Store
			})
		}
		all = append(all, c)
	}
	return all
}

// atPhase is what a kill at a phase does. One that is delayed may come at any time after, or when the object has ended.
func atPhase(f scenario.Fault, k phase.Kind) consequence {
	p, err := phase.Parse(f.At.Phase)
	own := strings.HasPrefix(f.At.Object, k.String()+"/")
	c := consequence{inputs: killed(), written: []phase.Phase{p}, nth: max(f.At.Nth, 1), reaches: true}
	switch {
	case err != nil, !own && (k == phase.Backup || f.At.Delay.Duration == 0):
		return consequence{} // the backup has ended before the restore begins
	case !own:
		return consequence{inputs: killed()}
	case f.At.Delay.Duration > 0:
	case p.Final():
		c.inputs = nil
	default:
		c.inputs, c.in, c.now, c.surely = []phase.Input{phase.ServerKilled}, []phase.Phase{p}, true, true
	}
	return c
}

// atCall is what a kill at a plugin's call does. It is a call of the run, of a pass, or of the finalizer.
func atCall(s *scenario.Scenario, f scenario.Fault, k phase.Kind) consequence {
	var actions []scenario.Action
	calls := 0
	for _, p := range s.Plugins {
		if p.Name != f.At.Call.Plugin {
			continue
		}
		actions = append(actions, p.Action)
		for _, item := range s.Items {
			if resource, _, _ := strings.Cut(string(item), "/"); slices.Contains(p.Resources, resource) {
				calls++
			}
		}
	}
	action := map[phase.Kind]scenario.Action{phase.Backup: scenario.BackupItemAction, phase.Restore: scenario.RestoreItemAction}[k]
	if !slices.Contains(actions, action) {
		if k == phase.Restore && f.At.Delay.Duration > 0 { // it may come as late as that
			return consequence{inputs: killed()}
		}
		return consequence{}
	}
	later := waiting()
	if f.At.Call.Method == "Execute" {
		later = finalizing()
	}
	c := consequence{inputs: killed(), nth: 1}
	nth := max(f.At.Nth, 1)
	known := len(actions) == 1 && f.At.Call.Method != "Cancel" && (nth <= calls || len(s.Faults) == 1)
	switch {
	case f.At.Delay.Duration > 0 && known && nth > calls:
		c.written = later
	case f.At.Delay.Duration > 0:
		c.written = []phase.Phase{phase.InProgress}
	default:
		c.inputs, c.in, c.cancels = []phase.Input{phase.ServerKilled}, append(later, phase.InProgress), f.At.Call.Method == "Cancel"
		c.surely = len(actions) == 1
		if known && nth <= calls {
			c.in = []phase.Phase{phase.InProgress}
		} else if known {
			c.in = later
		}
	}
	updates := slices.ContainsFunc(s.Plugins, func(p scenario.Plugin) bool { return len(p.Execute.ItemsToUpdate) > 0 })
	c.never = len(actions) == 1 && f.At.Call.Method == "Execute" && nth > calls && !updates
	return c
}

// atStore is what a fault at an access to the object store does. Where nothing says which upload it is, it may be any.
func atStore(s *scenario.Scenario, f scenario.Fault, k phase.Kind) consequence {
	name := s.Backup.Name
	if k == phase.Restore {
		name = s.Restore.Name
	}
	own := strings.HasPrefix(f.At.Store.Key, k.String()+"s/"+name+"/")
	if k == phase.Backup && !own {
		return consequence{}
	}
	put, first := f.At.Store.Verb == "put", max(f.At.Nth, 1) == 1
	if f.Do.Kill != nil {
		c := consequence{inputs: []phase.Input{phase.ServerKilled}, surely: own && f.At.Delay.Duration == 0}
		operations := strings.HasSuffix(f.At.Store.Key, "itemoperations.json.gz")
		switch {
		case f.At.Delay.Duration > 0 || !own:
			c.inputs = killed()
		case put && first:
			c.in = []phase.Phase{phase.InProgress}
		case put && operations && f.At.After:
			c.inputs, c.in = []phase.Input{phase.PassPatchLost}, waiting()
		case put && operations:
			c.in = waiting()
		case put:
			c.in = append(waiting(), finalizing()...)
		}
		return c
	}
	if k == phase.Restore && !own && f.At.Store.Verb == "put" {
		return consequence{}
	}
	file := ""
	for _, suffix := range []string{"velero-backup.json", "itemoperations.json.gz", ".tar.gz"} {
		if strings.HasSuffix(f.At.Store.Key, suffix) {
			file = suffix
		}
	}
	lost := f.Do.Lose != nil
	var c consequence
	switch {
	case file == "itemoperations.json.gz" && lost && own:
		c = consequence{inputs: []phase.Input{phase.OperationsMissing}, in: waiting(), now: first}
	case file == ".tar.gz" && lost && k == phase.Backup:
		c = consequence{inputs: []phase.Input{phase.ContentsDisappeared}, surely: s.Restore == nil}
	case file == "itemoperations.json.gz" && put && first && k == phase.Restore && own:
		c = consequence{inputs: []phase.Input{phase.RunUploadFailed}}
	case strings.HasSuffix(f.At.Store.Key, "-logs.gz") && put && k == phase.Restore && own:
		c = consequence{}
	case file == "itemoperations.json.gz" && put && !first:
		c = consequence{inputs: []phase.Input{phase.PassUploadFailed}, surely: true}
	case k == phase.Backup && put && first && file != "":
		c = consequence{inputs: []phase.Input{phase.RunFailed}, surely: true}
	case file == ".tar.gz" && put && k == phase.Backup:
		c = consequence{inputs: []phase.Input{phase.FinalUploadFailed}, surely: true}
	case file == "velero-backup.json" && put && k == phase.Backup:
		c = consequence{inputs: []phase.Input{phase.PassUploadFailed, phase.FinalUploadFailed}, surely: true}
	default: // a read that fails is repeated, but for what the run or a restore's finalizer read
		c.inputs = []phase.Input{phase.RunFailed}
		if k == phase.Restore {
			c.inputs = []phase.Input{phase.RunFailed, phase.FinalizerFailed}
		}
	}
	return c
}

// killed is what a kill may be: one between the upload and the patch of a pass is both.
func killed() []phase.Input { return []phase.Input{phase.ServerKilled, phase.PassPatchLost} }

func waiting() []phase.Phase {
	return []phase.Phase{phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed}
}

func finalizing() []phase.Phase {
	return []phase.Phase{phase.Finalizing, phase.FinalizingPartiallyFailed}
}
