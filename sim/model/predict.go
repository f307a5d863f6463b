package model

import (
	"errors"
	"fmt"
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
	// in which the object stays for ever. None: no run is possible in which all faults strike.
	Paths []Path
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

// ErrUnpredictable is returned for scenarios of which the model cannot follow every run.
var ErrUnpredictable = errors.New("no prediction")

// Predict returns how the backup of a scenario, and then its restore, may end in a reading: it explores the machine with the
// answers that the scenario's plugins give, and the faults that it has. Time is known only as far as ends that lie far apart
// are seen one after the other. So there may be paths that no run takes; one that a run takes and Predict does not know is a
// mistake, of Velero or of sim/phase. The error is ErrUnpredictable, and says why.
func Predict(rules phase.Rules, s *scenario.Scenario) ([]Prediction, error) {
	backup, err := predict(rules, s, phase.Backup)
	if err != nil || s.Restore == nil {
		return []Prediction{backup}, err
	}
	restored := slices.ContainsFunc(backup.Ends(), func(p phase.Phase) bool { return p == phase.Completed || p == phase.PartiallyFailed })
	if !restored {
		return []Prediction{backup}, nil
	}
	restore, err := predict(rules, s, phase.Restore)
	return []Prediction{backup, restore}, err
}

func predict(rules phase.Rules, s *scenario.Scenario, k phase.Kind) (Prediction, error) {
	if s.Backup == nil {
		return Prediction{}, fmt.Errorf("%w: the scenario has no backup", ErrUnpredictable)
	}
	p := predictor{machine: Machine{Spec: rules}, kind: k, faults: consequencesOf(s, k), seen: map[node]bool{}, paths: map[string]bool{}}
	prediction := Prediction{Object: "backup/" + s.Backup.Name}
	if k == phase.Restore {
		prediction.Object = "restore/" + s.Restore.Name
	}
	casts, err := castsOf(rules, s, k)
	if len(s.Faults) > maxFaults {
		err = fmt.Errorf("it has more than %d faults", maxFaults)
	}
	for _, c := range casts {
		if err == nil {
			p.cast = c
			err = p.explore()
		}
	}
	if err != nil {
		return prediction, fmt.Errorf("%w: %w", ErrUnpredictable, err)
	}
	for path := range p.paths {
		prediction.Paths = append(prediction.Paths, Path(phases(path)))
	}
	slices.SortFunc(prediction.Paths, func(a, b Path) int {
		if a.End() != b.End() {
			return int(a.End()) - int(b.End())
		}
		return slices.Compare(a, b)
	})
	return prediction, nil
}
