package property

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// fake is a world that does what a test says.
type fake func(world.Job) ([]trace.Event, trace.End)

func (fake) Info() world.Info                 { return world.Info{World: "fake", Velero: "1.18.3"} }
func (fake) Position(int) (at world.Position) { return at }

func (f fake) Run(_ context.Context, j world.Job, sink func(trace.Event) error) (trace.End, error) {
	events, end := f(j)
	for _, e := range events {
		if err := sink(e); err != nil {
			return trace.End{}, err
		}
	}
	return end, nil
}

// panics is a world in which Velero panics if a plugin has an operation.
func panics(j world.Job) ([]trace.Event, trace.End) {
	if slices.ContainsFunc(j.Scenario.Plugins, func(p scenario.Plugin) bool { return p.Operation != nil }) {
		return nil, trace.End{Reason: trace.Panicked, Detail: "panic: nil map"}
	}
	return nil, trace.End{Reason: trace.Settled}
}

// panicked is a run of it that has found something, and is not small.
func panicked(t *testing.T) Run {
	t.Helper()
	for n := 1; n < 1000; n++ {
		r := Play(t.Context(), fake(panics), Numbered(n), n)
		if r.Finding != nil && r.Finding.Oracle == "panic" && len(r.Scenario.Faults) > 1 && len(r.Scenario.Items) > 1 && len(r.Scenario.Plugins) > 1 {
			return r
		}
	}
	t.Fatal("nothing that is drawn shows it")
	return Run{}
}

func TestAFindingShrinks(t *testing.T) {
	r := Shrink(t.Context(), fake(panics), panicked(t), 30*time.Second)
	if r.Finding == nil || r.Finding.Oracle != "panic" {
		t.Fatalf("the smallest scenario shows %+v", r.Finding)
	}
	s := r.Scenario
	if len(s.Plugins) != 1 || s.Plugins[0].Operation == nil || len(s.Items) != 1 || len(s.Faults) > 0 || len(s.Objects()) != 1 {
		t.Errorf("it is not small:\n%#v", r.Drawn)
	}
}

func TestAnInterruptedFindingIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	first := panicked(t)
	if r := Shrink(ctx, fake(panics), first, time.Minute); r.Number != first.Number || r.Finding == nil {
		t.Errorf("it became %+v", r.Finding)
	}
}

func TestARunWithoutWhatTheScenarioHasIsAFinding(t *testing.T) {
	r := Play(t.Context(), fake(func(world.Job) ([]trace.Event, trace.End) { return nil, trace.End{Reason: trace.Settled} }), Numbered(1), 1)
	if r.Finding == nil || r.Finding.Oracle != completeness {
		t.Errorf("finding = %+v", r.Finding)
	}
}

func TestAPointThatNeverComesIsNone(t *testing.T) {
	for _, c := range []struct {
		finding verdict.Finding
		excused bool
	}{
		{verdict.Finding{Oracle: completeness, Expected: "fault fault-1 strikes", Seen: "it never did"}, true},
		{verdict.Finding{Oracle: completeness, Expected: "its creation", Seen: "its point of creation was never passed: backup/a is Failed, 1 time"}, true},
		{verdict.Finding{Oracle: completeness, Expected: "its creation", Seen: "the trace has none"}, false},
		{verdict.Finding{Oracle: completeness, Expected: "a run that ends by itself or at its bound", Seen: "environment"}, false},
		{verdict.Finding{Oracle: "liveness", Expected: "fault fault-1 strikes"}, false},
	} {
		if excused(c.finding) != c.excused {
			t.Errorf("%+v: excused is %t", c.finding, !c.excused)
		}
	}
}

func TestTwoTracesOfASeedAreAFinding(t *testing.T) {
	runs := 0
	w := fake(func(world.Job) ([]trace.Event, trace.End) {
		runs++
		return []trace.Event{{Seq: 1, At: trace.Time(time.Duration(min(runs, 2)) * time.Second), Body: trace.Body{Process: &trace.Process{Name: "server", State: "started"}}}},
			trace.End{Reason: trace.Settled}
	})
	r := Play(t.Context(), w, Numbered(1), 1)
	if r.Repeat(t.Context(), w) || r.Finding == nil || r.Finding.Oracle != "determinism" {
		t.Errorf("finding = %+v", r.Finding)
	}
	r = Play(t.Context(), w, Numbered(1), 1)
	if !r.Repeat(t.Context(), w) {
		t.Errorf("the same trace: %+v", r.Finding)
	}
}

func TestAFindingIsAScenarioFile(t *testing.T) {
	r := panicked(t)
	path, replay, err := Write(filepath.Join(t.TempDir(), "new"), r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, errs := scenario.Parse(path, b)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs, b)
	}
	seed := fmt.Sprintf("--seed %d", r.Number)
	if !strings.Contains(s.Description, seed) || !strings.Contains(s.Description, "nil map") || replay != "velosim run "+path+" "+seed {
		t.Errorf("%s:\n%s", replay, s.Description)
	}
	s.Metadata, s.Description, s.Expect = r.Scenario.Metadata, "", r.Scenario.Expect
	if again := Play(t.Context(), fake(panics), Drawn{Scenario: s}, r.Number); again.Finding == nil || Kind(*again.Finding) != Kind(*r.Finding) {
		t.Errorf("replayed, it shows %+v", again.Finding)
	}
}

func TestKindsHaveNoNamesOrNumbers(t *testing.T) {
	a := Kind(verdict.Finding{Oracle: "contract", Object: "backup/backup-1", Expected: "Cancel of operation backup-1/mover-1-1 of example.io/mover-1 for secrets/app/token, which timed out at 1h0m5.645s"})
	b := Kind(verdict.Finding{Oracle: "contract", Object: "backup/backup-3", Expected: "Cancel of operation backup-3/mover-2-12 of example.io/mover-2 for configmaps/web/settings, which timed out at 10m5s"})
	c := Kind(verdict.Finding{Oracle: "contract", Object: "restore/restore-1", Expected: "no Progress"})
	if a != b || a == c {
		t.Errorf("%s\n%s\n%s", a, b, c)
	}
}
