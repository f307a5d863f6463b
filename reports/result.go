package reports

import (
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// Result is a run, and what a report needs of its trace, which may be large.
type Result struct {
	Run
	changes map[string]map[change]bool // by kind
	paths   map[string][]string        // phases, by object
	packed  string                     // the timeline; empty: there is no trace
}

// NewResult takes what a report needs of a run's trace. A trace without events is none: nothing is known to be covered.
func NewResult(run Run, t trace.Trace) Result {
	if run.Findings == nil {
		run.Findings = []verdict.Finding{}
	}
	r := Result{Run: run, changes: changesOf(t), paths: map[string][]string{}}
	for _, e := range t.Events {
		if _, ok := kindOf(e.Object); ok && e.Phase != nil {
			r.paths[e.Object] = append(r.paths[e.Object], e.Phase.To)
		}
	}
	if len(t.Events) > 0 {
		r.packed = newTimeline(t).packed()
	}
	return r
}
