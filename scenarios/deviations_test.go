package scenarios_test

import (
	"testing"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// Every rule in which a release deviates has its witness in the catalogue, if a world has the fault that shows it.
func TestRulesHaveWitnesses(t *testing.T) {
	for _, rule := range phase.All() {
		if rule.Witness == "" {
			continue
		}
		b, err := scenarios.Read(rule.Witness)
		if err != nil {
			t.Errorf("rule %s: %v", rule.Name, err)
			continue
		}
		s, errs := scenario.Parse(rule.Witness, b)
		if len(errs) > 0 {
			t.Errorf("rule %s: %v", rule.Name, errs)
			continue
		}
		if d := s.Expect.Deviation; d == nil || d.Rule != rule.Name {
			t.Errorf("rule %s: its witness %s expects deviation %+v", rule.Name, rule.Witness, d)
		}
	}
}
