package fakeplugins_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestOperation polls an operation at several ages.
func TestOperation(t *testing.T) {
	const minute, hour = time.Minute, time.Hour
	steps := []scenario.Step{
		{At: d(minute), Done: 1, Of: 10, Units: "GB", Description: "uploading"},
		{At: d(2 * hour), Done: 5},
	}
	// Started and Updated are ages here.
	type report struct {
		At          time.Duration
		Done, Of    int64
		Units, Text string
		Completed   bool
		Err         string
		Updated     time.Duration
	}
	uploading := func(at, updated time.Duration, done int64) report {
		return report{At: at, Done: done, Of: 10, Units: "GB", Text: "uploading", Updated: updated}
	}
	for _, tt := range []struct {
		name   string
		script scenario.Operation
		cancel []time.Duration
		want   []report
	}{
		{
			name: "no steps: it never reports anything",
			want: []report{{At: 0}, {At: 1000 * hour}},
		},
		{
			name:   "steps take effect at their age, and carry over",
			script: scenario.Operation{Progress: steps},
			want: []report{
				{At: 0},
				{At: minute - 1},
				uploading(minute, minute, 1),
				uploading(2*hour-1, minute, 1),
				uploading(2*hour, 2*hour, 5),
				uploading(1000*hour, 2*hour, 5),
			},
		},
		{
			name:   "completes with all done",
			script: scenario.Operation{Progress: []scenario.Step{steps[0], {At: d(hour), Completed: true}}},
			cancel: []time.Duration{2 * hour},
			want: []report{
				uploading(hour-1, minute, 1),
				{At: hour, Done: 10, Of: 10, Units: "GB", Text: "uploading", Completed: true, Updated: hour},
				{At: 3 * hour, Done: 10, Of: 10, Units: "GB", Text: "uploading", Completed: true, Updated: hour},
			},
		},
		{
			name:   "fails",
			script: scenario.Operation{Progress: []scenario.Step{{At: d(hour), Of: 10, Done: 3, Failed: "disk full"}}},
			want:   []report{{At: 2 * hour, Done: 3, Of: 10, Completed: true, Err: "disk full", Updated: hour}},
		},
		{
			name:   "cancelled: fails, as of the first cancel",
			script: scenario.Operation{Progress: steps},
			cancel: []time.Duration{hour, 3 * hour},
			want: []report{
				uploading(hour-1, minute, 1),
				{At: hour, Done: 1, Of: 10, Units: "GB", Text: "uploading", Completed: true, Err: "operation cancelled", Updated: hour},
				{At: 4 * hour, Done: 1, Of: 10, Units: "GB", Text: "uploading", Completed: true, Err: "operation cancelled", Updated: hour},
			},
		},
		{
			name:   "cancelled: completes",
			script: scenario.Operation{Progress: steps, AfterCancel: scenario.Completes},
			cancel: []time.Duration{hour},
			want:   []report{{At: 4 * hour, Done: 10, Of: 10, Units: "GB", Text: "uploading", Completed: true, Updated: hour}},
		},
		{
			name:   "cancelled: continues",
			script: scenario.Operation{Progress: steps, AfterCancel: scenario.Continues},
			cancel: []time.Duration{hour},
			want:   []report{uploading(4*hour, 2*hour, 5)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(scenario.Plugin{Operation: &tt.script})
				id := execute(t, r.action(t))
				start := time.Now()
				until := func(age time.Duration) { time.Sleep(age - time.Since(start)) }
				for _, want := range tt.want {
					for len(tt.cancel) > 0 && tt.cancel[0] <= want.At {
						until(tt.cancel[0])
						if err := r.action(t).Cancel(id, backup("")); err != nil {
							t.Fatal(err)
						}
						tt.cancel = tt.cancel[1:]
					}
					until(want.At)
					p, err := r.action(t).Progress(id, backup(""))
					if err != nil {
						t.Fatal(err)
					}
					if p.Started != start.UTC().Round(0) {
						t.Errorf("started %v, want %v, in UTC and without a monotonic reading", p.Started, start)
					}
					got := report{
						At: want.At, Done: p.NCompleted, Of: p.NTotal, Units: p.OperationUnits, Text: p.Description,
						Completed: p.Completed, Err: p.Err, Updated: p.Updated.Sub(p.Started),
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("at %s (-want +got):\n%s", want.At, diff)
					}
				}
			})
		})
	}
}

