package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// moving is the scenario in which an operation of example.io/mover completes after an hour.
func moving(change func(*scenario.Scenario)) *scenario.Scenario {
	s := expecting(scenario.Outcome{Phase: "Completed"})
	s.Plugins[0].Resources = []string{"configmaps"}
	s.Plugins[0].Operation = &scenario.Operation{
		AfterCancel: scenario.Fails, Progress: []scenario.Step{{}, {At: scenario.Duration{Duration: time.Hour}, Completed: true}},
	}
	if change != nil {
		change(s)
	}
	return s
}

// erred is a backup whose operation fails by the first error of Progress, in the second poll.
func erred() *script {
	s := waiting().progressErrs(mover1).phases("FinalizingPartiallyFailed", "PartiallyFailed")
	api := trace.Rest{Copy: "api", Errors: 1, Attempted: 1, Failed: 1, Ended: true}
	store := api
	store.Copy = "store"
	store.Operations = []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Failed", Error: "mover is away"}}
	return s.rest(api).rest(store)
}

func TestPrediction(t *testing.T) {
	for _, test := range []struct {
		name       string
		change     func(*scenario.Scenario)
		trace      trace.Trace
		result     Result
		deviations []string
		oracles    []string
	}{
		{name: "as predicted", trace: healthy().rests(1, 0).settles(), result: Pass},
		{
			name: "a path that nothing in the scenario explains",
			change: func(s *scenario.Scenario) {
				s.Plugins[0].Operation = nil
			},
			trace: healthy().rests(1, 0).settles(), result: Fail, oracles: []string{"prediction"},
		},
		{
			name: "the release deviates, and the scenario does not say so", change: errsOnce,
			trace: erred().settles(), result: KnownDeviation, deviations: []string{errs},
		},
		{
			name: "it does, and something else is wrong", change: errsOnce,
			trace: erred().process("example.io/mover", "started").server("stopped").settles(), result: Fail,
			oracles: []string{"expectation", "prediction", "conformance", "contract"},
		},
		{
			name:  "it ends as that rule has it, but the plugin gave no cause",
			trace: erred().settles(), result: Fail, oracles: []string{"expectation", "prediction", "conformance"},
		},
		{
			name: "two rules: its restore hangs",
			change: func(s *scenario.Scenario) {
				errsOnce(s)
				withRestore(s)
				s.Plugins = append(s.Plugins, s.Plugins[0])
				s.Plugins[1].Action, s.Plugins[1].Progress = scenario.RestoreItemAction, scenario.Behaviour{Hang: true, Nth: 2}
			},
			trace: erred().create("restore/restore-1").phases("InProgress").execute("mover-2").progress("mover-2", trace.Progress{}).
				phases("WaitingForPluginOperations").calling(progress, "mover-2").wait(9 * time.Hour).
				rest(trace.Rest{Copy: "api", Phase: "WaitingForPluginOperations", Attempted: 1}).ends(trace.Bound),
			result: KnownDeviation, deviations: []string{hangs, errs},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Judge(moving(test.change), test.trace)
			var oracles []string
			for _, f := range v.Findings {
				oracles = append(oracles, f.Oracle)
			}
			if v.Result != test.result || !cmp.Equal(v.Deviations, test.deviations) || !cmp.Equal(oracles, test.oracles) {
				t.Errorf("%s %v, by %v; want %s %v, by %v", v.Result, v.Deviations, oracles, test.result, test.deviations, test.oracles)
				var text strings.Builder
				v.Print(&text) //nolint:errcheck
				t.Log(text.String())
			}
		})
	}
}
