package verdict

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// FuzzJudge feeds Judge any trace and any scenario that JSON can write: it must not panic, and the verdict must be whole.
func FuzzJudge(f *testing.F) {
	seed := func(s *scenario.Scenario, t trace.Trace) {
		a, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		b, err := json.Marshal(t)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a, b)
	}
	deviating := expecting(scenario.Outcome{Phase: "Completed", Path: []string{"Queued"}})
	deviating.Expect.Deviation = deviation(errs, scenario.Outcome{Phase: "PartiallyFailed"})
	restoring := expecting(scenario.Outcome{Phase: "Completed", Cancelled: &[]string{mover}})
	withRestore(restoring)
	seed(expecting(scenario.Outcome{}), healthy().rests(1, 0).settles())
	seed(deviating, timesOut().rests(0, 1).settles())
	seed(restoring, waiting().restart(1).calling(cancel, mover1).server("stopped").ends(trace.Stalled))
	scheduled := expecting(scenario.Outcome{Phase: scenario.Deleted})
	daily(scheduled)
	faulty(scenario.Do{Delete: "backup/daily-1"})(scheduled)
	scheduled.Expect.Must = []scenario.Point{{Call: &scenario.Call{Plugin: mover, Method: "Execute"}}}
	seed(scheduled, begins("").schedules("daily", "backup/daily-1", "daily-20260101010000").completes().fault("fault-1").phases("Deleting").
		requested(`{"errors":["no"]}`).deleted().phases("Completed").rests(0, 0).settles())
	seed(&scenario.Scenario{}, trace.Trace{})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var s scenario.Scenario
		var tr trace.Trace
		if json.Unmarshal(a, &s) != nil || json.Unmarshal(b, &tr) != nil {
			t.Skip("no scenario, or no trace")
		}
		for _, x := range s.Schedules {
			if x.Backups > 100 { // it takes long to name so many objects alone
				t.Skip("too many objects")
			}
		}
		v := Judge(&s, tr)
		switch v.Result {
		case Pass, KnownDeviation:
			if len(v.Findings) > 0 {
				t.Errorf("%s with findings: %v", v.Result, v.Findings)
			}
		case Fail, Inconclusive:
			if len(v.Findings) == 0 {
				t.Errorf("%s without a finding", v.Result)
			}
		default:
			t.Errorf("result %q", v.Result)
		}
		if err := v.Print(io.Discard); err != nil {
			t.Error(err)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
	})
}
