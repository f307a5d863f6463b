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
	// in are the phases in which it may, and since the one that must have been written before; none: any.
	in, since []phase.Phase
	// cancels: when an operation has timed out.
	cancels bool
	// now: when the phase was just written, and nothing else then.
	now bool
	// surely: a run in which it does not happen shows nothing.
	surely bool
}

// possible reports whether the input may come of the fault.
func (c consequence) possible(in phase.Input, n node) bool {
	among := func(ps []phase.Phase, p phase.Phase) bool { return len(ps) == 0 || slices.Contains(ps, p) }
	written := len(c.since) == 0
	for _, p := range phases(n.path) {
		written = written || among(c.since, p)
	}
	return slices.Contains(c.inputs, in) && among(c.in, n.Object.Phase) && written && (!c.cancels || n.Expired > 0)
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
		}
		all = append(all, c)
	}
	return all
}

// atPhase is what a kill at a phase does. One that is delayed may come at any time after, or when the object has ended.
func atPhase(f scenario.Fault, k phase.Kind) consequence {
	p, err := phase.Parse(f.At.Phase)
	own := strings.HasPrefix(f.At.Object, k.String()+"/")
	switch {
	case err != nil, !own && (k == phase.Backup || f.At.Delay.Duration == 0):
		return consequence{} // the backup has ended before the restore begins
	case p == phase.New:
		return consequence{inputs: []phase.Input{phase.ServerKilled}}
	case f.At.Delay.Duration > 0 && own:
		return consequence{inputs: []phase.Input{phase.ServerKilled}, since: []phase.Phase{p}}
	case f.At.Delay.Duration > 0:
		return consequence{inputs: []phase.Input{phase.ServerKilled}}
	case p.Final():
		return consequence{}
	}
	first := max(f.At.Nth, 1) == 1
	return consequence{inputs: []phase.Input{phase.ServerKilled}, in: []phase.Phase{p}, now: first, surely: true}
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
		return consequence{}
	}
	c := consequence{inputs: []phase.Input{phase.ServerKilled}, surely: len(actions) == 1 && f.At.Delay.Duration == 0, cancels: f.At.Call.Method == "Cancel"}
	later := waiting()
	if f.At.Call.Method == "Execute" {
		later = finalizing()
	}
	switch nth := max(f.At.Nth, 1); {
	case f.At.Delay.Duration > 0:
		return c
	case len(actions) > 1 || f.At.Call.Method == "Cancel" || nth > calls && len(s.Faults) > 1:
		c.in = append(later, phase.InProgress)
	case nth <= calls:
		c.in = []phase.Phase{phase.InProgress}
	default:
		c.in = later
	}
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
		c = consequence{inputs: []phase.Input{phase.RunUploadFailed}, surely: true}
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

func waiting() []phase.Phase {
	return []phase.Phase{phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed}
}

func finalizing() []phase.Phase {
	return []phase.Phase{phase.Finalizing, phase.FinalizingPartiallyFailed}
}
