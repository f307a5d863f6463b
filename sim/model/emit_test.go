package model

import (
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

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
