package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func errsOnce(s *scenario.Scenario) {
	s.Plugins[0].Progress = scenario.Behaviour{Error: "mover is away", Nth: 2, Times: 1}
}

// hanging is a backup whose operation's second Progress hangs until the run is over.
func hanging() *script {
	return waiting().calling(progress, mover1).wait(5 * time.Hour).rest(trace.Rest{Copy: "api", Attempted: 1})
}

func hangsThen(phase string) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		s.Plugins[0].Progress = scenario.Behaviour{Hang: true, Nth: 2}
		s.Expect.Outcome = scenario.Outcome{Phase: phase}
	}
}

// deviating is the scenario whose Progress errs once, and which names a deviation.
func deviating(rule string, o scenario.Outcome) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		errsOnce(s)
		s.Expect.Deviation = deviation(rule, o)
	}
}

// TestAttribution: a rule excuses what it explains, and nothing else.
func TestAttribution(t *testing.T) {
	expects := func(o scenario.Outcome) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { errsOnce(s); s.Expect.Outcome = o }
	}
	stuck := func(s *script) trace.Trace {
		return s.wait(5 * time.Hour).rest(trace.Rest{Copy: "api"}).ends(trace.Bound)
	}
	running := func() *script { return begin().phases("Queued", "ReadyToStart", "InProgress") }
	executeHangs := func(s *scenario.Scenario) {
		s.Plugins[0].Execute.Hang = true
		s.Expect.Outcome = scenario.Outcome{Phase: "PartiallyFailed"}
	}
	pathFound := brief{
		"prediction", "path Queued → ReadyToStart → InProgress → FinalizingPartiallyFailed → PartiallyFailed",
		"path Queued → ReadyToStart → InProgress",
	}
	livenessFound := brief{"liveness", anEnd, "phase InProgress, waiting for the server to go through the items, since 0s"}
	for _, test := range []struct {
		name       string
		change     func(*scenario.Scenario)
		trace      trace.Trace
		deviations []string // nil: the run fails
		failing    []brief  // the findings that no rule explains
	}{
		{
			name: "held by a call", change: hangsThen("PartiallyFailed"), trace: hanging().ends(trace.Bound), deviations: []string{hangs},
		},
		{
			name: "stuck, and no call holds it", change: executeHangs, trace: stuck(running()),
			failing: []brief{{"expectation", "phase PartiallyFailed", "phase InProgress"}, pathFound, livenessFound},
		},
		{
			name: "stuck, when the call that held it has returned", change: executeHangs,
			trace:   stuck(running().calling(execute, "").wait(time.Hour).returns(trace.Return{})),
			failing: []brief{{"expectation", "phase PartiallyFailed", "phase InProgress"}, pathFound, livenessFound},
		},
		{
			name: "stuck, no call holds it, and the scenario names the deviation",
			change: func(s *scenario.Scenario) {
				executeHangs(s)
				s.Expect.Deviation = deviation(hangs, scenario.Outcome{Phase: "InProgress"})
			},
			trace:   stuck(running()),
			failing: []brief{livenessFound, {"expectation", "phase PartiallyFailed", "phase InProgress"}, pathFound},
		},
		{
			name: "Progress should have taken an hour, and did not",
			change: func(s *scenario.Scenario) {
				s.Plugins[0].Progress.Delay.Duration = time.Hour
				s.Expect.Outcome = scenario.Outcome{Phase: "PartiallyFailed"}
			},
			trace: healthy().rests(1, 0).settles(),
			failing: []brief{
				{"expectation", "phase PartiallyFailed", "phase Completed"},
				{
					"prediction", "path Queued → ReadyToStart → InProgress → FinalizingPartiallyFailed → PartiallyFailed",
					"path Queued → ReadyToStart → InProgress → WaitingForPluginOperations → Finalizing → Completed",
				},
			},
		},
		{
			name: "phase, path, outcomes of operations, and what plugins are called for",
			change: expects(scenario.Outcome{
				Phase: "Completed", Path: []string{"Queued", "ReadyToStart", "InProgress", "WaitingForPluginOperations", "Finalizing", "Completed"},
				Operations: &scenario.Operations{Attempted: 1, Completed: 1}, Cancelled: &[]string{mover}, Updated: &[]scenario.Item{item},
			}),
			trace: erred().settles(), deviations: []string{errs},
		},
		{
			name: "other operations than the plugins have", change: expects(scenario.Outcome{Phase: "Completed", Operations: &scenario.Operations{Attempted: 9, Completed: 9}}),
			trace:   erred().settles(),
			failing: []brief{{"expectation", "operations: 9 attempted, 9 completed, 0 failed", "operations: 1 attempted, 0 completed, 1 failed"}},
		},
		{
			name: "late", change: expects(scenario.Outcome{Phase: "Completed", Within: scenario.Duration{Duration: time.Second}}),
			trace:   erred().settles(),
			failing: []brief{{"expectation", "last phase within 1s of its creation", "10s"}},
		},
		{
			name: "long after all could have ended", change: errsOnce,
			trace: func() trace.Trace {
				s := waiting().progressErrs(mover1).phases("FinalizingPartiallyFailed").wait(99 * time.Hour).phases("PartiallyFailed")
				return rested(s, storedAs("Failed"))
			}(),
			failing: []brief{{"liveness", anEnd + " by 4h17m20s", "phase PartiallyFailed at 99h0m10s"}},
		},
		{
			name: "as the deviation that the scenario names", change: deviating(errs, scenario.Outcome{Phase: "PartiallyFailed"}),
			trace: erred().settles(), deviations: []string{errs},
		},
		{
			name:   "by the rule that the scenario names, and not as it says",
			change: deviating(errs, scenario.Outcome{Phase: "PartiallyFailed", Cancelled: &[]string{mover}}), trace: erred().settles(),
			failing: []brief{{"expectation", "Cancel called on operations of example.io/mover", "none"}},
		},
		{
			name:   "by another rule than the one that the scenario names",
			change: deviating(hangs, scenario.Outcome{Phase: "WaitingForPluginOperations"}), trace: erred().settles(), deviations: []string{errs},
		},
		{
			name: "the restore of a backup that hangs is never created",
			change: func(s *scenario.Scenario) {
				hangsThen("Completed")(s)
				withRestore(s)
			},
			trace: hanging().ends(trace.Bound), deviations: []string{hangs},
		},
		{
			name: "the restore of a backup that is stuck otherwise is never created",
			change: func(s *scenario.Scenario) {
				executeHangs(s)
				withRestore(s)
			},
			trace:   stuck(running()),
			failing: []brief{{"expectation", "phase PartiallyFailed", neverCreated}, pathFound, livenessFound},
		},
		{
			name: "the second backup of a user whose first hangs is never created",
			change: func(s *scenario.Scenario) {
				hangsThen("Completed")(s)
				two(s)
			},
			trace: hanging().ends(trace.Bound), deviations: []string{hangs},
		},
		{
			name: "a call must come, which does not on the way that the backup takes",
			change: func(s *scenario.Scenario) {
				errsOnce(s)
				s.Expect.Must = []scenario.Point{{Call: &scenario.Call{Plugin: mover, Method: progress}, Nth: 9}}
			},
			trace: erred().settles(), deviations: []string{errs},
		},
		{
			name: "another object goes another way, as the rule has it",
			change: func(s *scenario.Scenario) {
				errsOnce(s)
				withRestore(s)
				s.Expect.Objects = map[string]scenario.Outcome{"backup/backup-1": {Phase: "Completed"}}
			},
			trace: erred().create("restore/restore-1").completes().rests(0, 0).settles(), deviations: []string{errs},
		},
		{
			name: "another object goes another way, as the scenario's deviation has it",
			change: func(s *scenario.Scenario) {
				errsOnce(s)
				withRestore(s)
				s.Expect.Objects = map[string]scenario.Outcome{"backup/backup-1": {Phase: "Completed"}}
				s.Expect.Deviation = deviation(errs, scenario.Outcome{Phase: "Completed"})
				s.Expect.Deviation.Objects = map[string]scenario.Outcome{"backup/backup-1": {Phase: "PartiallyFailed", Errors: new(1)}}
			},
			trace: erred().create("restore/restore-1").completes().rests(0, 0).settles(), deviations: []string{errs},
		},
		{
			name: "another object goes another way, and not as the scenario's deviation has it",
			change: func(s *scenario.Scenario) {
				errsOnce(s)
				withRestore(s)
				s.Expect.Objects = map[string]scenario.Outcome{"backup/backup-1": {Phase: "Completed"}}
				s.Expect.Deviation = deviation(errs, scenario.Outcome{Phase: "Completed"})
				s.Expect.Deviation.Objects = map[string]scenario.Outcome{"backup/backup-1": {Errors: new(3)}}
			},
			trace: erred().create("restore/restore-1").completes().rests(0, 0).settles(), failing: []brief{{"expectation", "3 errors", "1 errors"}},
		},
		{
			name: "two rules, of which one does not end the backup as it is",
			change: func(s *scenario.Scenario) {
				errsOnce(s)
				s.Plugins = append(s.Plugins, s.Plugins[0])
				s.Plugins[1].Name, s.Plugins[1].Progress = other, scenario.Behaviour{Hang: true, Nth: 3}
				s.Expect.Phase = "PartiallyFailed"
			},
			trace: sameID().wait(10*time.Second).of(mover).progressErrs(mover1).of(other).progress(mover1, trace.Progress{}).
				phases("WaitingForPluginOperationsPartiallyFailed").wait(10*time.Second).calling(progress, mover1).wait(5 * time.Hour).
				rest(trace.Rest{Copy: "api", Errors: 1, Attempted: 2, Failed: 1}).ends(trace.Bound),
			deviations: []string{hangs, errs},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Judge(moving(test.change), test.trace)
			var failing []brief
			for _, f := range v.Findings {
				if len(f.Rules) == 0 {
					failing = append(failing, brief{f.Oracle, f.Expected, f.Seen})
				}
			}
			if diff := cmp.Diff(test.deviations, v.Deviations); diff != "" || (v.Result == KnownDeviation) != (test.deviations != nil) {
				t.Errorf("%s, deviations (-want +got):\n%s", v.Result, diff)
			}
			if diff := cmp.Diff(test.failing, failing); diff != "" || (v.Result == Fail) != (test.deviations == nil) {
				t.Errorf("%s, findings (-want +got):\n%s", v.Result, diff)
			}
		})
	}
}

