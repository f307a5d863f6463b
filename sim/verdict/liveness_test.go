package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

func TestLivenessBites(t *testing.T) {
	rest := trace.Rest{Copy: "api", Attempted: 1}
	for _, j := range []judged{
		{
			name:  "a hung call is named",
			trace: waiting().wait(time.Hour).calling(progress, mover1).wait(8 * time.Minute).rest(rest).ends(trace.Bound),
			found: []brief{{
				"liveness", "a final phase",
				"phase WaitingForPluginOperations, waiting for a reply to example.io/mover Progress of operation mover-1 for configmaps/app/settings, called at 1h0m10s, 8m0s before the end",
			}},
		},
		{
			name: "a hung call is named, with its own plugin's item",
			trace: func() trace.Trace {
				s := begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1)
				s.call++
				s.add(s.object, trace.Body{Call: &trace.Call{ID: s.call, Plugin: other, Method: execute, Item: "configmaps/app/two", Phase: "InProgress"}})
				return s.of(other).returns(trace.Return{Operation: mover1}).calling(progress, mover1).wait(10 * time.Minute).
					rest(trace.Rest{Copy: "api", Attempted: 2}).ends(trace.Bound)
			}(),
			found: []brief{{
				"liveness", "a final phase", "phase InProgress, waiting for a reply to " +
					"example.io/other Progress of operation mover-1 for configmaps/app/two, called at 0s, 10m0s before the end",
			}},
		},
		{
			name:  "the server is down",
			trace: waiting().calling(progress, mover1).server("killed").wait(time.Hour).rest(rest).ends(trace.Bound),
			found: []brief{{"liveness", "a final phase", "phase WaitingForPluginOperations, waiting for the server, which is down (killed), since 10s"}},
		},
		{
			name:  "queued",
			trace: begin().phases("Queued").wait(time.Hour).rest(trace.Rest{Copy: "api"}).ends(trace.Bound),
			found: []brief{{"liveness", "a final phase", "phase Queued, waiting for its turn in the queue, since 0s"}},
		},
		{
			name:  "forgotten",
			trace: begin().phases("Queued", "ReadyToStart").wait(time.Minute).rest(trace.Rest{Copy: "api"}).ends(trace.Bound),
			found: []brief{{
				"liveness", "a final phase",
				"phase ReadyToStart, waiting for the server to start it, since 0s",
			}},
		},
		{
			name:  "an operation still runs",
			trace: waiting().wait(time.Hour).rest(rest).ends(trace.Bound),
			found: []brief{{
				"liveness", "a final phase",
				"phase WaitingForPluginOperations, waiting for operation mover-1 of example.io/mover on configmaps/app/settings, since 0s, until 4h0m0s",
			}},
		},
		{
			name: "an idle server",
			trace: waiting().progress(mover1, trace.Progress{Completed: true}).phases("Finalizing").
				rest(trace.Rest{Copy: "api", Attempted: 1, Completed: 1}).ends(trace.Bound),
			found: []brief{{
				"liveness", "a final phase", "phase Finalizing, waiting for the server to finalize it, since 10s",
			}},
		},
		{
			name: "past the bound",
			trace: begin().phases("Queued", "ReadyToStart").wait(20*time.Hour).phases("InProgress", "Finalizing", "Completed").
				rests(0, 0).settles(),
			found: []brief{{"liveness", "a final phase by 4h17m20s", "phase Completed at 20h0m0s"}},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}
