package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// Options of Open. The zero value has every default.
type Options struct {
	// Args of the executable. Default: none.
	Args []string
	// Stall is how long a job may send no event, and its position stand still, before the world is killed, and the job ends
	// as stalled. In wall time, without that during which velosim itself is stopped. Default: 60 s.
	Stall time.Duration
}

// Process is a world whose executable runs in a process of its own, and in a new one after each that died. It is safe for
// concurrent use; what is more than the world runs at a time waits.
type Process struct {
	path      string
	args      []string
	stall     time.Duration
	info      Info
	positions sync.Map    // *Position, by job
	release   func() bool // unties it from Open's context

	slots chan struct{} // as many as jobs may run

	mu     sync.Mutex // guards what follows
	child  *child     // nil: the next job starts one
	closed bool
}

var _ World = (*Process)(nil)

// Open starts the world's executable at path. It fails if that is no world, or one that speaks another schema of the
// protocol. The world has a private environment: PATH, and a HOME and a TMPDIR of its own that vanish with it. Close it;
// the end of ctx closes it too.
func Open(ctx context.Context, path string, o Options) (*Process, error) {
	p := newProcess(ctx, path, o)
	c, err := p.start(ctx)
	if err != nil {
		p.Close()
		return nil, err
	}
	p.know(c.info)
	return p, nil
}

// newProcess returns a world that its first job starts.
func newProcess(ctx context.Context, path string, o Options) *Process {
	if o.Stall == 0 {
		o.Stall = time.Minute
	}
	p := &Process{path: path, args: o.Args, stall: o.Stall}
	p.release = context.AfterFunc(ctx, p.end)
	return p
}

// know takes in what the world is.
func (p *Process) know(info Info) {
	p.info, p.slots = info, make(chan struct{}, max(info.Parallel, 1))
}

// Info implements World.
func (p *Process) Info() Info { return p.info }

// Position implements World: as the world reported it last.
func (p *Process) Position(job int) Position {
	if at, ok := p.positions.Load(job); ok {
		return *at.(*Position)
	}
	return Position{}
}

// Close ends the world's process and all that it started. A job that runs ends with trace.Environment.
func (p *Process) Close() {
	p.release()
	p.end()
}

func (p *Process) end() {
	p.mu.Lock()
	p.closed = true
	c := p.child
	p.mu.Unlock()
	if c != nil {
		c.stop()
	}
}

// errClosed is returned by Run after Close.
var errClosed = errors.New("the world was closed")

// start returns the running process, or starts one.
func (p *Process) start(ctx context.Context) (*child, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.child != nil && p.child.hasEnded() { // between two jobs
		p.child.stop() // its pipes and their readers are still there
		p.child = nil
	}
	if p.child == nil {
		c, err := startChild(ctx, p.path, p.args, helloWithin)
		if err != nil {
			return nil, err
		}
		p.child = c
	}
	return p.child, nil
}

// discard ends c; the next job starts another process.
func (p *Process) discard(c *child) {
	c.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == c { // else another job has started the next one
		p.child = nil
	}
}

// Run implements World. Whatever becomes of the process is in the End: trace.Panicked with the panic's text if Velero
// crashed it, trace.Stalled with the stacks of all goroutines if the watchdog had to kill it, else
// trace.Environment, as when ctx ends.
func (p *Process) Run(ctx context.Context, job Job, sink func(trace.Event) error) (trace.End, error) {
	p.slots <- struct{}{}
	defer func() { <-p.slots }()
	c, err := p.start(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return environment("interrupted"), nil
	case err != nil:
		return environment("%v", err), err
	}
	p.positions.Store(job.ID, &Position{})
	r := run{process: p, child: c, job: job, sink: sink, watchdog: newWatchdog(p.stall), frames: c.router.listen(job.ID).frames}
	defer c.router.leave(job.ID)
	defer r.watchdog.ticks.Stop()
	// Not waited for: a world that does not read is one that stalls.
	go c.out.write(frame{Job: &job}) //nolint:errcheck // a world that has closed its stdin ends; its stdout says so
	end, err := r.loop(ctx)
	if !r.ended {
		c.blame(job, "ended the world")
		p.discard(c)
		end.At = r.reached()
	}
	return end, err
}

