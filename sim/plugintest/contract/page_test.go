package contract_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

var update = flag.Bool("update", false, "rewrite docs/contract.md")

// docs/contract.md has every check of the suite, as the suite has it.
func TestPage(t *testing.T) {
	const file = "../../../docs/contract.md"
	page := page()
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != page {
		t.Errorf("%s is not what the suite says: go test ./sim/plugintest/contract -run Page -update", file)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString(`<!-- Written by a test: go test ./sim/plugintest/contract -run Page -update -->
# What is demanded of a plugin

The checks of the contract suite, in the order of the report card. ` + "`velosim plugin test`" + ` makes all of them; in Go tests, ` + "`plugintest.Contract`" + ` those that a run
on a server can tell, and ` + "`plugintest.Keeps`" + ` one of them. A check whose source is "proposed by velosim" is not in Velero's documents; what Velero does says why it is made.
[examples/flawed](../examples/flawed/README.md) has a plugin for each that fails it.
`)
	for _, c := range contract.Suite() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n- Source: %s\n- What Velero does: %s\n- How to fix it: %s\n", c.Name, c.Demands, c.Source, c.Velero, c.Fix)
	}
	return b.String()
}
