package verdict

import (
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// unstarted finds that the server started, or created something, of a scenario that expects that it does not start.
func (r *run) unstarted() []Finding {
	var found []Finding
	if r.trace.End.Reason != trace.NotStarted {
		found = append(found, r.atEnd("expectation", "", "the server does not start", "it did, and the run is "+because(r.trace.End)))
	}
	for _, o := range r.objects {
		found = append(found, r.atEnd("expectation", o.name, "the server does not start, and nothing is created", "it was created"))
	}
	return found
}

// starts reports whether the scenario expects that the server does.
func (r *run) starts() bool { return r.scenario.Expect.Server != scenario.DoesNotStart }
