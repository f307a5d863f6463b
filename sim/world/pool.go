package world

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// Pool is one or several processes of one world, to run some jobs at a time.
type Pool struct {
	processes []*Process
	jobs      int // at a time, in each process
}

// OpenPool opens a world as Open does, and makes ready for n jobs at a time: in one process, as far as that takes as many, and
// else in more, of which each starts with its first job. Close it.
func OpenPool(ctx context.Context, path string, n int, o Options) (*Pool, error) {
	first, err := Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	p := &Pool{processes: []*Process{first}, jobs: min(max(first.info.Parallel, 1), n)}
	for len(p.processes)*p.jobs < n {
		next := newProcess(ctx, path, o)
		next.know(first.info)
		p.processes = append(p.processes, next)
	}
	return p, nil
}

// Info says what the world is.
func (p *Pool) Info() Info { return p.processes[0].Info() }

// Close ends all processes.
func (p *Pool) Close() {
	var wg sync.WaitGroup
	for _, w := range p.processes {
		wg.Go(w.Close)
	}
	wg.Wait()
}

// Each calls do for every job, with a world to run it, and yields what do returned and the job's index in jobs, as they
// finish. The calls of do are concurrent, the yields are not. When ctx ends, or the loop is left, the running jobs end and
// no further one starts: those are not yielded.
func Each[T any](ctx context.Context, p *Pool, jobs []Job, do func(context.Context, World, Job) T) iter.Seq2[int, T] {
	type result struct {
		i int
		v T
	}
	return func(yield func(int, T) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		results := make(chan result)
		var next atomic.Int64
		var wg sync.WaitGroup
		for i := range len(p.processes) * p.jobs {
			w := p.processes[i/p.jobs]
			wg.Go(func() {
				for ctx.Err() == nil {
					i := int(next.Add(1)) - 1
					if i >= len(jobs) {
						return
					}
					results <- result{i, do(ctx, w, jobs[i])}
				}
			})
		}
		go func() {
			wg.Wait()
			close(results)
		}()
		for left := false; ; {
			r, ok := <-results
			if !ok {
				return
			}
			if !left && !yield(r.i, r.v) {
				left = true
				cancel()
			}
		}
	}
}
