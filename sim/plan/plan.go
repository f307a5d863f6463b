package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/scenario"
)

// Family is a kind of faults.
type Family string

// The families.
const (
	// Kill: the server is killed, just before and just after each write to the API server and each change in the object store.
	Kill Family = "kill"
	// Refuse: each write to the API server is refused once.
	Refuse Family = "refuse"
	// LoseReply: each write to the API server is applied, and its reply lost.
	LoseReply Family = "lose-reply"
	// Store: each access to the object store fails once.
	Store Family = "store"
	// Plugin: each plugin call fails, hangs, panics, or ends the plugin's process.
	Plugin Family = "plugin"
)

// Families are all of them.
func Families() []Family { return []Family{Kill, Refuse, LoseReply, Store, Plugin} }

// Plan is a scenario with a fault more.
type Plan struct {
	// Name of the scenario: backup-operation-completes--kill-before-patch-finalizing.
	Name   string
	Family Family
	// Action is what the fault does, within the family: kill-before.
	Action string
	// Step at which it strikes.
	Step Step
	// Pruned is why it is not to be run; empty: it is.
	Pruned string
	// File is the scenario's file, and Scenario what Parse reads of it; nil: the plan is pruned.
	File     []byte
	Scenario *scenario.Scenario
}

// method that the step calls; empty: none.
func (s Step) method() string {
	if c := s.At.Call; c != nil {
		return c.Plugin + " " + c.Method
	}
	return ""
}

// Plans returns the plans for a scenario, whose file is given, too, in the order of the steps: all that can be thought of, those that are
// pruned as well. Names of those that are to be run are distinct, and the same for the same steps. The error says why the file cannot be read.
func Plans(file []byte, s *scenario.Scenario, steps []Step, families []Family) ([]Plan, error) {
	doc, err := parse(file)
	if err != nil {
		return nil, err
	}
	var plans []Plan
	taken, struck := map[string]int{}, map[string]bool{}
	for _, step := range steps {
		for _, f := range faults(step) {
			if !slices.Contains(families, f.family) {
				continue
			}
			p := Plan{Family: f.family, Action: f.action, Step: step, Pruned: step.Pruned}
			name := f.action + "-" + step.name
			if same := fmt.Sprint(f.do, f.script, step.method()); p.Pruned == "" && f.script != nil && struck[same] {
				p.Pruned = ofEveryOperation
			} else {
				struck[same] = true
			}
			if p.Pruned == "" {
				if taken[name]++; taken[name] > 1 {
					name = fmt.Sprintf("%s-%d", name, taken[name])
				}
			}
			p.Name = named(s.Metadata.Name, name)
			if p.Pruned == "" {
				p.write(doc, s, f)
			}
			plans = append(plans, p)
		}
	}
	return plans, nil
}

// write writes the plan's file, or prunes the plan if there can be none.
func (p *Plan) write(doc document, s *scenario.Scenario, f fault) {
	if f.script == nil {
		doc = doc.struck(f)
	} else if doc = doc.scripted(s, p.Step, f.script); doc == nil {
		p.Pruned = misbehaves
		return
	}
	about := fmt.Sprintf("Planned from %s: %s.", s.Metadata.Name, f.what)
	file, x, err := doc.finish(p.Name, about, s)
	if err != nil {
		p.Pruned = "no scenario can have it: " + firstOf(err)
		return
	}
	p.File, p.Scenario = file, x
}

// firstOf is the first thing that is wrong with a scenario.
func firstOf(err error) string {
	var all scenario.Errors
	if errors.As(err, &all) && len(all) > 0 {
		return all[0].Field + " " + all[0].Message
	}
	return err.Error()
}

// Sample prunes all plans but those that stand for the others: of each action, the first one at each change of an object's phase, or in
// each phase.
func Sample(plans []Plan) {
	type edge struct{ action, object, from, to string }
	seen := map[edge]bool{}
	for i := range plans {
		p := &plans[i]
		e := edge{p.Action, p.Step.Object, p.Step.Phase, p.Step.To}
		switch {
		case p.Pruned != "":
		case seen[e]:
			p.Pruned = likeOthers
		default:
			seen[e] = true
		}
	}
}
