package verdict

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// predicted is what the model predicts for the objects of a scenario, and why it does not for all.
type predicted struct {
	of  []model.Prediction
	err error
}

// predictions asks the model once for each set of rules: it explores.
func (r *run) predictions(rules phase.Rules, s *scenario.Scenario) predicted {
	rules.Name = ""
	p, ok := r.predicted[rules]
	if !ok {
		p.of, p.err = r.predict(rules, s)
		r.predicted[rules] = p
	}
	return p
}

// prediction compares the path of each object with those that the model predicts for the scenario. What the model cannot predict
// is not judged here.
func (r *run) prediction(s *scenario.Scenario, rd reading) []Finding {
	var found []Finding
	for _, p := range r.predictions(rd.rules, s).of { // those that there are
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

// predictionOf is the prediction for one object: without a path if it takes none. Nil: it cannot be predicted.
func (r *run) predictionOf(name string, rules phase.Rules, s *scenario.Scenario) *model.Prediction {
	all := r.predictions(rules, s)
	for _, p := range all.of {
		if p.Object == name && (len(p.Paths) > 0 || all.err == nil) {
			return &p
		}
	}
	if all.err == nil {
		return &model.Prediction{Object: name}
	}
	return nil
}
