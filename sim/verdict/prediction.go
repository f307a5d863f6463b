package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// predictions asks the model once for each set of rules what becomes of what has happened: it explores.
func (r *run) predictions(rules phase.Rules) []model.Prediction {
	rules.Name = ""
	p, ok := r.predicted[rules]
	if !ok {
		p = r.predict(rules, r.happened())
		r.predicted[rules] = p
	}
	return p
}

// happened is the scenario without what never came, which completeness tells: faults that never struck, and objects whose point of
// creation was never passed. It is what the other objects went through.
func (r *run) happened() *scenario.Scenario {
	s := *r.scenario
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f scenario.Fault) bool { return !r.faults[f.ID] })
	s.Restores = slices.DeleteFunc(slices.Clone(s.Restores), func(x scenario.Restore) bool { return r.unpassed("restore/" + x.Name) })
	s.Backups = slices.DeleteFunc(slices.Clone(s.Backups), func(x scenario.Backup) bool {
		restored := func(y scenario.Restore) bool { return y.Backup == x.Name }
		return r.unpassed("backup/"+x.Name) && !slices.ContainsFunc(s.Restores, restored)
	})
	return &s
}

// shown is how many of the predicted paths a finding tells.
const shown = 5

// prediction compares the path of each object with those that the model predicts for the scenario. What the model cannot predict
// is not judged here.
func (r *run) prediction(rd reading) []Finding {
	var found []Finding
	for _, p := range r.predictions(rd.rules) {
		o := r.find(p.Object)
		if o == nil || p.Unknown != "" || len(p.Paths) == 0 || p.Allows(o.taken()) {
			continue
		}
		var paths []string
		for _, path := range p.Paths[:min(shown, len(p.Paths))] {
			paths = append(paths, path.String())
		}
		if more := len(p.Paths) - shown; more > 0 {
			paths = append(paths, fmt.Sprintf("one of %d others", more))
		}
		found = append(found, r.finding("prediction", o.name, o.left(p), "path "+strings.Join(paths, ", or "), "path "+o.taken().String()))
	}
	return found
}

// taken is the path of the object, up to the first phase that sim/phase does not know.
func (o *object) taken() model.Path {
	var path model.Path
	for _, c := range o.steps() {
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
	path, steps := o.taken(), o.steps()
	for i, c := range steps {
		on := func(q model.Path) bool { return i < len(path) && i < len(q) && slices.Equal(q[:i+1], path[:i+1]) }
		if !slices.ContainsFunc(p.Paths, on) || i == len(steps)-1 {
			return c.event
		}
	}
	return 0
}

// predictionOf is the prediction for one object: without a path if it takes none. Nil: it cannot be predicted.
func (r *run) predictionOf(name string, rules phase.Rules) *model.Prediction {
	for _, p := range r.predictions(rules) {
		if p.Object == name && p.Unknown == "" {
			return &p
		}
	}
	return nil
}