func TestUnknownAndForgottenOperations(t *testing.T) {
	for _, tt := range []struct {
		name        string
		script      scenario.Operation
		same, other string // what a call in that process comes to
	}{
		{name: "known", same: "ok", other: "ok"},
		{name: "unknown", script: scenario.Operation{Unknown: true}, same: "operation ID backup-1/mover-1 is invalid", other: "operation ID backup-1/mover-1 is invalid"},
		{name: "forgets", script: scenario.Operation{Forgets: true}, same: "ok", other: "operation ID backup-1/mover-1 is invalid"},
		{name: "unknown and forgets", script: scenario.Operation{Unknown: true, Forgets: true}, same: "operation ID backup-1/mover-1 is invalid", other: "operation ID backup-1/mover-1 is invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRun(scenario.Plugin{Operation: &tt.script})
			first := r.action(t)
			id := execute(t, first)
			got := map[string]string{
				"the same process": outcome(func() error { _, err := first.Progress(id, backup("")); return err }),
				"another process":  outcome(func() error { _, err := r.action(t).Progress(id, backup("")); return err }),
				"Cancel, same":     outcome(func() error { return first.Cancel(id, backup("")) }),
				"Cancel, another":  outcome(func() error { return r.action(t).Cancel(id, backup("")) }),
			}
			want := map[string]string{"the same process": tt.same, "another process": tt.other, "Cancel, same": tt.same, "Cancel, another": tt.other}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if next := execute(t, r.action(t)); next != "backup-1/mover-2" {
				t.Errorf("the next operation is %s, want backup-1/mover-2", next)
			}
		})
	}
}

// Two plugins whose names end alike do not share operation IDs, nor know each other's operations.
func TestOperationsOfSeveralPlugins(t *testing.T) {
	operations := fakeplugins.NewOperations(time.Now(), nil)
	quiet := func(string, trace.Call) func(trace.Return) { return func(trace.Return) {} }
	process := func(name string, a scenario.Action) *fakeplugins.Process {
		script := scenario.Plugin{Name: name, Action: a, Operation: new(scenario.Operation)}
		return fakeplugins.NewProcess(t.Context(), script, operations, quiet)
	}
	mine := process("a.io/mover", scenario.BackupItemAction).BackupItemAction()
	other := process("b.io/mover", scenario.BackupItemAction).BackupItemAction()
	a, b := execute(t, mine), execute(t, other)
	if a != "backup-1/mover-1" || b != "backup-1/mover-2" {
		t.Errorf("operations %s and %s, want backup-1/mover-1 and backup-1/mover-2", a, b)
	}
	if _, err := other.Progress(a, backup("")); err == nil {
		t.Error("a plugin knows another's operation")
	}
	restores := process("a.io/mover", scenario.RestoreItemAction)
	if err := restores.BackupItemAction().Cancel(a, backup("")); err == nil {
		t.Error("a RestoreItemAction knows a BackupItemAction's operation")
	}
}

func TestConcurrentUse(t *testing.T) {
	r := newRun(scenario.Plugin{Operation: &scenario.Operation{Progress: []scenario.Step{{Of: 1, Completed: true}}}})
	ids := make([]string, 50)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			a := r.action(t)
			ids[i] = execute(t, a)
			if _, err := a.Progress(ids[i], backup("")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := make(map[string]bool)
	for _, id := range ids {
		seen[id] = true
	}
	for i := range ids {
		if id := fmt.Sprintf("backup-1/mover-%d", i+1); !seen[id] {
			t.Errorf("no operation %s", id)
		}
	}
}