// TestAttributionWithoutPrediction: what cannot be predicted is not explained.
func TestAttributionWithoutPrediction(t *testing.T) {
	demanded := model.Path{phase.Queued, phase.ReadyToStart, phase.InProgress, phase.Completed}
	released := model.Path{phase.Queued, phase.ReadyToStart, phase.InProgress, phase.Failed}
	failed := begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").rest(trace.Rest{Copy: "api"}).settles()
	for _, test := range []struct {
		name   string
		errs   func(phase.Rules) bool
		result Result
	}{
		{"all is predicted", func(phase.Rules) bool { return false }, KnownDeviation},
		{"nothing is", func(phase.Rules) bool { return true }, Fail},
		{"what is demanded is not", func(rules phase.Rules) bool { return !rules.StartMarksOnce }, Fail},
		{"what the release does is not", func(rules phase.Rules) bool { return rules.StartMarksOnce }, Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := map[phase.Rules]int{}
			v := judge(moving(nil), failed, func(rules phase.Rules, _ *scenario.Scenario) []model.Prediction {
				rules.Name = ""
				asked[rules]++
				p := model.Prediction{Object: "backup/backup-1", Paths: []model.Path{demanded}}
				switch {
				case test.errs(rules):
					return []model.Prediction{{Object: p.Object, Unknown: "too many states"}}
				case rules.StartMarksOnce:
					p.Paths = []model.Path{released}
				}
				return []model.Prediction{p}
			})
			if v.Result != test.result {
				t.Errorf("%s %v, want %s", v.Result, v.Findings, test.result)
			}
			if v.Result == KnownDeviation && !slices.Equal(v.Deviations, []string{"start-marks-once"}) {
				t.Errorf("deviations %v", v.Deviations)
			}
			for rules, n := range asked {
				if n > 1 {
					t.Errorf("predicted %d times: %+v", n, rules)
				}
			}
		})
	}
}

