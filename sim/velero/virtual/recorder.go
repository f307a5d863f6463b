package virtual

import (
	"sync"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// recorder hands the run's events to the sink, numbered and with their time. Events are recorded by whoever the scheduler
// let act, so that their order is the seed's.
type recorder struct {
	start time.Time
	sink  func(trace.Event) error
	names *scenario.Naming

	mu     sync.Mutex
	seq    int
	calls  int
	closed bool
	err    error // of the sink
}

// now is the trace time.
func (r *recorder) now() trace.Time { return trace.Time(time.Since(r.start)) }

// add records an event. Incarnation 0: not the server's doing; object "": about none.
func (r *recorder) add(incarnation int, object string, body trace.Body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.err != nil {
		return
	}
	r.seq++
	r.err = r.sink(trace.Event{Seq: r.seq, At: r.now(), Incarnation: incarnation, Object: r.names.Of(object), Body: body})
}

// call returns the ID of a new plugin call.
func (r *recorder) call() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	return r.calls
}

// close drops everything that comes later, and returns the sink's error.
func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.err
}

// over reports whether it is closed.
func (r *recorder) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// failed returns the sink's error so far.
func (r *recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
