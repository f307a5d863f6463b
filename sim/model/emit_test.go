package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// TestCounterexamplesWithActionsAreScenarios: they have their plugins, which fail, and are killed, where they do on the path.
func TestCounterexamplesWithActionsAreScenarios(t *testing.T) {
	start := Config{Kind: phase.Backup, Items: 1, Faults: Budget{Crashes: 3}, Actions: true}.Start()
	in := func(actor Actor, ins ...phase.Input) (path []Step) {
		for _, in := range ins {
			path = append(path, Step{Actor: actor, Input: input(in)})
		}
		return path
	}
	server, plugin := func(ins ...phase.Input) []Step { return in(Server, ins...) }, func(ins ...phase.Input) []Step { return in(Plugin, ins...) }
	killed := append(in(Fault, phase.ServerKilled), server(phase.ServerStarted)...)
	path := slices.Concat(
		server(phase.Enqueued, phase.Dequeued, phase.Validated, phase.PreActionStarted), plugin(phase.PreActionSucceeded),
		server(phase.PreActionStarted), plugin(phase.PreActionFailed), server(phase.RunFailed, phase.PostActionStarted), plugin(phase.PostActionSucceeded),
		server(phase.PostActionStarted), killed, server(phase.PostActionStarted), killed, server(phase.PostActionStarted), plugin(phase.PostActionFailed),
	)
	_, text, err := Counterexample{Property: "none", Path: path}.Scenario(start, release(t), []phase.Rule{phase.Named("start-marks-once")})
	if err != nil {
		t.Fatal(err)
	}
	const want = `plugins:
- {name: example.io/action-1, action: PreBackupAction}
- {name: example.io/action-1, action: PostBackupAction}
- {name: example.io/action-2, action: PreBackupAction, execute: {error: refused}}
- {name: example.io/action-2, action: PostBackupAction, execute: {error: refused}}
- {name: example.io/action-3, action: PostBackupAction}
faults:
- at: {call: {plugin: example.io/action-2, method: Execute, phase: FailedPreBackupActions}, nth: 1}
  do: {kill: {restartAfter: 4s}}
- at: {call: {plugin: example.io/action-2, method: Execute, phase: FailedPreBackupActions}, nth: 2}
  do: {kill: {restartAfter: 4s}}
expect:
  phase: FailedPreBackupActions
`
	if !strings.Contains(text, want) {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

// TestCounterexamplesAreScenarios: each is one that can be read, or says what no scenario has yet.
func TestCounterexamplesAreScenarios(t *testing.T) {
	for _, kind := range kinds() {
		c := Config{Machine: Machine{Spec: release(t)}, Kind: kind, Items: 2, Faults: Budget{Crashes: 1, Store: 1}, NoSymmetry: true}
		rules := map[string]bool{}
		for _, x := range explore(t, c).Counterexamples {
			causes, err := Causes(t.Context(), c, release(t), x)
			if err != nil {
				t.Fatal(err)
			}
			name, text, err := x.Scenario(c.Start(), release(t), causes)
			if err != nil {
				t.Logf("%s: %s: %v", kind, x.Property, err)
				continue
			}
			s, errs := scenario.Parse(name+".yaml", []byte(text))
			if len(errs) > 0 {
				t.Errorf("%s\n%v", text, errs)
				continue
			}
			if !strings.HasPrefix(s.Description, "Found by exploring v1.18: ") || s.Expect.Deviation == nil {
				t.Errorf("%s", text)
			}
			rules[causes[0].Name] = true
		}
		for _, want := range []string{"plugin-call-without-deadline", "failure-forgotten-before-patch", "missing-operations-read-as-none"} {
			if !rules[want] {
				t.Errorf("%s: no scenario for %s", kind, want)
			}
		}
		if kind == phase.Backup && !rules["final-upload-failure-ignored"] {
			t.Errorf("no scenario for final-upload-failure-ignored")
		}
	}
}
