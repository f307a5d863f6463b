package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// progressEvery is how often a world says how far its job is. In wall time.
const progressEvery = 500 * time.Millisecond

// Serve serves w on in and out, as many jobs at a time as it takes, until in ends (nil), ctx ends, or the other side breaks the protocol.
//
// It does not wait for jobs that still run, as one may be stuck: it cancels their contexts and returns, and the
// executable's main then ends the process. A panic in Run is left to end the process too: its text on stderr is what the
// CLI reports.
func Serve(ctx context.Context, w World, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	info := w.Info()
	most := max(info.Parallel, 1)
	s := &server{world: w, out: &frameWriter{w: out}, most: most, running: map[int]context.CancelFunc{}, done: make(chan received, most)}
	info.Build = identify(info.Build)
	if err := s.out.write(frame{Hello: &hello{Schema: Schema, Info: info}}); err != nil {
		return err
	}
	frames := make(chan received)
	go pump(ctx, newFrameReader(in), frames)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r := <-frames:
			if errors.Is(r.err, io.EOF) {
				return nil
			}
			if r.err != nil {
				return fmt.Errorf("failed to read from the CLI: %w", r.err)
			}
			if err := s.handle(ctx, r.frame); err != nil {
				return err
			}
		case last := <-s.done:
			if last.err != nil {
				return last.err
			}
			s.running[last.frame.ID]() // releases the context; the job has ended
			delete(s.running, last.frame.ID)
			// Only now: the next job may follow at once.
			if err := s.out.write(last.frame); err != nil {
				return err
			}
		}
	}
}

type server struct {
	world World
	out   *frameWriter
	most  int // jobs at a time
	// The running jobs, by ID, with what cancels them, and where their last frames come from.
	running map[int]context.CancelFunc
	done    chan received
}

func (s *server) handle(ctx context.Context, f frame) error {
	cancel := s.running[f.ID]
	switch {
	case f.Job != nil && len(s.running) == s.most:
		return fmt.Errorf("job %d was sent while as many run as this world takes: %d", f.Job.ID, s.most)
	case f.Job != nil && f.Job.Scenario == nil:
		return fmt.Errorf("job %d has no scenario", f.Job.ID)
	case f.Job != nil && s.running[f.Job.ID] != nil:
		return fmt.Errorf("job %d was sent while it runs", f.Job.ID)
	case f.Job != nil:
		var jobCtx context.Context
		jobCtx, s.running[f.Job.ID] = context.WithCancel(ctx)
		go pprof.Do(jobCtx, pprof.Labels(runLabel, f.Job.String()), func(ctx context.Context) {
			last, err := s.run(ctx, *f.Job)
			s.done <- received{last, err}
		})
	case f.Cancel && cancel != nil:
		cancel()
	case f.Cancel: // the job ended while its cancel was on the way
	default:
		return fmt.Errorf("the CLI sent a %s frame, which only a world sends", f.kind())
	}
	return nil
}

// run runs one job and returns its last frame. The error is about out alone.
func (s *server) run(ctx context.Context, job Job) (frame, error) {
	if err := s.out.write(frame{ID: job.ID, Begin: true}); err != nil {
		return frame{}, err
	}
	stop := s.reportProgress(job.ID)
	var broken error
	var last trace.Time
	end, err := s.world.Run(ctx, job, func(e trace.Event) error {
		last = e.At
		broken = s.out.write(frame{ID: job.ID, Event: &e})
		return broken
	})
	stop()
	switch {
	case broken != nil:
		return frame{}, broken
	case err != nil && ctx.Err() != nil:
		end = trace.End{Reason: trace.Environment, At: max(last, s.world.Position(job.ID).At), Detail: "cancelled"}
	case err != nil:
		return frame{ID: job.ID, Error: err.Error()}, nil
	}
	return frame{ID: job.ID, End: &end}, nil
}

// reportProgress sends the world's position at intervals, until stop, after which none is sent.
func (s *server) reportProgress(id int) (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				at := s.world.Position(id)
				if s.out.write(frame{ID: id, Progress: &at}) != nil {
					return // the job's next event meets the same error, and reports it
				}
			}
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}

// received is a frame, or why there are no more.
type received struct {
	frame frame
	err   error
}

// pump hands what r reads to c, until an error (handed over too) or the end of ctx.
func pump(ctx context.Context, r *frameReader, c chan<- received) {
	for {
		f, err := r.next()
		select {
		case c <- received{f, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
