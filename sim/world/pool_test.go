package world

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

func TestPool(t *testing.T) {
	open := func(t *testing.T, mode string) *Pool {
		t.Helper()
		p, err := OpenPool(t.Context(), executable(t, mode), 2, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	run := func(ctx context.Context, w World, j Job) string {
		end, err := w.Run(ctx, j, discard)
		if err != nil {
			return err.Error()
		}
		return end.Reason
	}

	t.Run("yields every job once", func(t *testing.T) {
		got := make([]string, 5)
		jobs := []Job{job(1, "good"), job(2, "bad"), job(3, "good"), job(4, "bad"), job(5, "good")}
		for i, reason := range Each(t.Context(), open(t, "panics"), jobs, run) {
			got[i] += reason
		}
		want := []string{trace.Settled, trace.Panicked, trace.Settled, trace.Panicked, trace.Settled}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("runs as many at a time as it has processes", func(t *testing.T) {
		both := make(chan bool)
		for range Each(t.Context(), open(t, "good"), []Job{job(1, "good"), job(2, "good")}, func(_ context.Context, _ World, j Job) int {
			if j.ID == 1 {
				both <- true
			} else {
				<-both
			}
			return 0
		}) {
		}
	})

	t.Run("the end of the context ends it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := map[int]string{}
		jobs := []Job{job(1, "good"), job(2, "bad"), job(3, "bad"), job(4, "good"), job(5, "good")}
		for i, reason := range Each(ctx, open(t, "waits"), jobs, func(ctx context.Context, w World, j Job) string {
			end, err := w.Run(ctx, j, func(e trace.Event) error {
				if j.ID == 3 && e.Seq == 2 {
					cancel()
				}
				return nil
			})
			if err != nil {
				return err.Error()
			}
			return end.Reason
		}) {
			got[i] = reason
		}
		if diff := cmp.Diff(map[int]string{0: trace.Settled, 1: trace.Environment, 2: trace.Environment}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("leaving the loop ends it", func(t *testing.T) {
		for range Each(t.Context(), open(t, "waits"), []Job{job(1, "good"), job(2, "bad"), job(3, "good")}, run) {
			break
		}
	})
}
