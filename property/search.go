package property

import (
	"context"
	"iter"

	"github.com/velosim/velosim/sim/world"
)

// sampled is how often a run is repeated, to see whether it is the same: once in so many.
const sampled = 20

// Search plays n scenarios, from the number on, as many at a time as the pool has room for, and yields what came of them as they end.
// Those that ctx interrupts are not yielded.
func Search(ctx context.Context, p *world.Pool, first, n int) iter.Seq[Run] {
	jobs := make([]world.Job, n)
	for i := range jobs {
		jobs[i].ID = first + i
	}
	return func(yield func(Run) bool) {
		for _, r := range world.Each(ctx, p, jobs, searched) {
			if ctx.Err() == nil && !yield(r) {
				return
			}
		}
	}
}

func searched(ctx context.Context, w world.World, job world.Job) Run {
	r := Play(ctx, w, Numbered(job.ID), job.ID)
	if r.Finding == nil && job.ID%sampled == 0 {
		r.Repeat(ctx, w)
	}
	return r
}