// run is a running job.
type run struct {
	process  *Process
	child    *child
	job      Job
	frames   <-chan received
	sink     func(trace.Event) error
	watchdog *watchdog
	at       trace.Time // of the last event
	ended    bool       // the world has ended the job by itself, and is ready for the next
}

// reached is how far the job is known to have come.
func (r *run) reached() trace.Time { return max(r.at, r.process.Position(r.job.ID).At) }

func (r *run) loop(ctx context.Context) (trace.End, error) {
	interrupt := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-interrupt:
			interrupt = nil
			go r.child.out.write(frame{ID: r.job.ID, Cancel: true}) //nolint:errcheck // as for the job
			late = time.After(grace)
		case <-late:
			return environment("interrupted; the world did not end its job within %v", grace), nil
		case <-r.watchdog.ticks.C:
			if !r.watchdog.look(time.Now()) {
				continue
			}
			r.child.blame(r.job, "stood still and ended the world")
			stacks := r.child.stacks()
			at := r.process.Position(r.job.ID)
			return trace.End{Reason: trace.Stalled, Detail: fmt.Sprintf(
				"the run stood still at %v, step %d, for %v, and was killed; its stacks:\n%s",
				time.Duration(at.At), at.Steps, r.process.stall, stacks)}, nil
		case f := <-r.frames:
			if end, err := r.take(ctx, f); end.Reason != "" || err != nil {
				return end, err
			}
		case <-r.child.drained:
			select {
			case f := <-r.frames: // the last one, which says why
				if end, err := r.take(ctx, f); end.Reason != "" || err != nil {
					return end, err
				}
			default: // without an error handed over, so somebody stopped it
				return r.stopped(ctx), nil
			}
		}
	}
}

// take takes what was received for the job. It returns an End without a reason while the job goes on.
func (r *run) take(ctx context.Context, f received) (trace.End, error) {
	switch {
	case f.err != nil && ctx.Err() != nil:
		return environment("interrupted"), nil
	case f.err != nil:
		return r.died(f.err), nil
	}
	return r.handle(f.frame)
}

// handle handles a frame of the job. It returns an End without a reason while the job goes on.
func (r *run) handle(f frame) (trace.End, error) {
	switch {
	case f.Begin:
	case f.Event != nil:
		r.at = f.Event.At
		if err := r.sink(*f.Event); err != nil {
			return environment("%v", err), err
		}
		r.watchdog.alive() // only now: the world may have waited for the sink
	case f.Progress != nil:
		if old := r.process.Position(r.job.ID); old != *f.Progress {
			r.process.positions.Store(r.job.ID, f.Progress)
			r.watchdog.alive()
		}
	case f.End != nil:
		if f.End.Reason == "" {
			return environment("the world ended job %d without a reason", r.job.ID), nil
		}
		if f.End.At < r.at {
			return environment("the world ended job %d at %v, before its last event at %v", r.job.ID, f.End.At, r.at), nil
		}
		r.ended = true
		return *f.End, nil
	case f.Error != "":
		r.ended = true
		end := environment("%s", f.Error)
		end.At = r.reached()
		return end, errors.New(f.Error)
	default:
		return environment("the world sent a %s frame, which only the CLI sends", f.kind()), nil
	}
	return trace.End{}, nil
}

// stopped says why the process was.
func (r *run) stopped(ctx context.Context) trace.End {
	r.child.endOrKill()
	if fault := r.child.fault(r.job); fault != "" && ctx.Err() == nil {
		return environment("%s", fault)
	}
	return environment("interrupted")
}

// died says why no more frames come.
func (r *run) died(err error) trace.End {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return environment("the world's stdout is not the protocol: %v", err)
	}
	r.child.endOrKill() // it may still print why
	detail, panicked := r.child.crash(r.job)
	if panicked {
		return trace.End{Reason: trace.Panicked, Detail: detail}
	}
	return environment("%s", detail)
}

func environment(format string, args ...any) trace.End {
	return trace.End{Reason: trace.Environment, Detail: fmt.Sprintf(format, args...)}
}
