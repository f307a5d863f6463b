package property

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// Run is what a drawn scenario came to on a world.
type Run struct {
	Drawn
	// Number of the scenario, if it was drawn by it, and the seed of the run.
	Number  int
	Trace   trace.Trace
	Verdict verdict.Verdict
	// Finding is what breaks a property; nil: nothing does.
	Finding *verdict.Finding
	// Unpredicted is why the model has not predicted some object of the scenario; empty: it has.
	Unpredicted string
}

// Play runs a scenario on the world. The properties: it ends as every oracle demands, or by known deviations alone; the model has a path
// for each object that is created; and if it is inconclusive, the scenario is why, as one of its points never comes.
func Play(ctx context.Context, w world.World, d Drawn, number int) Run {
	info := w.Info()
	r := Run{Drawn: d, Number: number, Trace: trace.Trace{Header: trace.Header{
		Schema: trace.Schema, Scenario: d.Scenario.Metadata.Name, World: info.World, Velero: info.Velero, Build: info.Build, Seed: int64(number), Scale: 1,
	}}}
	job := world.Job{ID: number, Scenario: d.Scenario, Seed: int64(number), Bound: verdict.Bound(d.Scenario)}
	limited, stop := context.WithTimeout(ctx, patience)
	defer stop()
	r.Trace.End, _ = w.Run(limited, job, func(e trace.Event) error { // an error is in the End, too
		r.Trace.Events = append(r.Trace.Events, e)
		return nil
	})
	if limited.Err() != nil {
		r.Finding = &verdict.Finding{
			Oracle: completeness, Expected: fmt.Sprintf("a run that ends within %v of wall time, at %v at the latest", patience, job.Bound),
			Seen: "it goes on", At: r.Trace.Last(),
		}
		return r
	}
	r.Verdict = verdict.Judge(d.Scenario, r.Trace)
	r.find()
	return r
}

// patience is how long a run may take in wall time; most take a tenth of a second.
const patience = time.Minute

// find looks for what breaks a property.
func (r *Run) find() {
	switch r.Verdict.Result {
	case verdict.Fail:
		unexplained := func(f verdict.Finding) bool { return len(f.Rules) == 0 && f.Oracle != completeness }
		r.Finding = &r.Verdict.Findings[max(0, slices.IndexFunc(r.Verdict.Findings, unexplained))]
	case verdict.Inconclusive:
		if i := slices.IndexFunc(r.Verdict.Findings, func(f verdict.Finding) bool { return !excused(f) }); i >= 0 {
			r.Finding = &r.Verdict.Findings[i]
		}
	default:
		r.predicted()
	}
}

// predicted looks for an object that was created, and has no path at all in the prediction.
func (r *Run) predicted() {
	release, err := phase.ForRelease(r.Trace.Header.Velero)
	if err != nil {
		return // the verdict says so
	}
	for _, p := range model.Predict(release, r.Scenario) {
		created := slices.ContainsFunc(r.Trace.Events, func(e trace.Event) bool { return e.Object == p.Object && e.Created != nil })
		switch {
		case p.Unknown != "":
			r.Unpredicted = p.Unknown
		case created && len(p.Paths) == 0:
			r.Finding = &verdict.Finding{
				Oracle: "prediction", Reading: release.Name, Object: p.Object,
				Expected: "that it is never created, or not every fault strikes", Seen: "it is created, and all faults strike", At: r.Trace.Last(),
			}
			return
		}
	}
}

const completeness = "completeness"

// excused reports whether a run may lack this: a point of the scenario never came.
func excused(f verdict.Finding) bool {
	return f.Oracle == completeness && (strings.HasPrefix(f.Expected, "fault ") && strings.HasSuffix(f.Expected, " strikes") ||
		f.Expected == "its creation" && strings.HasPrefix(f.Seen, "its point of creation was never passed"))
}

// Missed says which points of the scenario never came; none: they have all.
func (r Run) Missed() (points []string) {
	for _, f := range r.Scenario.Faults {
		struck := func(e trace.Event) bool { return e.Fault != nil && e.Fault.ID == f.ID && e.Fault.Missed == "" }
		if !slices.ContainsFunc(r.Trace.Events, struck) {
			points = append(points, "fault at "+named(f.At))
		}
	}
	for _, f := range r.Verdict.Findings {
		if f.Expected == "its creation" && excused(f) {
			points = append(points, "creation of a "+kindOf(f.Object))
		}
	}
	return points
}

func named(p scenario.Point) string {
	switch {
	case p.Call != nil:
		return "a call of " + p.Call.Method
	case p.Store != nil:
		return alike("a " + p.Store.Verb + " of " + path.Base(p.Store.Key))
	case p.Write != nil:
		return "the patch to " + p.Write.Phase + " of a " + kindOf(p.Write.Object)
	}
	return p.Phase + " of a " + kindOf(p.Object)
}

// Repeat runs the scenario once more, and reports whether the trace is the same. If not, that is what is found. What has not ended by
// itself cannot be compared.
func (r *Run) Repeat(ctx context.Context, w world.World) bool {
	if r.Trace.End.Reason == trace.Environment {
		return true
	}
	again := Play(ctx, w, r.Drawn, r.Number)
	if ctx.Err() != nil {
		return true
	}
	a, b := lines(r.Trace), lines(again.Trace)
	if slices.Equal(a, b) {
		return true
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	at := func(lines []string) string {
		if n < len(lines) {
			return lines[n]
		}
		return "nothing"
	}
	r.Finding = &verdict.Finding{
		Oracle: "determinism", Expected: "the same trace for the same seed", Seen: fmt.Sprintf("line %d: %s\nand then: %s", n+1, at(a), at(b)), At: r.Trace.Last(),
	}
	return false
}

// lines are what must be the same for the same seed.
func lines(t trace.Trace) []string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for _, e := range t.Events {
		if err := encoder.Encode(e); err != nil {
			panic(err) // events are plain data
		}
	}
	return strings.Split(b.String()+fmt.Sprint(t.End), "\n")
}
