package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// by lets another server act from here on.
func (s *script) by(incarnation int) *script { s.incarnation = incarnation; return s }

// TestTwoServers: what two servers do that run at once is explained, and nothing else.
func TestTwoServers(t *testing.T) {
	running := func() *script { return begin().phases("Queued", "ReadyToStart", "InProgress") }
	beside := func(s *script) *script { return s.by(2).server("started") }
	ended := func(s *script) trace.Trace {
		return s.execute(mover1).phases("WaitingForPluginOperations").by(2).progress(mover1, trace.Progress{Completed: true}).
			phases("Finalizing", "Completed").rests(1, 0).settles()
	}
	completed := scenario.Outcome{Phase: "Completed"}
	for _, test := range []judged{
		{
			name: "one marks Failed what the other runs", expect: completed, result: KnownDeviation,
			trace: ended(beside(running()).phases("Failed").by(1)),
		},
		{
			name: "and a run that nobody else marks", expect: completed, result: Fail,
			trace: func() trace.Trace {
				s := running().phases("Failed").execute(mover1).phases("WaitingForPluginOperations").progress(mover1, trace.Progress{Completed: true})
				return s.phases("Finalizing", "Completed").rests(1, 0).settles()
			}(),
			found: []brief{
				{"conformance", "a change of phase that demanded allows a backup", "Failed → WaitingForPluginOperations"},
				{
					"conformance", "final-phase-is-kept: A final phase is not left, other than by a backup that is deleted.",
					"Failed → WaitingForPluginOperations; by the plugins' replies, 1 operations attempted, 0 completed, 0 failed",
				},
			},
		},
		{
			name: "one dies with a run that it has begun beside the other", expect: scenario.Outcome{Phase: "Failed"}, result: KnownDeviation,
			trace: beside(begin()).by(1).phases("Queued", "ReadyToStart", "InProgress").wait(time.Minute).server("killed").
				by(2).rest(trace.Rest{Copy: "api"}).wait(5 * time.Hour).ends(trace.Bound),
		},
		{
			name: "one dies with its run before the other starts", expect: scenario.Outcome{Phase: "Failed"}, result: Fail,
			trace: running().wait(time.Minute).server("killed").by(2).server("started").rest(trace.Rest{Copy: "api"}).wait(5 * time.Hour).ends(trace.Bound),
			found: []brief{
				{"expectation", "phase Failed", "phase InProgress"},
				{"liveness", anEnd, "phase InProgress, waiting for the server to go through the items, since 0s"},
			},
		},
		{
			name: "one cancels what the other has seen end", expect: scenario.Outcome{Phase: "PartiallyFailed"}, result: KnownDeviation,
			trace: beside(waiting()).wait(4*time.Hour).progress(mover1, trace.Progress{}).by(1).progress(mover1, trace.Progress{Completed: true, Error: "boom"}).
				by(2).cancel(mover1).phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
		},
		{
			name: "what came before", expect: completed, result: Fail,
			trace: ended(beside(begin().phases("Queued", "InProgress").wait(time.Second)).phases("Failed").by(1)),
			found: []brief{{"conformance", "a change of phase that demanded allows a backup", "Queued → InProgress"}},
		},
		{
			name: "a backup that one server alone has to do with", expect: completed, result: Fail,
			trace: beside(begin()).phases("Queued", "InProgress", "Finalizing", "Completed").rests(0, 0).settles(),
			found: []brief{{"conformance", "a change of phase that demanded allows a backup", "Queued → InProgress"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := unpredicted(expecting(test.expect), test.trace)
			var unexplained []brief
			for _, f := range v.Findings {
				if len(f.Rules) == 0 {
					unexplained = append(unexplained, brief{f.Oracle, f.Expected, f.Seen})
				}
			}
			var deviations []string
			if test.result == KnownDeviation {
				deviations = []string{phase.ServersNotFenced}
			}
			if v.Result != test.result || !slices.Equal(v.Deviations, deviations) {
				t.Errorf("%s %v, want %s %v", v.Result, v.Deviations, test.result, deviations)
			}
			if diff := cmp.Diff(test.found, unexplained); diff != "" {
				t.Errorf("findings that no rule explains (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCancelledLater: an operation that times out when the server is paused, or does not see that its object waits, is cancelled after it.
func TestCancelledLater(t *testing.T) {
	after := func(d time.Duration) trace.Trace {
		return waiting().fault("fault-1").wait(6*time.Hour+time.Second).access("list", "backups", "").wait(d).progress(mover1, trace.Progress{Done: 1, Of: 10}).cancel(mover1).
			phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles()
	}
	long := scenario.Duration{Duration: 6 * time.Hour}
	for name, do := range map[string]scenario.Do{"a pause": {Pause: long}, "a stale cache": {StaleCache: long}} {
		judged{name: "soon after " + name, trace: after(10 * time.Second), change: faulty(do), result: Pass}.run(t)
		judged{
			name: "an hour after " + name, trace: after(time.Hour), change: faulty(do), result: Fail,
			found: []brief{{"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s", "no Cancel by 7h0m11s"}},
		}.run(t)
	}
}
