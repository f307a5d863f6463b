package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// Prediction is how an object of a scenario may end in a reading.
type Prediction struct {
	// Object is backup/NAME or restore/NAME.
	Object string
	// Paths are the phases that may be written, in order, each path once. The last one of a path is the end: a final phase, or one
	// in which the object stays for ever, or is gone. None: it is never created, or no run is possible in which all faults strike.
	Paths []Path
	// Stays are the phases in which it may stay for ever: it is there, and not gone.
	Stays []phase.Phase
	// Unknown is why there is no prediction; empty: there is one.
	Unknown string
}

// Path is the phases of an object, in the order in which they are written.
type Path []phase.Phase

// String is the path with arrows between the phases.
func (p Path) String() string {
	names := make([]string, len(p))
	for i, phase := range p {
		names[i] = phase.String()
	}
	return strings.Join(names, " → ")
}

// End is the last phase; New if none is written.
func (p Path) End() phase.Phase {
	if len(p) == 0 {
		return phase.New
	}
	return p[len(p)-1]
}

// Ends are the phases in which the object may end, each once.
func (p Prediction) Ends() []phase.Phase {
	var ends []phase.Phase
	for _, path := range p.Paths {
		if !slices.Contains(ends, path.End()) {
			ends = append(ends, path.End())
		}
	}
	slices.Sort(ends)
	return ends
}

// Allows reports whether the object may take the path.
func (p Prediction) Allows(path Path) bool {
	return slices.ContainsFunc(p.Paths, func(q Path) bool { return slices.Equal(q, path) })
}

// Predict returns how each object of a scenario may end in a reading, in the order of [scenario.Scenario.Objects]: it explores the
// machine with the answers that the scenario's plugins give, and the faults that it has. Other objects are there as what they may do
// to the one: the calls that they make, the faults that strike at their points, the controllers that they hold. Time is known only as
// far as ends that lie far apart are seen one after the other. So there may be paths that no run takes; one that a run takes and
// Predict does not know is a mistake, of Velero or of sim/phase.
func Predict(rules phase.Rules, s *scenario.Scenario) []Prediction {
	var all predictions
	if !s.Starts() {
		for _, object := range s.Objects() {
			all = append(all, Prediction{Object: object})
		}
		return all
	}
	s = survivors(s)
	for _, object := range s.Objects() {
		all = append(all, predict(rules, subjectOf(s, object), all))
	}
	hold(rules, s, all)
	create(s, all)
	return all
}

// predict explores what becomes of one object, if it is created; before are the predictions of those that it may be made from.
func predict(rules phase.Rules, s subject, before predictions) Prediction {
	prediction := Prediction{Object: s.object, Unknown: beyond(s.Scenario)}
	if prediction.Unknown != "" {
		return prediction
	}
	b := s.beginning(rules, before.of(s.backup))
	if b == (beginning{}) { // its backup has no run in which all faults strike, or none that comes to the point of its creation
		return prediction
	}
	p := predictor{
		machine: Machine{Spec: rules}, kind: s.kind, begins: b, faults: s.consequences(b), seen: map[node]bool{}, paths: map[string]bool{},
		stays: map[phase.Phase]bool{}, holdsGone: rules.FinalizerRetriedForEver && s.kind == phase.Backup, hooked: s.hooked(),
	}
	for i, f := range p.faults { // the deletion of what the tracker keeps is refused
		p.faults[i].surely = f.surely && !(rules.QueueSlotLeaked && slices.Contains(f.inputs, phase.DeletionRequested))
	}
	casts, err := []cast{{doomed: true}}, error(nil)
	if b.runs {
		casts, err = castsOf(rules, s)
	}
	if len(p.faults) > maxFaults {
		err = fmt.Errorf("it has more than %d faults", maxFaults)
	}
	for _, c := range casts {
		if err == nil {
			p.cast = c
			err = p.explore()
		}
	}
	if err != nil {
		prediction.Unknown = err.Error()
		return prediction
	}
	p.vanish()
	p.remain()
	prediction.Stays = slices.Collect(maps.Keys(p.stays))
	for path := range p.paths {
		prediction.Paths = append(prediction.Paths, Path(phases(path)))
	}
	prediction.sort()
	return prediction
}

// predictions are those of a scenario's objects.
type predictions []Prediction

// of is the prediction for the object; the zero one if there is none.
func (all predictions) of(object string) Prediction {
	i := slices.IndexFunc(all, func(p Prediction) bool { return p.Object == object })
	if i < 0 {
		return Prediction{}
	}
	return all[i]
}

func (p *Prediction) sort() {
	slices.SortFunc(p.Paths, func(a, b Path) int {
		if a.End() != b.End() {
			return int(a.End()) - int(b.End())
		}
		return slices.Compare(a, b)
	})
	p.Paths = slices.CompactFunc(p.Paths, func(a, b Path) bool { return slices.Equal(a, b) })
	slices.Sort(p.Stays)
	p.Stays = slices.Compact(p.Stays)
}
