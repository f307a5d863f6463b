package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// The drawing of a phase machine has a place for each phase, by hand: runs go from left to right, what ends well is above, and Deleting, which
// nearly every phase leads to, is a bar below all of them.
const (
	nodeWidth, nodeHeight = 150.0, 34.0
	drawingWidth          = 1180.0
)

type place struct{ x, y float64 }

// places are the centres of the phases.
func places(kind phase.Kind) map[phase.Phase]place {
	all := map[phase.Phase]place{
		phase.InProgress:                                {490, 190},
		phase.WaitingForPluginOperations:                {690, 90},
		phase.WaitingForPluginOperationsPartiallyFailed: {690, 290},
		phase.Finalizing:                                {900, 90},
		phase.FinalizingPartiallyFailed:                 {900, 290},
		phase.Completed:                                 {1095, 90},
		phase.PartiallyFailed:                           {1095, 290},
		phase.Failed:                                    {490, 390},
		phase.FailedValidation:                          {300, 390},
	}
	if kind == phase.Restore {
		all[phase.New] = place{300, 190}
		return all
	}
	all[phase.New], all[phase.Queued], all[phase.ReadyToStart] = place{90, 90}, place{108, 190}, place{300, 190}
	all[phase.Deleting] = place{drawingWidth / 2, 500}
	return all
}

// drawing is a phase machine as SVG.
type drawing struct {
	Kind, Title   string
	Width, Height float64
	Nodes         []node
	Edges         []edge
}

type node struct {
	X, Y, W, H float64
	Lines      []string
	Final      bool
}

// Middle is where its text is centred, and Baseline where a line of it stands.
func (n node) Middle() float64 { return n.X + n.W/2 }

func (n node) Baseline(line int) float64 {
	return n.Y + n.H/2 + 4 + 12*(float64(line)-float64(len(n.Lines)-1)/2)
}

type edge struct {
	ID, Path, Class, Label string
	Width                  float64
}

// draw draws the transitions of a kind of object.
func draw(c Coverage) drawing {
	kind := phase.Backup
	if c.Kind == phase.Restore.String() {
		kind = phase.Restore
	}
	where := places(kind)
	d := drawing{Kind: c.Kind, Title: fmt.Sprintf("Phases of a %s on %s", c.Kind, c.Target), Width: drawingWidth + 24, Height: 540}
	if kind == phase.Restore {
		d.Height = 430
	}
	used := map[phase.Phase]bool{}
	for _, t := range c.Transitions {
		from, err := phase.Parse(t.From)
		to, err2 := phase.Parse(t.To)
		if err != nil || err2 != nil {
			continue // Velero has no such phase: the table has it
		}
		a, known := where[from]
		b, known2 := where[to]
		if !known || !known2 {
			continue
		}
		used[from], used[to] = true, true
		d.Edges = append(d.Edges, edge{
			ID: t.Name(), Path: route(from, to, a, b), Class: "edge " + string(t.Status) + deviating(t), Width: 1 + math.Log10(float64(1+t.Runs)),
			Label: described(t),
		})
	}
	for _, p := range kind.Phases() {
		at, ok := where[p]
		if !ok || !used[p] {
			continue
		}
		n := node{at.x - nodeWidth/2, at.y - nodeHeight/2, nodeWidth, nodeHeight, lines(p.String()), p.Final()}
		if p == phase.Deleting {
			n.X, n.W = 10, drawingWidth-20
		}
		if len(n.Lines) > 2 {
			n.Y, n.H = n.Y-4, n.H+8
		}
		d.Nodes = append(d.Nodes, n)
	}
	return d
}

func deviating(t Transition) string {
	if t.Deviation {
		return " deviation"
	}
	return ""
}

// described is a transition in words.
func described(t Transition) string {
	s := fmt.Sprintf("%s: %s", t.Name(), t.Status)
	if t.Deviation {
		s += ", by a deviation"
	}
	if t.Runs > 0 {
		s += fmt.Sprintf(", %d runs of %d scenarios", t.Runs, len(t.Scenarios))
	}
	if t.Reason != "" {
		s += " (" + t.Reason + ")"
	}
	return s
}

// lines breaks a long name.
func lines(name string) []string {
	for _, at := range []string{"ForPluginOperations", "PartiallyFailed"} {
		name = strings.Replace(name, at, "\n"+at, 1)
	}
	return strings.Split(strings.TrimPrefix(name, "\n"), "\n")
}

// route is the path from one phase to another. Ways back bend to the other side than ways on, so that both are seen; Deleting is met right
// below a phase.
func route(from, to phase.Phase, a, b place) string {
	switch {
	case to == phase.Deleting:
		x := a.x - 14
		return fmt.Sprintf("M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f", x, a.y+nodeHeight/2, x-bulge(a), a.y+90, x-bulge(a), b.y-90, x-bulge(a)/2, b.y-nodeHeight/2)
	case from == phase.Deleting:
		x := b.x + 14
		return fmt.Sprintf("M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f", x+bulge(b)/2, a.y-nodeHeight/2, x+bulge(b), a.y-90, x+bulge(b), b.y+90, x, b.y+nodeHeight/2)
	}
	if to == phase.InProgress && a.y > b.y && a.x > b.x+nodeWidth*2 { // under what waits
		x, y := b.x+nodeWidth/3, a.y+140
		return fmt.Sprintf("M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f", a.x, a.y+nodeHeight/2, a.x, y, x+36, y, x, b.y+nodeHeight/2)
	}
	dx, dy := b.x-a.x, b.y-a.y
	length := math.Hypot(dx, dy)
	bend := min(length*0.16, 46)
	cx, cy := (a.x+b.x)/2+dy/length*bend, (a.y+b.y)/2-dx/length*bend
	if from == phase.InProgress && to == phase.Finalizing { // over what waits
		cx, cy = 660, -60
	}
	ax, ay := border(a, cx, cy)
	bx, by := border(b, cx, cy)
	return fmt.Sprintf("M%.0f %.0f Q%.0f %.0f %.0f %.0f", ax, ay, cx, cy, bx, by)
}

// bulge keeps ways to and from Deleting clear of the phases below.
func bulge(p place) float64 {
	if p.y > 350 {
		return 0
	}
	return 92
}

// border is where the way from a phase's centre to a point leaves its box.
func border(p place, x, y float64) (float64, float64) {
	dx, dy := x-p.x, y-p.y
	scale := min(math.Abs(nodeWidth/2/nonzero(dx)), math.Abs((nodeHeight/2+2)/nonzero(dy)))
	return p.x + dx*scale, p.y + dy*scale
}

func nonzero(f float64) float64 {
	if f == 0 {
		return 1e-9
	}
	return f
}