// TestAttributionOfInvariants: a rule that is found once explains what it breaks of the same object.
func TestAttributionOfInvariants(t *testing.T) {
	const rule = "failure-forgotten-before-patch"
	breaks := Finding{Oracle: "accounting", Object: "backup/backup-1", Expected: "errors-cover-failed-operations: …"}
	for _, test := range []struct {
		name     string
		by       Finding
		departs  bool
		stays    bool // and is gone in the other readings
		explains bool
	}{
		{name: "conformance has found it", by: Finding{Oracle: "conformance", Object: "backup/backup-1", Rules: []string{rule}}, explains: true},
		{name: "of another object", by: Finding{Oracle: "conformance", Object: "restore/restore-1", Rules: []string{rule}}},
		{name: "a rule that does not break it", by: Finding{Oracle: "conformance", Object: "backup/backup-1", Rules: []string{errs}}},
		{name: "the path departs by it", departs: true, explains: true},
		{name: "the path departs as it stays there", stays: true, explains: true},
		{name: "nothing has found it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := fold(moving(nil), begin().phases("Queued").settles())
			r.predict = func(rules phase.Rules, _ *scenario.Scenario) []model.Prediction {
				p := model.Prediction{Object: "backup/backup-1"}
				if !test.departs || rules.FailureForgottenBeforePatch {
					p.Paths = []model.Path{{phase.Queued}}
				}
				if !test.stays || rules.FailureForgottenBeforePatch {
					p.Stays = []phase.Phase{phase.Queued}
				}
				return []model.Prediction{p}
			}
			release, err := phase.ForRelease("1.18.3")
			if err != nil {
				t.Fatal(err)
			}
			found := []Finding{test.by, breaks}
			r.attribute(found, release)
			if got := slices.Equal(found[1].Rules, []string{rule}); got != test.explains || !got && found[1].Rules != nil {
				t.Errorf("rules %v", found[1].Rules)
			}
		})
	}
}
