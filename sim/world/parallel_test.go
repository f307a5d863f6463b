package world

import (
	"context"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/trace"
)

// TestSeveralJobsAtATime runs two jobs that wait for each other in one process of a world that takes two.
func TestSeveralJobsAtATime(t *testing.T) {
	for _, test := range []struct{ mode, reason, detail string }{
		{"meets", trace.Settled, "pid "},
		{"meets-and-dies", trace.Environment, "exit status 7"}, // and both are told
	} {
		t.Run(test.mode, func(t *testing.T) {
			p, err := OpenPool(t.Context(), executable(t, test.mode), 2, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if len(p.processes) != 1 {
				t.Errorf("%d processes, want one for both jobs", len(p.processes))
			}
			details := map[string]bool{}
			for _, end := range Each(t.Context(), p, []Job{job(1, "bad"), job(2, "bad")}, func(ctx context.Context, w World, j Job) trace.End {
				events := 0
				end, err := w.Run(ctx, j, func(trace.Event) error { events++; return nil })
				if err != nil || events < 2 {
					t.Errorf("job %d: %d events, %v", j.ID, events, err)
				}
				return end
			}) {
				details[end.Detail] = true
				if end.Reason != test.reason || !strings.Contains(end.Detail, test.detail) {
					t.Errorf("ended %s: %s; want %s: %s", end.Reason, end.Detail, test.reason, test.detail)
				}
			}
			if len(details) != 1 {
				t.Errorf("two processes: %v", details)
			}
		})
	}
}

// TestPoolOfSeveralProcesses: where a process takes fewer jobs than are wanted, there are more of them.
func TestPoolOfSeveralProcesses(t *testing.T) {
	p, err := OpenPool(t.Context(), executable(t, "meets"), 5, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if len(p.processes) != 3 || p.jobs != 2 {
		t.Errorf("%d processes for %d jobs each, want 3 for 2", len(p.processes), p.jobs)
	}
}
