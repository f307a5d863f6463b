package virtual_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/verdict"
)

// TestCounterexamplesReplay: what the model finds wrong with the release, Velero's controllers do.
func TestCounterexamplesReplay(t *testing.T) {
	rules, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	replayed := map[string]bool{}
	for _, kind := range []phase.Kind{phase.Backup, phase.Restore} {
		c := model.Config{Machine: model.Machine{Spec: rules}, Kind: kind, Items: 2, Faults: model.Budget{Crashes: 1, Store: 1}, NoSymmetry: true}
		r, err := model.Explore(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Counterexamples {
			causes, err := model.Causes(t.Context(), c, rules, x)
			if err != nil {
				t.Fatal(err)
			}
			name, text, err := x.Scenario(c.Start(), rules, causes)
			if err != nil {
				t.Logf("%s: %s: no scenario: %v", kind, x.Property, err)
				continue
			}
			t.Run(name, func(t *testing.T) {
				s := parse(t, name, text)
				for _, seed := range []int64{1, 5} { // without latency, which would move polls beside the plugins' timelines
					v := verdict.Judge(s, run(t, s, seed))
					if v.Result != verdict.KnownDeviation || !slices.Equal(v.Deviations, []string{causes[0].Name}) {
						var why strings.Builder
						_ = v.Print(&why) // to a Builder: cannot fail
						t.Errorf("seed %d: %s\n%s", seed, &why, text)
					}
				}
			})
			replayed[causes[0].Name] = true
		}
	}
	for _, want := range []string{
		"plugin-call-without-deadline", "ready-backup-forgotten-by-restart", "failure-forgotten-before-patch", "missing-operations-read-as-none", "final-upload-failure-ignored",
		"finalizer-retried-for-ever",
	} {
		if !replayed[want] {
			t.Errorf("nothing replayed for %s", want)
		}
	}
}
