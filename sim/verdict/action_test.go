package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

const (
	quiesce = "example.io/quiesce"
	notify  = "example.io/notify"
)

// acting gives the scenario a plugin that has both actions of backups, and one that has a post-action alone.
func acting(s *scenario.Scenario) {
	deadline := scenario.Duration{Duration: 10 * time.Minute}
	s.Plugins = append(s.Plugins, scenario.Plugin{Name: quiesce, Action: scenario.PreBackupAction, Deadline: deadline},
		scenario.Plugin{Name: quiesce, Action: scenario.PostBackupAction, Deadline: deadline},
		scenario.Plugin{Name: notify, Action: scenario.PostBackupAction, Deadline: deadline})
}

// acts calls an action, which returns an error, none if it is empty, or not at all: "-".
func (s *script) acts(plugin, err string) *script {
	s.call++
	s.add(s.object, trace.Body{Call: &trace.Call{ID: s.call, Plugin: plugin, Method: execute, Phase: s.phase}})
	if err == "-" {
		return s
	}
	return s.add(s.object, trace.Body{Return: &trace.Return{ID: s.call, Error: err}})
}

func TestActions(t *testing.T) {
	none, once, twice := 0, 1, 2
	begun := func() *script { return begin().phases("Queued", "ReadyToStart", "InProgress") }
	completes := func() *script { return begun().acts(quiesce, "").phases("Finalizing", "Completed") }
	is := func(plugin string, a scenario.Action, p scenario.ActionPhase, calls *int) scenario.Outcome {
		return scenario.Outcome{Actions: []scenario.ActionOutcome{{Plugin: plugin, Action: a, Phase: p, Calls: calls}}}
	}
	late := completes().acts(notify, "").acts(quiesce, "-").wait(11 * time.Minute)
	late.add(late.object, trace.Body{Return: &trace.Return{ID: late.call}})
	for _, j := range []judged{
		{
			name: "all is well", expect: is(quiesce, scenario.PostBackupAction, scenario.ActionCompleted, &once), result: Pass,
			trace: completes().acts(notify, "").acts(quiesce, "").rests(0, 0).settles(),
		},
		{
			name: "a pre-action fails, and its plugin's post-action follows", expect: is(quiesce, scenario.PreBackupAction, scenario.ActionFailed, &once), result: Pass,
			trace: begun().acts(quiesce, "no").phases("FailedPreBackupActions").acts(notify, "").acts(quiesce, "").rests(0, 0).settles(),
		},
		{
			name: "one that is interrupted is called again", expect: is(notify, scenario.PostBackupAction, scenario.ActionCompleted, &twice), result: Pass,
			trace: completes().acts(notify, "-").restart(10*time.Second).acts(notify, "").acts(quiesce, "").rests(0, 0).settles(),
		},
		{
			name: "killed before the first", expect: is(quiesce, scenario.PostBackupAction, scenario.ActionSkipped, &none), result: Pass,
			trace: begun().restart(10*time.Second).phases("Failed").acts(notify, "").rests(0, 0).settles(),
		},
		{
			name: "not as expected", expect: is(notify, scenario.PostBackupAction, scenario.ActionCompleted, &twice), result: Fail,
			trace: completes().acts(notify, "no").acts(quiesce, "").rests(0, 0).settles(),
			found: []brief{
				{"expectation", "PostBackupAction of example.io/notify Completed", "Failed"}, {"expectation", "2 calls of PostBackupAction of example.io/notify", "1"},
			},
		},
		{
			name: "what was quiesced is not resumed", result: Fail, trace: completes().acts(notify, "").rests(0, 0).settles(),
			found: []brief{{"liveness", "the PostBackupAction of example.io/quiesce ends, as its pre-action has begun", "phase Completed, and the action is Skipped"}},
		},
		{
			name: "nobody is notified", result: Fail, trace: begin().phases("Queued", "ReadyToStart", "InProgress").restart(time.Second).phases("Failed").rests(0, 0).settles(),
			found: []brief{{"liveness", "the PostBackupAction of example.io/notify ends, as it has no pre-action", "phase Failed, and the action is Skipped"}},
		},
		{
			name: "a post-action is interrupted, and not called again", result: Fail,
			trace: completes().acts(notify, "").acts(quiesce, "-").restart(time.Second).rests(0, 0).settles(),
			found: []brief{{"liveness", "the PostBackupAction of example.io/quiesce ends, as its pre-action has begun", "phase Completed, and the action is InProgress"}},
		},
		{
			name: "a post-action comes twice", result: Fail, trace: completes().acts(notify, "").acts(quiesce, "").acts(quiesce, "").rests(0, 0).settles(),
			found: []brief{{"conformance", "what demanded allows", "the post-action of example.io/quiesce was called"}},
		},
		{
			name: "the phase of a failed pre-action without one", result: Fail, trace: begun().acts(quiesce, "").phases("FailedPreBackupActions").acts(notify, "").acts(quiesce, "").rests(0, 0).settles(),
			found: []brief{{
				"conformance", "what demanded allows: to Failed or Finalizing or FinalizingPartiallyFailed", "InProgress → FailedPreBackupActions",
			}},
		},
		{
			name: "a call goes on after its deadline, which it has in every reading", result: Fail, trace: late.rests(0, 0).settles(),
			found: []brief{{"contract", "example.io/quiesce Execute is given up by 10m0s", "it was called at 0s and went on until 11m0s"}},
		},
		{name: "one that was never run has none", result: Pass, trace: begin().phases("Queued", "ReadyToStart", "FailedValidation").rests(0, 0).settles()},
	} {
		j.change = acting
		j.run(t)
	}
}
