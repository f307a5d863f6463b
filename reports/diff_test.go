package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	old := func(r Run, paths ...string) Result {
		r.World, r.Version, r.Seed = "envtest", "1.14.0", 1
		return made(t, r, paths...)
	}
	d := NewDiff(New([]Result{
		old(Run{Scenario: "same"}, "backup/b: New InProgress Finalizing Completed"),
		old(Run{Scenario: "deviates"}, "backup/b: New InProgress Finalizing Completed"),
		old(Run{Scenario: "other path"}, "backup/b: New InProgress Failed"),
		old(Run{Scenario: "gone"}),
	}, Options{}), New([]Result{
		made(t, Run{Scenario: "same"}, path), // by the queue, which 1.14 does not have
		made(t, known("deviates", 1, "progress-error-is-final"), path),
		made(t, Run{Scenario: "other path"}, path),
		made(t, Run{Scenario: "other path", Seed: 2}, path),
		made(t, Run{Scenario: "new"}, path),
	}, Options{}))
	d.A, d.B = nil, nil
	want := Diff{
		Runs: 3, OnlyA: []string{"gone"}, OnlyB: []string{"new"},
		Differences: []Difference{
			{Scenario: "deviates", Seed: 1, What: "outcome", A: "pass", B: "known deviation: progress-error-is-final"},
			{Scenario: "other path", Seed: 1, What: "path", Object: "backup/b", A: "InProgress → Failed", B: "InProgress → Finalizing → Completed"},
		},
		Gained: []string{"backup New → Queued", "backup Queued → ReadyToStart", "backup ReadyToStart → InProgress"},
		Lost:   []string{"backup InProgress → Failed", "backup New → InProgress"},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.Same() {
		t.Error("they are the same")
	}
}
