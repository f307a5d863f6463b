package verdict

import (
	"fmt"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// evidence says what a trace is good for, and what it lacks.
type evidence struct {
	// whole: the run went on to its end, so that liveness can be judged.
	whole bool
	lacks []Finding
}

// complete reports whether the run shows all that the scenario is about, so that its expectations can be judged.
func (e evidence) complete() bool { return e.whole && len(e.lacks) == 0 }

// evidence looks for what keeps the trace from being judged in full.
func (r *run) evidence(s *scenario.Scenario) evidence {
	var e evidence
	lack := func(object, expected, seen string) {
		e.lacks = append(e.lacks, r.missing(object, expected, seen))
	}
	switch r.trace.End.Reason {
	case trace.Settled, trace.Bound:
		e.whole = true
	case trace.Panicked: // a finding of its own
	case "":
		lack("", "a whole trace", "it is cut off: it has no end")
	default:
		lack("", "a run that ends by itself or at its bound", because(r.trace.End))
	}
	if r.trace.Header.Scenario != s.Metadata.Name {
		e.whole = false
		lack("", "a trace of scenario "+s.Metadata.Name, fmt.Sprintf("one of scenario %q", r.trace.Header.Scenario))
	}
	for _, f := range s.Faults {
		if !r.faults[f.ID] {
			seen := "it never did"
			if why := r.missed[f.ID]; why != "" {
				seen += ": " + why
			}
			lack("", fmt.Sprintf("fault %s strikes", f.ID), seen)
		}
	}
	if !e.whole {
		return e
	}
	backup := ""
	if s.Backup != nil {
		backup = "backup/" + s.Backup.Name
		r.needs(backup, lack)
	}
	if s.Restore != nil {
		// It is created once the backup is Completed or PartiallyFailed; if that never comes, expectation says so.
		p := r.find(backup).phase()
		if name := "restore/" + s.Restore.Name; r.find(name) != nil || p == "Completed" || p == "PartiallyFailed" {
			r.needs(name, lack)
		}
	}
	return e
}

// needs says what the trace lacks of an object that the user must have created.
func (r *run) needs(name string, lack func(object, expected, seen string)) {
	switch o := r.find(name); {
	case o == nil || o.created == nil:
		lack(name, "its creation", "the trace has none")
	case o.api == nil:
		lack(name, "its state at rest, as the API has it", "the trace has none")
	}
}

// missing is a finding of completeness: there are no events to show around it.
func (r *run) missing(object, expected, seen string) Finding {
	return Finding{Oracle: "completeness", Object: object, Expected: expected, Seen: seen, At: r.at}
}

func because(e trace.End) string {
	if e.Detail == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Detail
}
