package plugintest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// Case is a scenario with the plugin, and what must come of it.
type Case struct {
	// Scenario is the text of a scenario file (docs/scenario.md), whose expectations are judged, too. The plugins that the test binary registers
	// are named in it with own: true.
	Scenario string
	// Seeds is how many interleavings of the controllers it is run in, from seed 1 on. Default: 1. On envtest it is run once.
	Seeds int
	// Checks of each run. Default: NoFinding.
	Checks []Check
}

// Result is what came of a run.
type Result struct {
	Scenario *scenario.Scenario
	Trace    trace.Trace
	Verdict  verdict.Verdict
}

// Run runs the case in subtests, one for each seed. One whose run does not pass a check fails, and logs the timeline of the run.
func Run(t *testing.T, c Case) {
	t.Helper()
	s, errs := scenario.Parse("Case.Scenario", []byte(strings.TrimLeft(c.Scenario, "\n")))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	w := open(t)
	if why := w.Info().Unable(s); why != "" {
		t.Fatal(why)
	}
	seeds := max(c.Seeds, 1)
	if w.Info().Scale != 0 { // chance decides
		seeds = 1
	}
	checks := c.Checks
	if len(checks) == 0 {
		checks = []Check{NoFinding()}
	}
	for seed := int64(1); seed <= int64(seeds); seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := run(t.Context(), w, s, seed)
			for _, check := range checks {
				if err := check(r); err != nil {
					t.Error(err)
				}
			}
			if t.Failed() {
				t.Log(r.timeline())
			}
		})
	}
}

// run runs the scenario once.
func run(ctx context.Context, w world.World, s *scenario.Scenario, seed int64) Result {
	info := w.Info()
	header := trace.Header{Schema: trace.Schema, Scenario: s.Metadata.Name, World: info.World, Velero: info.Velero, Build: info.Build, Seed: seed, Scale: 1}
	job := world.Job{ID: 1, Scenario: s, Seed: seed, Bound: verdict.Bound(s)}
	if info.Scale != 0 { // what the plugin does takes as long as it says, and so does the rest
		header.Scale = info.Scale
		job.Scenario = s.AsWritten()
		job.Bound = verdict.RealBound(job.Scenario, info.Scale)
	}
	var events []trace.Event
	end, err := w.Run(ctx, job, func(e trace.Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		end = trace.End{Reason: trace.Environment, At: end.At, Detail: err.Error()}
	}
	r := Result{Scenario: s, Trace: trace.Trace{Header: header, Events: events, End: end}}
	r.Verdict = verdict.Judge(s, r.Trace)
	return r
}

// timeline is the run as `velosim run` prints it.
func (r Result) timeline() string {
	var b strings.Builder
	timeline := trace.NewTimeline(&b, false)
	for _, e := range r.Trace.Events {
		timeline.Event(e) //nolint:errcheck // a strings.Builder takes all
	}
	timeline.End(r.Trace.End) //nolint:errcheck // see above
	return b.String()
}

// WorldVariable is the environment variable that names the world: virtual, the default, or envtest, for the unmodified server of Velero.
const WorldVariable = "VELOSIM_PLUGINTEST_WORLD"

// open starts the world, which ends with the test, with the test binary as a plugin executable.
func open(t *testing.T) world.World {
	t.Helper()
	path, args, err := find(t.Context(), os.Getenv(WorldVariable), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.Open(t.Context(), path, world.Options{Args: append(args, "--plugin", self)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
