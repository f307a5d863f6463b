package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestInconclusive(t *testing.T) {
	killed := func(s *scenario.Scenario) {
		s.Faults = []scenario.Fault{{ID: "kill-1"}, {ID: "kill-2"}}
	}
	_, noRules := phase.ForRelease("1.2.0")
	cut := brief{"completeness", "a whole trace", "it is cut off: it has no end"}
	for _, j := range []judged{
		{
			name:   "faults that never struck, each named",
			expect: scenario.Outcome{Phase: "PartiallyFailed"},
			change: killed, trace: healthy().rests(1, 0).settles(), result: Inconclusive,
			found: []brief{
				{"completeness", "fault kill-1 strikes", "it never did"},
				{"completeness", "fault kill-2 strikes", "it never did"},
			},
		},
		{
			name:   "a fault that could not strike says why",
			change: killed, trace: healthy().fault("kill-1").missed("kill-2", "the server was down").rests(1, 0).settles(), result: Inconclusive,
			found: []brief{{"completeness", "fault kill-2 strikes", "it never did: the server was down"}},
		},
		{
			name:   "a fault that could not strike at first",
			change: killed, trace: healthy().missed("kill-1", "the server was down").fault("kill-1").fault("kill-2").rests(1, 0).settles(), result: Pass,
		},
		{
			name:   "faults that struck",
			change: killed, trace: healthy().fault("kill-2").fault("kill-1").rests(1, 0).settles(), result: Pass,
		},
		{
			name:   "a cut-off trace",
			expect: scenario.Outcome{Phase: "Completed"},
			trace:  waiting().ends(""), result: Inconclusive, found: []brief{cut},
		},
		{
			name:  "a cut-off trace that has shown an illegal edge",
			trace: begin().phases("Queued", "InProgress").ends(""), result: Fail,
			found: []brief{{"conformance", "a change of phase that demanded allows a backup", "Queued → InProgress"}, cut},
		},
		{
			name: "a stalled world",
			trace: func() trace.Trace {
				stalled := waiting().ends(trace.Stalled)
				stalled.End.Detail = "goroutine 1"
				return stalled
			}(),
			result: Inconclusive,
			found:  []brief{{"completeness", "a run that ends by itself or at its bound", "stalled: goroutine 1"}},
		},
		{
			name:  "a broken environment",
			trace: waiting().ends(trace.Environment), result: Inconclusive,
			found: []brief{{"completeness", "a run that ends by itself or at its bound", "environment"}},
		},
		{
			name: "a trace of another scenario",
			trace: func() trace.Trace {
				other := waiting().rest(trace.Rest{Copy: "api"}).ends(trace.Bound)
				other.Header.Scenario = "other"
				return other
			}(),
			result: Inconclusive,
			found:  []brief{{"completeness", "a trace of scenario s", `one of scenario "other"`}},
		},
		{
			name:  "a trace without the state at rest",
			trace: healthy().settles(), result: Inconclusive,
			found: []brief{{"completeness", "its state at rest, as the API has it", "the trace has none"}},
		},
		{
			name:   "a world that does not restore",
			change: withRestore, trace: healthy().rests(1, 0).settles(), result: Inconclusive,
			found: []brief{{"completeness", "its creation", "the trace has none"}},
		},
		{
			name:   "a restore that is passed over, as its backup was removed when the user looked, and comes back",
			expect: scenario.Outcome{Phase: "Completed"},
			change: func(s *scenario.Scenario) {
				withRestore(s)
				s.Expect.Object = "backup/backup-1"
				faulty(scenario.Do{Remove: "backup/backup-1"})(s)
			},
			trace: begin().phases("Queued", "ReadyToStart", "InProgress", "Finalizing").fault("fault-1").deleted().
				wait(time.Minute).phases("Completed").rests(0, 0).settles(),
			result: Pass,
		},
		{
			name:   "a restore that is passed over, as its backup, which was created at a point, was removed before the user looked",
			expect: scenario.Outcome{Phase: "Completed"},
			change: func(s *scenario.Scenario) {
				withRestore(s)
				s.Expect.Object = "backup/backup-1"
				s.Backups[0].At = &scenario.Point{Phase: "New", Object: "backup/backup-1"}
				faulty(scenario.Do{Remove: "backup/backup-1"})(s)
			},
			trace:  begin().completes().fault("fault-1").deleted().wait(time.Minute).phases("Completed").rests(0, 0).settles(),
			result: Pass,
		},
		{
			name:   "a restore that is not created, though its backup was removed only after it had completed",
			expect: scenario.Outcome{Phase: "Completed"},
			change: func(s *scenario.Scenario) {
				withRestore(s)
				s.Expect.Object = "backup/backup-1"
				faulty(scenario.Do{Remove: "backup/backup-1"})(s)
			},
			trace:  begin().completes().fault("fault-1").deleted().wait(time.Minute).phases("Completed").rests(0, 0).settles(),
			result: Inconclusive,
			found:  []brief{{"completeness", "its creation", "the trace has none"}},
		},
		{
			name: "a release without rules",
			trace: func() trace.Trace {
				old := healthy().rests(1, 0).settles()
				old.Header.Velero = "1.2.0"
				return old
			}(),
			result: Inconclusive,
			found:  []brief{{"completeness", "a release with rules in sim/phase", noRules.Error()}},
		},
	} {
		j.run(t)
	}
}
