package scenarios_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
)

// TestFamilies: each scenario of a section of docs/faults.md has the section's family, and one without a fault has none.
func TestFamilies(t *testing.T) {
	page, err := os.ReadFile("../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]scenario.Family{
		"Plugins": scenario.PluginFault, "The server": scenario.ServerFault, "The API server": scenario.APIFault,
		"The object store": scenario.StoreFault, "The user": scenario.UserAction,
	}
	var family scenario.Family
	seen := map[scenario.Family]int{}
	for line := range strings.Lines(string(page)) {
		if section, ok := strings.CutPrefix(line, "## "); ok {
			family = families[strings.TrimSpace(section)]
		}
		cells := strings.Split(line, "|")
		if len(cells) != 6 || family == "" || len(codes(cells[4])) != 1 {
			continue
		}
		name := codes(cells[4])[0]
		seen[family]++
		if got := parsed(t, name).FaultFamilies(); !slices.Contains(got, family) {
			t.Errorf("%s has the families %s, and is in the section of %s", name, got, family)
		}
	}
	for _, f := range scenario.Families() {
		if seen[f] < 2 {
			t.Errorf("%d scenarios of %s", seen[f], f)
		}
	}
	for _, name := range []string{"backup-operation-completes", "backup-additional-items"} {
		if got := parsed(t, name).FaultFamilies(); len(got) > 0 {
			t.Errorf("%s has the families %s", name, got)
		}
	}
}
