package model

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// atCall is what a kill at a plugin's call does. It is a call of the run, of a pass, or of the finalizer.
func (s subject) atCall(f scenario.Fault) consequence {
	var actions []scenario.Action
	calls := 0
	for _, p := range s.Plugins {
		if p.Name != f.At.Call.Plugin {
			continue
		}
		actions = append(actions, p.Action)
		for _, item := range s.Items {
			if slices.Contains(p.Resources, item.Resource()) {
				calls++
			}
		}
	}
	if s.acts(f.At.Call.Plugin) {
		return s.atAction(f, slices.Contains(actions, s.action()))
	}
	if !slices.Contains(actions, s.action()) { // but in its deletion
		return consequence{}
	}
	later := waiting()
	method := f.At.Call.Method
	if method == "Execute" || method == "AppliesTo" {
		later = finalizing()
	}
	c := consequence{inputs: killed(), nth: 1}
	nth := max(f.At.Nth, 1)
	known := len(actions) == 1 && (method == "Execute" || method == "Progress") && (nth <= calls || len(s.Faults) == 1)
	switch {
	case f.At.Delay.Duration > 0 && known && nth > calls:
		c.written = later
	case f.At.Delay.Duration > 0:
		c.written = []phase.Phase{phase.InProgress}
	default:
		c.inputs, c.in, c.cancels = []phase.Input{phase.ServerKilled}, append(later, phase.InProgress), method == "Cancel"
		c.surely = len(actions) == 1
		if known && nth <= calls {
			c.in = []phase.Phase{phase.InProgress}
		} else if known {
			c.in = later
		}
	}
	updates := slices.ContainsFunc(s.Plugins, func(p scenario.Plugin) bool { return len(p.Execute.ItemsToUpdate) > 0 })
	if p := f.At.Call.Phase; p != "" && f.At.Delay.Duration == 0 {
		c.in = []phase.Phase{phaseNamed(p)}
	} else if p != "" {
		c.written = []phase.Phase{phaseNamed(p)}
	}
	c.never = f.At.Call.Phase == "" && len(actions) == 1 && method == "Execute" && nth > calls && !updates
	return c
}

// atStore is what a fault at an access to the object store does. Where nothing says which upload it is, it may be any.
func (s subject) atStore(f scenario.Fault) consequence {
	k := s.kind
	if strings.HasSuffix(f.At.Store.Key, "-post-actions-logs.gz") { // it comes after all that there is to be called
		return consequence{}
	}
	own := strings.HasPrefix(f.At.Store.Key, folder(s.object))
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
	case file == ".tar.gz" && f.Do.Tear != nil && f.Do.Tear.Error == "" && k == phase.Backup: // what the finalizer cannot read, it has not
		c = consequence{inputs: []phase.Input{phase.ContentsDisappeared}}
	case file == ".tar.gz" && lost && k == phase.Backup:
		c = consequence{inputs: []phase.Input{phase.ContentsDisappeared}, surely: !s.restored()}
	case file == "itemoperations.json.gz" && put && first && k == phase.Restore && own:
		c = consequence{inputs: []phase.Input{phase.RunUploadFailed}}
	case strings.HasSuffix(f.At.Store.Key, "-logs.gz") && put && k == phase.Restore && own:
		c = consequence{}
	case file == "itemoperations.json.gz" && put && !first:
		c = consequence{inputs: []phase.Input{phase.PassUploadFailed}, surely: true}
	case k == phase.Backup && put && first && file != "":
		c = consequence{inputs: []phase.Input{phase.RunFailed}, surely: true, late: true}
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

// restored reports whether a restore reads the subject.
func (s subject) restored() bool {
	return slices.ContainsFunc(s.Restores, func(x scenario.Restore) bool { return "backup/"+x.Backup == s.object })
}

// killed is what a kill may be: one between the upload and the patch of a pass is both.
func killed() []phase.Input { return []phase.Input{phase.ServerKilled, phase.PassPatchLost} }

func waiting() []phase.Phase {
	return []phase.Phase{phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed}
}

func finalizing() []phase.Phase {
	return []phase.Phase{phase.Finalizing, phase.FinalizingPartiallyFailed}
}
