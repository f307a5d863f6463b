package plugintest

import (
	"testing"

	"github.com/velosim/velosim/sim/scenario"
)

// RunOnce is a run of the scenario without checks, whose failure a test can look at.
func RunOnce(t *testing.T, text string) Result {
	t.Helper()
	s, errs := scenario.Parse("text", []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return run(t.Context(), open(t), s, 1)
}
