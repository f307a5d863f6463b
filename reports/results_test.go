package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// made is a result whose objects took these paths: "backup/b: New Queued". One that is only named was not created, as is what is synced.
func made(t testing.TB, run Run, paths ...string) Result {
	t.Helper()
	if run.Verdict == "" {
		run.Verdict = verdict.Pass
	}
	if run.World == "" {
		run.World, run.Version, run.Seed = "virtual", "1.18.3", max(run.Seed, 1)
	}
	tr := trace.Trace{Header: trace.Header{Schema: trace.Schema, Scenario: run.Scenario, World: run.World, Velero: run.Version, Seed: run.Seed, Scale: 1}}
	event := func(object string, body trace.Body) {
		n := len(tr.Events) + 1
		tr.Events = append(tr.Events, trace.Event{Seq: n, At: trace.Time(time.Duration(n) * time.Second), Incarnation: 1, Object: object, Body: body})
	}
	for _, path := range paths {
		object, phases, _ := strings.Cut(path, ": ")
		from := ""
		for _, to := range strings.Fields(phases) {
			if to == "New" {
				event(object, trace.Body{Created: &trace.Created{}})
				continue
			}
			event(object, trace.Body{Phase: &trace.Phase{From: from, To: to}})
			from = to
		}
	}
	return NewResult(run, tr)
}

// known are the fields of a known deviation.
func known(scenario string, seed int64, rules ...string) Run {
	return Run{Scenario: scenario, Seed: seed, Verdict: verdict.KnownDeviation, Deviations: rules}
}
