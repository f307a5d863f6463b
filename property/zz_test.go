package property

import (
	"flag"
	"os"
	"testing"

	"github.com/velosim/velosim/sim/verdict"
)

var num = flag.Int("num", 0, "")

func TestZZ(t *testing.T) {
	d := Numbered(*num)
	b, _ := text(d.written)
	os.WriteFile("/tmp/prop/n.yaml", b, 0o644)
	t.Log(verdict.Bound(d.Scenario))
}
