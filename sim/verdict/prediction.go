package verdict

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// prediction compares the path of each object with those that the model predicts for the scenario. What the model cannot predict
// is not judged here.
func (r *run) prediction(s *scenario.Scenario, rd reading) []Finding {
	var found []Finding
	predictions, _ := r.predict(rd.rules, s) //nolint:errcheck // those that there are
	for _, p := range predictions {
		o := r.find(p.Object)
		if o == nil || len(p.Paths) == 0 || p.Allows(o.taken()) {
			continue
		}
		var paths []string
		for _, path := range p.Paths {
			paths = append(paths, path.String())
		}
		found = append(found, r.finding("prediction", o.name, o.left(p), "path "+strings.Join(paths, ", or "), "path "+o.taken().String()))
	}
	return found
}

// taken is the path of the object, up to the first phase that sim/phase does not know.
func (o *object) taken() model.Path {
	var path model.Path
	for _, c := range o.changes {
		p, err := phase.Parse(c.To)
		if err != nil {
			break
		}
		path = append(path, p)
	}
	return path
}

// left is the event at which the object leaves all predicted paths: its first change of phase that none has there; the last one, if
// the object stays.
func (o *object) left(p model.Prediction) int {
	path := o.taken()
	for i, c := range o.changes {
		on := func(q model.Path) bool { return i < len(path) && i < len(q) && slices.Equal(q[:i+1], path[:i+1]) }
		if !slices.ContainsFunc(p.Paths, on) || i == len(o.changes)-1 {
			return c.event
		}
	}
	return 0
}

// attribute names the rules by which the release goes another way than is demanded, in the findings that follow from it: of the
// expectation, of liveness and of the prediction, and those of invariants that the rules break.
func (r *run) attribute(found []Finding, s *scenario.Scenario, release phase.Rules) {
	rules := map[string]phase.Rule{} // by object
	for i, f := range found {
		if f.Rule != "" || f.Object == "" {
			continue
		}
		if _, ok := rules[f.Object]; !ok {
			rules[f.Object] = r.departure(f.Object, s, release)
		}
		rule := rules[f.Object]
		invariant, _, _ := strings.Cut(f.Expected, ":")
		switch f.Oracle {
		case "expectation", "liveness", "prediction":
			found[i].Rule = rule.Name
		default:
			if slices.Contains(rule.Breaks, invariant) {
				found[i].Rule = rule.Name
			}
		}
	}
}

// departure is the one rule with which alone, of those in which the release deviates, the object's path is predicted, if it is not
// as is demanded. The zero Rule: there is none.
func (r *run) departure(name string, s *scenario.Scenario, release phase.Rules) phase.Rule {
	allowed := func(rules phase.Rules) bool {
		predictions, err := r.predict(rules, s)
		return err != nil || slices.ContainsFunc(predictions, func(p model.Prediction) bool {
			o := r.find(name)
			return p.Object == name && o != nil && p.Allows(o.taken())
		})
	}
	if allowed(phase.Demanded()) {
		return phase.Rule{}
	}
	for _, rule := range phase.All() {
		if rule.Deviates(release) && allowed(phase.Demanded().With(rule)) {
			return rule
		}
	}
	return phase.Rule{}
}
