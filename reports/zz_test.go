package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/phase"
)

func TestZZ(t *testing.T) {
	for _, release := range []string{"1.18.3", "1.14.0"} {
		for _, kind := range []phase.Kind{phase.Backup, phase.Restore} {
			c := Coverage{Kind: kind.String()}
			for change, transition := range legal(scope{Target{"virtual", release}, kind.String()}) {
				transition.From, transition.To = change.from, change.to
				c.Transitions = append(c.Transitions, transition)
			}
			d := draw(c)
			for _, e := range d.Edges {
				for _, n := range crossed(e, d.Nodes) {
					t.Errorf("%s %s: %s crosses %s   %s", release, kind, e.ID, n, e.Path)
				}
			}
		}
	}
}

func crossed(e edge, nodes []node) (names []string) {
	var p [8]float64
	n := 0
	for _, f := range strings.FieldsFunc(e.Path, func(r rune) bool { return strings.ContainsRune("MCQ ", r) }) {
		fmt.Sscan(f, &p[n])
		n++
	}
	for _, node := range nodes {
		name := strings.Join(node.Lines, "")
		if strings.HasPrefix(e.ID, name+" ") || strings.HasSuffix(e.ID, " "+name) {
			continue
		}
		for i := range 101 {
			t := float64(i) / 100
			at := func(k int) float64 {
				u := 1 - t
				if n == 6 {
					return u*u*p[k] + 2*u*t*p[k+2] + t*t*p[k+4]
				}
				return u*u*u*p[k] + 3*u*u*t*p[k+2] + 3*u*t*t*p[k+4] + t*t*t*p[k+6]
			}
			if x, y := at(0), at(1); x > node.X && x < node.X+node.W && y > node.Y && y < node.Y+node.H {
				names = append(names, name)
				break
			}
		}
	}
	return names
}
