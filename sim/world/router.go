package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// router hands the frames of a world to the jobs that they are about.
type router struct {
	mu   sync.Mutex
	jobs map[int]*listener
	over error // why no more frames come
}

// listener takes the frames of one job.
type listener struct {
	frames chan received
	gone   chan struct{} // closed when it takes no more
}

func newRouter() *router { return &router{jobs: map[int]*listener{}} }

// listen begins to take the frames of a job; leave ends it.
func (r *router) listen(job int) *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &listener{frames: make(chan received, 1), gone: make(chan struct{})}
	if r.over != nil {
		l.frames <- received{err: r.over}
	}
	r.jobs[job] = l
	return l
}

func (r *router) leave(job int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.jobs[job].gone)
	delete(r.jobs, job)
}

// route reads frames until an error, which all jobs are told, or the end of ctx. A job that does not take its frames holds up the
// others.
func (r *router) route(ctx context.Context, from *frameReader) {
	for {
		f, err := from.next()
		r.mu.Lock()
		l := r.jobs[f.ID]
		if err == nil && l == nil {
			err = fmt.Errorf("it sent a %s frame for job %d, which does not run", f.kind(), f.ID)
		}
		if err != nil {
			r.over = err
			listeners := slices.Collect(maps.Values(r.jobs))
			r.mu.Unlock()
			for _, l := range listeners {
				l.take(ctx, received{err: err})
			}
			return
		}
		r.mu.Unlock()
		l.take(ctx, received{frame: f})
	}
}

// take waits until the job takes the frame, or is gone.
func (l *listener) take(ctx context.Context, r received) {
	select {
	case l.frames <- r:
	case <-l.gone:
	case <-ctx.Done():
	}
}
