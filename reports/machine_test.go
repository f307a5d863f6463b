package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/phase"
)

// Each phase that a transition of a release has has a place of its own, and no way of a transition passes behind another phase.
func TestPlaces(t *testing.T) {
	for _, release := range []string{"1.18.3", "1.14.0"} {
		for _, kind := range []phase.Kind{phase.Backup, phase.Restore} {
			transitions := legal(scope{Target{"virtual", release}, kind.String()})
			c := Coverage{Kind: kind.String()}
			for change, transition := range transitions {
				transition.From, transition.To = change.from, change.to
				c.Transitions = append(c.Transitions, transition)
			}
			d := draw(c)
			if len(d.Edges) != len(transitions) {
				t.Errorf("%s %s: %d of %d transitions are drawn", release, kind, len(d.Edges), len(transitions))
			}
			for i, a := range d.Nodes {
				if a.X < 0 || a.X+a.W > d.Width || a.Y+a.H > d.Height {
					t.Errorf("%s is outside", a.Lines)
				}
				for _, b := range d.Nodes[:i] {
					if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
						t.Errorf("%s and %s overlap", a.Lines, b.Lines)
					}
				}
			}
			for _, e := range d.Edges {
				for _, name := range behind(t, e, d) {
					t.Errorf("%s %s: %s passes behind %s", release, kind, e.ID, name)
				}
			}
		}
	}
}

// behind are the phases that the way of a transition passes behind, besides those that it is of; or "the border".
func behind(t *testing.T, e edge, d drawing) (names []string) {
	var p []float64
	for _, field := range strings.FieldsFunc(e.Path, func(r rune) bool { return strings.ContainsRune("MCQ ", r) }) {
		var f float64
		if _, err := fmt.Sscan(field, &f); err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
		p = append(p, f)
	}
	// De Casteljau's way to a point of a curve of any degree.
	at := func(part float64) (x, y float64) {
		q := slices.Clone(p)
		for n := len(q); n > 2; n -= 2 {
			for i := range n - 2 {
				q[i] += part * (q[i+2] - q[i])
			}
		}
		return q[0], q[1]
	}
	from, to, _ := strings.Cut(e.ID, " → ")
	for i := range 101 {
		x, y := at(float64(i) / 100)
		if x < -12 || x > d.Width-12 || y < 0 || y > d.Height {
			names = append(names, "the border")
		}
		for _, n := range d.Nodes {
			name := strings.Join(n.Lines, "")
			if name != from && name != to && x > n.X && x < n.X+n.W && y > n.Y && y < n.Y+n.H {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
