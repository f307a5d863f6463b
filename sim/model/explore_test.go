package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
)

func kinds() []phase.Kind { return []phase.Kind{phase.Backup, phase.Restore} }

func release(t testing.TB) phase.Rules {
	t.Helper()
	rules, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func explore(t testing.TB, c Config) Report {
	t.Helper()
	r, err := Explore(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c Counterexample) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", c.Property, c.Statement)
	for _, s := range c.Path {
		fmt.Fprintf(&b, "\t%s\n", s)
	}
	return b.String()
}

// TestDemanded is the claim: every sequence of transitions ends in a final phase, and nothing is wrong with it.
func TestDemanded(t *testing.T) {
	for _, kind := range kinds() {
		for _, symmetry := range []bool{true, false} {
			r := explore(t, Config{Machine: Machine{Spec: phase.Demanded()}, Kind: kind, Items: 3, Faults: Budget{2, 1, 1}, NoSymmetry: !symmetry})
			t.Logf("%s, symmetry %t: %d generated, %d distinct, depth %d", kind, symmetry, r.Generated, r.Distinct, r.Depth)
			for _, c := range r.Counterexamples {
				t.Errorf("%s: %s", kind, c)
			}
			for edge := range phase.Demanded().Legal(kind) { // or else nothing was shown of it
				if !r.Edges[edge] && !edge.From.Final() {
					t.Errorf("%s: %s was never made", kind, edge)
				}
			}
		}
	}
}

func properties(r Report) []string {
	var names []string
	for _, c := range r.Counterexamples {
		names = append(names, c.Property)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestRelease(t *testing.T) {
	common := []string{
		"Cancel that hangs is given up", "Execute that hangs is given up", "InProgress is not forgotten", "Progress that hangs is given up",
		"completed-means-every-operation-completed", "errors-cover-failed-operations",
		"failed-operation-means-not-completed", "finalized-counts-add-up", "finalizing-without-errors", "nothing-finalizes-while-operations-run", "operations-stay-known",
	}
	for _, kind := range kinds() {
		want := common
		if kind == phase.Backup {
			want = append(slices.Clone(common), "Finalizing is left", "FinalizingPartiallyFailed is left", "Queued is not forgotten", "ReadyToStart is not forgotten", "ended-backup-is-not-tracked",
				"phase-is-uploaded", "stored-copy-agrees")
		} else {
			want = append(slices.Clone(common), "outcome-is-stored") // its upload may fail
		}
		slices.Sort(want)
		r := explore(t, Config{Machine: Machine{Spec: release(t)}, Kind: kind, Items: 2, Faults: Budget{1, 1, 1}, NoSymmetry: true})
		if diff := cmp.Diff(want, properties(r)); diff != "" {
			t.Errorf("%s: counterexamples (-want +got):\n%s", kind, diff)
		}
	}
}

// ends are what is seen of the objects at their end, and what is violated.
func ends(t *testing.T, c Config) map[string]bool {
	t.Helper()
	x := newExplorer(c)
	if err := x.search(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.liveness(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range x.states {
		if s.Object.Ended() {
			seen[fmt.Sprintf("%+v", s.Object.View())] = true
		}
	}
	for _, p := range properties(x.report) {
		seen[p] = true
	}
	return seen
}

// TestReductionChangesNothing: deaths of the server where nobody can tell, and the order of operations, can be left out.
func TestReductionChangesNothing(t *testing.T) {
	for _, rules := range []phase.Rules{phase.Demanded(), release(t)} {
		for _, kind := range kinds() {
			for _, c := range []Config{{Items: 2, Faults: Budget{2, 1, 1}}, {Items: 2, Faults: Budget{Crashes: 1}, Actions: true}} {
				c.Machine, c.Kind, c.NoSymmetry = Machine{Spec: rules}, kind, true
				reduced := ends(t, c)
				c.Unreduced = true
				if diff := cmp.Diff(slices.Sorted(maps.Keys(ends(t, c))), slices.Sorted(maps.Keys(reduced))); diff != "" {
					t.Errorf("%s %s, actions %t (-unreduced +reduced):\n%s", rules.Name, kind, c.Actions, diff)
				}
				c.Unreduced, c.NoSymmetry = false, false
				if diff := cmp.Diff(slices.Sorted(maps.Keys(reduced)), slices.Sorted(maps.Keys(ends(t, c)))); diff != "" {
					t.Errorf("%s %s, actions %t (-without symmetry +with it):\n%s", rules.Name, kind, c.Actions, diff)
				}
			}
		}
	}
}

func TestExploreStops(t *testing.T) {
	c := Config{Machine: Machine{Spec: phase.Demanded()}, Items: 3, Faults: Budget{2, 1, 1}, MaxBytes: memory() + 8<<20}
	r, err := Explore(t.Context(), c)
	if !errors.Is(err, ErrMemory) || r.Complete || r.Distinct < 1000 || r.Bytes < c.MaxBytes || r.Bytes > 4*c.MaxBytes {
		t.Errorf("Explore = %+v, %v", r.Progress, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.MaxBytes, c.Progress = 0, func(p Progress) {
		if p.Distinct > 2000 {
			cancel()
		}
	}
	r, err = Explore(ctx, c)
	if !errors.Is(err, context.Canceled) || r.Complete || r.Distinct < 2000 {
		t.Errorf("Explore = %+v, %v", r.Progress, err)
	}
}

func BenchmarkExplore(b *testing.B) {
	for b.Loop() {
		x := newExplorer(Config{Machine: Machine{Spec: phase.Demanded()}, Kind: phase.Backup, Items: 3, Faults: Budget{2, 1, 1}, NoSymmetry: true})
		if err := x.search(b.Context()); err != nil {
			b.Fatal(err)
		}
		p := x.progress()
		b.ReportMetric(float64(p.Generated)/p.Elapsed.Seconds(), "steps/s")
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/float64(p.Distinct), "bytes/state")
		runtime.KeepAlive(x)
	}
}

// TestCauses: each counterexample of the release is due to one rule, and each rule makes one but for those that end runs
// otherwise than demanded, but well.
func TestCauses(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range kinds() {
		c := Config{Machine: Machine{Spec: release(t)}, Kind: kind, Items: 2, Faults: Budget{1, 1, 1}, NoSymmetry: true}
		for _, x := range explore(t, c).Counterexamples {
			causes, err := Causes(t.Context(), c, release(t), x)
			if err != nil {
				t.Fatal(err)
			}
			if len(causes) != 1 {
				t.Errorf("%s: %d causes of %s", kind, len(causes), x)
			}
			for _, rule := range causes {
				seen[rule.Name] = true
			}
		}
	}
	// A deletion that is overtaken, a stale read, and what becomes of a backup that is Deleting, Explore does not know.
	none := []string{"progress-error-is-final", "hook-status-sent-once", "unfinished-backup-restored", "deletion-overtaken", phase.StaleReadActedUpon, phase.DeletionForgottenByRestart}
	for _, rule := range phase.All() {
		if rule.Machine() && !seen[rule.Name] && !slices.Contains(none, rule.Name) {
			t.Errorf("no counterexample is due to %s", rule.Name)
		}
	}
}

// TestNoCauseOfWhatIsNotThere: a path that violates nothing in the reading is due to none of its rules.
func TestNoCauseOfWhatIsNotThere(t *testing.T) {
	c := Config{Machine: Machine{Spec: release(t)}, Kind: phase.Backup, Items: 1, NoSymmetry: true}
	for _, property := range []string{"completed-without-errors", "Queued is left" + inTheEnd} {
		x := Counterexample{Property: property, Path: []Step{{Input: input(phase.Enqueued)}}}
		if causes, err := Causes(t.Context(), c, release(t), x); len(causes) > 0 || err != nil {
			t.Errorf("%s: causes %v, %v", property, causes, err)
		}
	}
}
