package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// TestUnserved: a process of a plugin that does not start is as an error of Progress, for one of its operations.
func TestUnserved(t *testing.T) {
	broken := func(s *script) trace.Trace {
		s.phases("FinalizingPartiallyFailed", "PartiallyFailed")
		r := trace.Rest{Copy: "api", Errors: 1, Attempted: 1, Failed: 1, Ended: true}
		s.rest(r)
		r.Copy, r.Operations = "store", []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Failed", Error: "plugin exited before we could connect"}}
		return s.rest(r).settles()
	}
	for _, j := range []judged{
		{name: "its operation fails", trace: broken(waiting().process(mover, trace.ProcessFailed)), result: KnownDeviation},
		{
			name: "nobody asks after it again, nor cancels it", result: KnownDeviation,
			trace: broken(waiting().process(mover, trace.ProcessFailed).wait(4*time.Hour + time.Minute)),
		},
		{name: "that of another plugin explains nothing", trace: broken(waiting().process(other, trace.ProcessFailed)), result: Fail},
		{
			name:   "one that is asked after again has not failed",
			trace:  broken(waiting().process(mover, trace.ProcessFailed).wait(10*time.Second).progress(mover1, trace.Progress{})),
			result: Fail,
		},
		{
			name: "it is none that another one's start makes up for", result: Fail, // a process is left
			trace: waiting().process(mover, trace.ProcessFailed).process(mover, started).wait(10*time.Second).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).wait(time.Second).server("stopped").ends(trace.Settled),
		},
	} {
		if v := unpredicted(expecting(j.expect), j.trace); v.Result != j.result {
			t.Errorf("%s: %q, want %q: %+v", j.name, v.Result, j.result, briefs(v))
		}
	}
}
