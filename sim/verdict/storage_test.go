package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestHangingStore has an access to the object store hang, of which the trace says no more than that the fault struck.
func TestHangingStore(t *testing.T) {
	const contents = "backups/backup-1/backup-1.tar.gz"
	hanging := func(s *scenario.Scenario) {
		s.Faults = []scenario.Fault{{
			ID: "fault-1", At: scenario.Point{Store: &scenario.Access{Verb: "get", Key: contents}}, Do: scenario.Do{Hang: &scenario.Hang{}},
		}}
	}
	finalizing := func() *script {
		return waiting().progress(mover1, trace.Progress{Completed: true}).phases("Finalizing").fault("fault-1")
	}
	rest := trace.Rest{Copy: "api", Attempted: 1, Completed: 1}
	for _, j := range []judged{
		{
			name: "an object that stays as its access hangs", change: hanging, trace: finalizing().wait(5 * time.Hour).rest(rest).ends(trace.Bound),
			result: KnownDeviation,
		},
		{
			name: "the next server makes the access again", change: hanging, result: Pass,
			trace: finalizing().wait(time.Minute).restart(time.Second).wait(time.Second).phases("Completed").rests(1, 0).settles(),
		},
		{
			name: "the access did not hang, and yet it stays", change: func(s *scenario.Scenario) { hanging(s); s.Faults[0].Do = scenario.Do{Fail: "no"} },
			trace:  finalizing().wait(5 * time.Hour).rest(rest).ends(trace.Bound),
			result: Fail, found: []brief{{"liveness", anEnd, "phase Finalizing, waiting for the server to finalize it, since 10s"}},
		},
	} {
		j.run(t)
	}
}

// TestTornOperations has the operations of a backup come back damaged: they are read for ever.
func TestTornOperations(t *testing.T) {
	torn := func(file string) func(*scenario.Scenario) {
		at := scenario.Point{Store: &scenario.Access{Verb: "put", Key: "backups/backup-1/" + file}}
		return func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{ID: "fault-1", At: at, Do: scenario.Do{Tear: &scenario.Tear{}}}}
		}
	}
	staying := func(d time.Duration) trace.Trace {
		return begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).progress(mover1, trace.Progress{}).fault("fault-1").
			phases("WaitingForPluginOperations").wait(d).rest(trace.Rest{Copy: "api", Attempted: 1}).ends(trace.Bound)
	}
	waits, expired := staying(time.Hour), staying(5*time.Hour)
	finalizes := begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).progress(mover1, trace.Progress{Completed: true}).fault("fault-1").
		phases("Finalizing").wait(time.Hour).rest(trace.Rest{Copy: "api", Attempted: 1, Completed: 1}).ends(trace.Bound)
	const operations, contents = "backup-1-itemoperations.json.gz", "backup-1.tar.gz"
	for name, test := range map[string]struct {
		change func(*scenario.Scenario)
		trace  trace.Trace
		rule   string
	}{
		"beyond their timeout":     {torn(operations), expired, phase.PassRetriedForEver},
		"by polls":                 {torn(operations), waits, phase.PassRetriedForEver},
		"by its finalizer":         {torn(operations), finalizes, finalizerRetried},
		"another file is damaged":  {torn(contents), waits, ""},
		"which no finalizer reads": {torn("backup-1-logs.gz"), finalizes, ""},
	} {
		v := unpredicted(moving(test.change), test.trace)
		if strings.Join(v.Deviations, " ") != test.rule || (test.rule == "") != (v.Result == Fail) {
			t.Errorf("%s: %s %v %v, want rule %q", name, v.Result, v.Deviations, briefs(v), test.rule)
		}
	}
}

// TestLocationRemoved has a restore give its operations up as the location is gone.
func TestLocationRemoved(t *testing.T) {
	removing := func(s *scenario.Scenario) {
		withRestore(s)
		s.Plugins[0].Action = scenario.RestoreItemAction
		faulty(scenario.Do{Location: scenario.Removed})(s)
	}
	created := trace.Body{Created: &trace.Created{ItemOperationTimeout: trace.Time(4 * time.Hour), Backup: "backup-1"}}
	gone := trace.Body{Deleted: &trace.Deleted{}}
	given := func(remove bool) trace.Trace {
		s := begin().completes().rests(0, 0).on("restore/restore-1").add("restore/restore-1", created).phases("InProgress").execute(mover1).
			progress(mover1, trace.Progress{Done: 1, Of: 10}).phases("WaitingForPluginOperations").fault("fault-1")
		if remove {
			s.add(location, gone)
		}
		return s.wait(10*time.Second).phases("FinalizingPartiallyFailed", "PartiallyFailed").
			rest(trace.Rest{Copy: "api", Attempted: 1, Ended: true}).rest(trace.Rest{Copy: "store", Operations: []trace.Operation{storedAs("New")}}).settles()
	}
	for _, j := range []judged{
		{name: "a restore has given its operations up, as the location is gone", change: removing, trace: given(true), result: Pass},
		{name: "it is there, and nothing explains that", change: removing, trace: given(false), result: Fail},
	} {
		if v := unpredicted(func() *scenario.Scenario { s := expecting(scenario.Outcome{}); j.change(s); return s }(), j.trace); v.Result != j.result {
			t.Errorf("%s: %s, want %s: %v", j.name, v.Result, j.result, briefs(v))
		}
	}
}
