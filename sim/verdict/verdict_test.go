package verdict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// brief is a finding without what depends on the machine's wording of the events around it.
type brief struct{ Oracle, Expected, Seen string }

func briefs(v Verdict) []brief {
	b := []brief{}
	for _, f := range v.Findings {
		b = append(b, brief{f.Oracle, f.Expected, f.Seen})
	}
	return b
}

// unpredicted judges without the oracle that knows from the scenario what plugins do: the scenarios here do not say.
func unpredicted(s *scenario.Scenario, t trace.Trace) Verdict {
	return judge(s, t, func(phase.Rules, *scenario.Scenario) []model.Prediction { return nil })
}

type judged struct {
	name   string
	expect scenario.Outcome
	change func(*scenario.Scenario)
	trace  trace.Trace
	result Result
	found  []brief
}

func (j judged) run(t *testing.T) {
	t.Run(j.name, func(t *testing.T) {
		s := expecting(j.expect)
		if j.change != nil {
			j.change(s)
		}
		v := unpredicted(s, j.trace)
		if v.Result != j.result {
			t.Errorf("result %q, want %q", v.Result, j.result)
		}
		if j.found == nil {
			j.found = []brief{}
		}
		if diff := cmp.Diff(j.found, briefs(v)); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})
}

func TestFaithfulRunsPass(t *testing.T) {
	whole := []string{"Queued", "ReadyToStart", "InProgress", "WaitingForPluginOperations", "Finalizing", "Completed"}
	for _, j := range []judged{
		{
			name: "everything expected comes",
			expect: scenario.Outcome{
				Phase: "Completed", Path: whole,
				Operations: &scenario.Operations{Attempted: 1, Completed: 1},
				Cancelled:  &[]string{}, Updated: &[]scenario.Item{},
				Within: scenario.Duration{Duration: time.Hour + time.Minute},
			},
			trace: healthy().rests(1, 0).settles(),
		},
		{
			name: "an operation is cancelled at its timeout",
			expect: scenario.Outcome{
				Phase: "PartiallyFailed", Operations: &scenario.Operations{Attempted: 1, Failed: 1},
				Cancelled: &[]string{mover}, Within: scenario.Duration{Duration: 4*time.Hour + time.Minute},
			},
			trace: timesOut().rests(0, 1).settles(),
		},
		{
			name:   "an item is updated",
			expect: scenario.Outcome{Phase: "Completed", Updated: &[]scenario.Item{item}},
			trace: waiting().progress(mover1, trace.Progress{Completed: true}).phases("Finalizing").execute("").execute("").
				phases("Completed").rests(1, 0).settles(),
		},
		{
			name:   "the server is killed while the backup waits, and Cancel comes once in each incarnation",
			expect: scenario.Outcome{Phase: "PartiallyFailed", Cancelled: &[]string{mover}},
			trace: waiting().wait(4*time.Hour).progress(mover1, trace.Progress{}).cancel(mover1).restart(time.Minute).
				wait(10*time.Second).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
		},
		{
			name:   "the server is killed while in progress",
			expect: scenario.Outcome{Phase: "Failed"},
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").calling(execute, "").restart(10 * time.Second).
				phases("Failed").rest(trace.Rest{Copy: "api"}).settles(),
		},
		{
			name:   "the location goes missing while the backup waits",
			expect: scenario.Outcome{Phase: "PartiallyFailed"},
			trace:  waiting().fault("the location is deleted").phases("PartiallyFailed").rest(trace.Rest{Copy: "api", Attempted: 1, Errors: 1}).settles(),
		},
		{
			name:   "a restore completes after its backup",
			expect: scenario.Outcome{Phase: "Completed", Path: []string{"InProgress", "WaitingForPluginOperations", "Finalizing", "Completed"}},
			change: withRestore,
			trace: healthy().rests(1, 0).create("restore/restore-1").phases("InProgress").execute("mover-2").
				phases("WaitingForPluginOperations").progress("mover-2", trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
		},
	} {
		j.result = Pass
		j.run(t)
	}
}

func withRestore(s *scenario.Scenario) {
	s.Restores = []scenario.Restore{{Name: "restore-1", Backup: "backup-1", ItemOperationTimeout: spec().ItemOperationTimeout}}
}

// TestRaced: a rule that has a witness is no excuse for a witness of another that does not show its own.
func TestRaced(t *testing.T) {
	for _, test := range []struct {
		rules []string
		want  bool
	}{
		{nil, false},
		{[]string{phase.StaleReadActedUpon}, true},
		{[]string{"queue-slot-leaked"}, false},
		{[]string{phase.StaleReadActedUpon, "queue-slot-leaked"}, false},
	} {
		if got := raced(test.rules); got != test.want {
			t.Errorf("raced(%v) is %v", test.rules, got)
		}
	}
}
