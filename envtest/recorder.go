package envtest

import (
	"sync"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// recorder hands the run's events to the sink, numbered and with their time, one after another. What a dead server's processes
// still have to tell is no part of the trace.
type recorder struct {
	position *position
	sink     func(trace.Event) error
	names    *scenario.Naming

	mu     sync.Mutex
	seq    int
	calls  int
	dead   map[int]bool // incarnations
	closed bool
	err    error // of the sink
}

// now is the trace time.
func (r *recorder) now() trace.Time {
	return trace.Time(time.Since(r.position.start).Round(time.Millisecond))
}

// add records events that belong together. Incarnation 0: not the server's doing; object "": about none. It reports whether they
// were recorded.
func (r *recorder) add(incarnation int, object string, bodies ...trace.Body) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record(incarnation, object, bodies...)
}

// record is add, under the lock.
func (r *recorder) record(incarnation int, object string, bodies ...trace.Body) bool {
	if r.closed || r.err != nil || r.dead[incarnation] {
		return false
	}
	for _, body := range bodies {
		r.seq++
		r.position.events.Add(1)
		if r.err = r.sink(trace.Event{Seq: r.seq, At: r.now(), Incarnation: incarnation, Object: r.names.Of(object), Body: body}); r.err != nil {
			return false
		}
	}
	return true
}

// end records what an incarnation's server ended by, and the fault, if it was one. Nothing of it is recorded from then on.
func (r *recorder) end(incarnation int, fault *trace.Fault, state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault != nil {
		r.record(0, "", trace.Body{Fault: fault})
	}
	r.record(incarnation, "", trace.Body{Process: &trace.Process{Name: "server", State: state}})
	r.dead[incarnation] = true
}

// call returns the ID of a new plugin call.
func (r *recorder) call() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	return r.calls
}

// failed returns the sink's error so far.
func (r *recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// close drops everything that comes later.
func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
