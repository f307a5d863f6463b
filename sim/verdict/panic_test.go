package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestPanics(t *testing.T) {
	const lists = "pkg/backup.(*itemCollector).listResourceByLabelsPerNamespace"
	for _, j := range []judged{
		{
			name: "of a controller",
			trace: healthy().add("backup/backup-1", trace.Body{Reconcile: &trace.Reconcile{
				Controller: "backup-finalizer", Error: "nil map", Panic: true,
			}}).rests(1, 0).settles(),
			found: []brief{{"panic", "no panic in controller backup-finalizer", "nil map"}},
		},
		{
			name: "of the server",
			trace: func() trace.Trace {
				cut := waiting().ends(trace.Panicked)
				cut.End.Detail = "panic: assignment to entry in nil map"
				return cut
			}(),
			found: []brief{{"panic", "no panic", "panic: assignment to entry in nil map"}},
		},
		{
			name: "of a run that could list the namespaces",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").panics("nil map, in " + lists).
				rest(trace.Rest{Copy: "api"}).ends(trace.Bound),
			found: []brief{
				{"panic", "no panic in controller backup", "nil map, in " + lists},
				{"liveness", anEnd, "phase InProgress, waiting for the server to go through the items (last reconcile, at 0s: backup: nil map, in " + lists + "), since 0s"},
			},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}

func (s *script) panics(what string) *script {
	return s.add(s.object, trace.Body{Reconcile: &trace.Reconcile{Controller: "backup", Error: what, Panic: true}})
}

// TestUnlistedNamespaces: the release leaves a backup InProgress whose run has panicked as the namespaces were not listed, and those behind
// it Queued, until the server starts again.
func TestUnlistedNamespaces(t *testing.T) {
	panicked := func() *script {
		return begin().phases("Queued", "ReadyToStart", "InProgress").fault("fault-1").panics("nil pointer, in pkg/backup.(*itemCollector).collectNamespaces")
	}
	behind := func(s *script) trace.Trace {
		return s.create("backup/backup-2").phases("Queued").wait(8 * time.Hour).on("backup/backup-1").rest(trace.Rest{Copy: "api"}).
			on("backup/backup-2").rest(trace.Rest{Copy: "api"}).ends(trace.Bound)
	}
	outage := faulty(scenario.Do{APIOutage: scenario.Duration{Duration: time.Minute}})
	for name, test := range map[string]struct {
		trace  trace.Trace
		result Result
	}{
		"it stays, and the one behind it": {behind(panicked()), KnownDeviation},
		"so does the next server":         {behind(panicked().restart(time.Second)), Fail},
	} {
		v := unpredicted(moving(func(s *scenario.Scenario) { two(s); outage(s) }), test.trace)
		if v.Result != test.result || test.result == KnownDeviation && !slices.Equal(v.Deviations, []string{phase.UnlistedNamespacesPanic}) {
			t.Errorf("%s: %s %v %v, want %s", name, v.Result, v.Deviations, briefs(v), test.result)
		}
	}
}
