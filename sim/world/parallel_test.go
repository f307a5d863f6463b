package world

import (
	"context"
	"os"
	"path/filepath"
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

// TestOneOfSeveralJobsEndsTheWorld: the job that did it has the finding, without the stacks of other goroutines, which are kept; the
// other one is told whose it is, as far as that is known.
func TestOneOfSeveralJobsEndsTheWorld(t *testing.T) {
	const panicked, unknown = "panic: runtime error: invalid memory address", "it is not known whether this job or another one that ran in the same world crashed it\npanic: "
	for _, test := range []struct {
		mode                string
		its, others         string // reasons
		itsSays, othersSays string
		kept                []bool
	}{
		{"panics", trace.Panicked, trace.Environment, panicked, "job 1 (bad, seed 1) crashed the world, which ran this job, too", []bool{true, false}},
		{"panics-unknown", trace.Panicked, trace.Panicked, unknown, unknown, []bool{true, true}},
		{"hangs", trace.Stalled, trace.Environment, "stood still at ", "job 1 (bad, seed 1) stood still and ended the world, which ran this job, too", []bool{false, false}},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			p, err := OpenPool(t.Context(), executable(t, "meets-and-"+test.mode), 2, Options{Stall: 4 * progressEvery})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			jobs := []Job{job(1, "bad"), job(2, "bad")}
			for i := range jobs {
				jobs[i].Keep = t.TempDir()
			}
			ends := make([]trace.End, 2)
			for i, end := range Each(t.Context(), p, jobs, func(ctx context.Context, w World, j Job) trace.End {
				end, err := w.Run(ctx, j, discard)
				if err != nil {
					t.Error(err)
				}
				return end
			}) {
				ends[i] = end
			}
			for i, want := range []struct{ reason, detail string }{{test.its, test.itsSays}, {test.others, test.othersSays}} {
				if ends[i].Reason != want.reason || !strings.Contains(ends[i].Detail, want.detail) {
					t.Errorf("job %d ended %s: %s; want %s: %s", i+1, ends[i].Reason, ends[i].Detail, want.reason, want.detail)
				}
				if n := strings.Count(ends[i].Detail, "\ngoroutine "); ends[i].Reason != trace.Stalled && n > 1 {
					t.Errorf("job %d is told the stacks of %d goroutines:\n%s", i+1, n, ends[i].Detail)
				}
				path := filepath.Join(jobs[i].Keep, "stacks.txt")
				stacks, err := os.ReadFile(path)
				if kept := err == nil; kept != test.kept[i] || kept != strings.Contains(ends[i].Detail, path) {
					t.Errorf("job %d: kept stacks: %v: %s", i+1, kept, ends[i].Detail)
				}
				if n := strings.Count(string(stacks), "\ngoroutine "); err == nil && n < 2 {
					t.Errorf("the stacks of %d goroutines were kept", n)
				}
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
