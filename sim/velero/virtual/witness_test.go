package virtual_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/verdict"
)

// TestWitnessesUnnamed: what a deviation looks like, a verdict knows without being told. Users' scenarios seldom name one.
func TestWitnessesUnnamed(t *testing.T) {
	for _, name := range catalogue(t) {
		s := load(t, name)
		// That a backup cannot be deleted, or is Deleting for ever, no path shows: the scenario must say that it has to go.
		undeleted := []string{phase.DeletionForgottenByRestart, "given-up-backup-stays-tracked"}
		d := s.Expect.Deviation
		if d == nil || phase.Named(d.Rule).Witness != name || !phase.Named(d.Rule).Machine() || slices.Contains(undeleted, d.Rule) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rule := s.Expect.Deviation.Rule
			s.Expect.Deviation = nil
			s.Metadata.Name += "-unnamed"
			for seed := int64(1); seed <= seeds(t, 2); seed++ {
				v := verdict.Judge(s, run(t, s, seed))
				if v.Result == verdict.KnownDeviation && slices.Equal(v.Deviations, []string{rule}) {
					continue
				}
				var found strings.Builder
				for _, f := range v.Findings {
					fmt.Fprintf(&found, "  %s, by %q: expected %s, saw %s\n", f.Oracle, f.Rules, f.Expected, f.Seen)
				}
				t.Errorf("seed %d: %s %v, want known deviation %s\n%s", seed, v.Result, v.Deviations, rule, found.String())
			}
		})
	}
}
