package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

const (
	hangs   = "plugin-call-without-deadline"
	errs    = "progress-error-is-final"
	forgets = "ready-backup-forgotten-by-restart"
)

func TestDeviations(t *testing.T) {
	deviates := func(rule string, o scenario.Outcome) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { s.Expect.Deviation = deviation(rule, o) }
	}
	onlyWaits := scenario.Outcome{Phase: "WaitingForPluginOperations"}
	hung := func() *script {
		return waiting().wait(time.Minute).calling(progress, mover1).wait(5 * time.Hour).rest(trace.Rest{Copy: "api", Attempted: 1})
	}
	errsOnce := func() trace.Trace {
		s := waiting().progressErrs(mover1).phases("FinalizingPartiallyFailed", "PartiallyFailed")
		api := trace.Rest{Copy: "api", Errors: 1, Attempted: 1, Failed: 1, Ended: true}
		store := api
		store.Copy = "store"
		store.Operations = []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Failed", Error: "mover is away"}}
		return s.rest(api).rest(store).settles()
	}
	witnesses := map[string]string{}
	for _, rule := range phase.All() {
		witnesses[rule.Name] = rule.Witness
	}
	of := func(scenario string, t trace.Trace) trace.Trace { t.Header.Scenario = scenario; return t }
	late := func() trace.Trace {
		return waiting().calling(progress, mover1).wait(time.Hour).returns(trace.Return{Progress: &trace.Progress{Completed: true}}).
			phases("Finalizing", "Completed").rests(1, 0).settles()
	}
	fixed := healthy().rests(1, 0).settles()
	lateFound := brief{
		"contract", "example.io/mover Progress of operation mover-1 for configmaps/app/settings is given up by 10m10s",
		"it was called at 10s and went on until 1h0m10s",
	}
	for _, j := range []struct {
		judged
		deviation string
	}{
		{deviation: hangs, judged: judged{
			name: "a call hangs for ever", expect: scenario.Outcome{Phase: "PartiallyFailed"},
			change: deviates(hangs, onlyWaits), trace: hung().ends(trace.Bound), result: KnownDeviation,
		}},
		{deviation: errs, judged: judged{
			name: "an error of Progress is final", expect: scenario.Outcome{Phase: "Completed"},
			change: deviates(errs, scenario.Outcome{Phase: "PartiallyFailed", Cancelled: &[]string{}}), trace: errsOnce(), result: KnownDeviation,
		}},
		{deviation: forgets, judged: judged{
			name: "a ready backup is forgotten", expect: scenario.Outcome{Phase: "Completed"},
			change: deviates(forgets, scenario.Outcome{Phase: "ReadyToStart"}),
			trace: begin().phases("Queued", "ReadyToStart").restart(time.Minute).wait(5 * time.Hour).
				rest(trace.Rest{Copy: "api"}).ends(trace.Bound),
			result: KnownDeviation,
		}},
		{judged: judged{
			name: "no longer shows", expect: scenario.Outcome{Phase: "Completed"},
			change: func(s *scenario.Scenario) { deviates(hangs, onlyWaits)(s); s.Metadata.Name = witnesses[hangs] },
			trace:  of(witnesses[hangs], healthy().rests(1, 0).settles()), result: Fail,
			found: []brief{{
				"deviation", "Velero 1.18.3 deviates: phase WaitingForPluginOperations",
				"the deviation no longer shows: update rule " + hangs,
			}},
		}},
		{judged: judged{
			name: "no longer shows, in a scenario that is not the rule's witness", expect: scenario.Outcome{Phase: "Completed"},
			change: deviates(hangs, onlyWaits), trace: fixed, result: Pass,
		}},
		{deviation: hangs, judged: judged{
			name: "a call returns long after its deadline, which no outcome shows", expect: scenario.Outcome{Phase: "Completed"},
			trace: late(), result: KnownDeviation,
		}},
		{deviation: hangs, judged: judged{
			name: "a call returns long after its deadline, and the scenario names another deviation", expect: scenario.Outcome{Phase: "Completed"},
			change: deviates(errs, onlyWaits), trace: late(), result: KnownDeviation,
		}},
		{deviation: hangs, judged: judged{
			name: "a call returns long after its deadline, and the scenario names it", expect: scenario.Outcome{Phase: "PartiallyFailed"},
			change: deviates(hangs, scenario.Outcome{Phase: "Completed"}), trace: late(), result: KnownDeviation,
		}},
		{deviation: hangs, judged: judged{
			name: "a kill ends a call that was due long before", expect: scenario.Outcome{Phase: "Failed"},
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").calling(execute, "").wait(time.Hour).restart(time.Minute).
				phases("Failed").rest(trace.Rest{Copy: "api"}).settles(),
			result: KnownDeviation,
		}},
		{deviation: hangs, judged: judged{
			name: "a call for no object goes on until the end", expect: scenario.Outcome{Phase: "Completed"},
			trace:  healthy().on("").calling("AppliesTo", "").wait(time.Hour).on("backup/backup-1").rests(1, 0).settles(),
			result: KnownDeviation,
		}},
		{deviation: hangs, judged: judged{
			name: "a kill ends a call for no object that was due long before", expect: scenario.Outcome{Phase: "Completed"},
			trace:  begin().on("").calling("AppliesTo", "").wait(time.Hour).restart(time.Minute).on("backup/backup-1").completes().rests(0, 0).settles(),
			result: KnownDeviation,
		}},
		{judged: judged{
			name: "a kill ends a call for no object in time", expect: scenario.Outcome{Phase: "Completed"},
			trace: begin().on("").calling("AppliesTo", "").wait(time.Minute).restart(time.Minute).on("backup/backup-1").completes().rests(0, 0).
				wait(time.Hour).settles(),
			result: Pass,
		}},
		{judged: judged{
			name: "the witness of one rule shows another instead", expect: scenario.Outcome{Phase: "Completed"},
			change: func(s *scenario.Scenario) { deviates(errs, onlyWaits)(s); s.Metadata.Name = witnesses[errs] },
			trace:  of(witnesses[errs], late()), result: Fail,
			found: []brief{{"expectation", "phase WaitingForPluginOperations", "phase Completed"}, lateFound},
		}},
		{judged: judged{
			name: "the witness of one rule shows another, and ends as it should", expect: scenario.Outcome{Phase: "Completed"},
			change: func(s *scenario.Scenario) {
				deviates(errs, scenario.Outcome{Phase: "Completed"})(s)
				s.Metadata.Name = witnesses[errs]
			},
			trace: of(witnesses[errs], late()), result: Fail, found: []brief{lateFound},
		}},
		{judged: judged{
			name: "a call returns long after its deadline, in a run that fails otherwise", expect: scenario.Outcome{Phase: "PartiallyFailed"},
			trace: late(), result: Fail,
			found: []brief{{"expectation", "phase PartiallyFailed", "phase Completed"}, lateFound},
		}},
		{judged: judged{
			name: "a call takes its deadline and a moment", expect: scenario.Outcome{Phase: "Completed"},
			trace: waiting().calling(progress, mover1).wait(10*time.Minute+time.Second).returns(trace.Return{Progress: &trace.Progress{Completed: true}}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
			result: Pass,
		}},
		{judged: judged{
			name: "another outcome than the deviation's", expect: scenario.Outcome{Phase: "Completed"},
			change: deviates(errs, onlyWaits), trace: errsOnce(), result: Fail,
			found: []brief{
				{"expectation", "phase WaitingForPluginOperations", "phase PartiallyFailed"},
				{"expectation", "phase Completed", "phase PartiallyFailed"},
				{"conformance", "what demanded allows", "WaitingForPluginOperations → FinalizingPartiallyFailed"},
			},
		}},
		{judged: judged{
			name: "stuck in another phase than the deviation's", expect: scenario.Outcome{Phase: "Completed"},
			change: deviates(forgets, scenario.Outcome{Phase: "ReadyToStart"}),
			trace:  begin().phases("Queued").wait(time.Hour).rest(trace.Rest{Copy: "api"}).ends(trace.Bound), result: Fail,
			found: []brief{
				{"expectation", "phase ReadyToStart", "phase Queued"},
				{"liveness", "a final phase", "phase Queued, waiting for its turn in the queue, since 0s"},
				{"expectation", "phase Completed", "phase Queued"},
			},
		}},
		{judged: judged{
			name: "an unknown rule", expect: scenario.Outcome{Phase: "PartiallyFailed"},
			change: deviates("hangs", onlyWaits), trace: hung().ends(trace.Bound), result: Inconclusive,
			found: []brief{{"completeness", "a rule of sim/phase in expect.deviation", `unknown rule "hangs": correct expect.deviation.rule`}},
		}},
		{judged: judged{
			name: "a fault that never struck hides the deviation", expect: scenario.Outcome{Phase: "PartiallyFailed"},
			change: func(s *scenario.Scenario) {
				deviates(hangs, onlyWaits)(s)
				s.Faults = []scenario.Fault{{ID: "kill-1"}}
			},
			trace: hung().ends(trace.Bound), result: Inconclusive,
			found: []brief{{"completeness", "fault kill-1 strikes", "it never did"}},
		}},
		{judged: judged{
			name: "a deviation does not excuse a panic", expect: scenario.Outcome{Phase: "PartiallyFailed"},
			change: deviates(hangs, onlyWaits),
			trace: hung().add("", trace.Body{Reconcile: &trace.Reconcile{Controller: "gc", Error: "nil map", Panic: true}}).
				ends(trace.Bound),
			result: Fail,
			found: []brief{
				{"panic", "no panic in controller gc", "nil map"},
				{"expectation", "phase PartiallyFailed", "phase WaitingForPluginOperations"},
				{
					"liveness", "a final phase", "phase WaitingForPluginOperations, waiting for a reply to " +
						"example.io/mover Progress of operation mover-1 for configmaps/app/settings, called at 1m10s, 5h0m0s before the end",
				},
				{
					"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
					"no Cancel by 5h1m10s",
				},
				{
					"contract", "example.io/mover Progress of operation mover-1 for configmaps/app/settings is given up by 11m10s",
					"it was called at 1m10s and went on until 5h1m10s",
				},
			},
		}},
	} {
		j.run(t)
		s := expecting(j.expect)
		if j.change != nil {
			j.change(s)
		}
		if v := unpredicted(s, j.trace); strings.Join(v.Deviations, ", ") != j.deviation {
			t.Errorf("%s: deviation %q, want %q", j.name, strings.Join(v.Deviations, ", "), j.deviation)
		}
	}
}

func TestVerdictNamesPhaseAndTime(t *testing.T) {
	v := unpredicted(expecting(scenario.Outcome{}), healthy().rests(1, 0).settles())
	want := Verdict{
		Result: Pass, Phase: "Completed", Findings: []Finding{},
		Simulated: trace.Time(time.Hour + 10*time.Second + 20*time.Second),
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
