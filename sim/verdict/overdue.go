package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// polled is how far Velero has got with cancelling what has timed out among an object's operations.
//
// Velero asks an object's operations in passes, one after the other, and a pass over many takes long. An operation must be
// cancelled within two polls, by a clock that stands still during a pass, for this object or another, and that each pass moves on by
// a poll at least.
type polled struct {
	*object
	has  string  // the phase
	open []*call // in flight
	// pass counts the passes; none: the next call begins one.
	pass int
	none bool
	// since when the object has been left alone: its last call returned, it began to wait, the server started. Idle is how long its
	// poller had been by then.
	since trace.Time
	idle  time.Duration
	clock time.Duration
	// next is the first of the operations that has not timed out yet.
	next int
	// overdue are the operations that have timed out, in the order of their bases. Some may have ended.
	overdue []*watched
}

// pass notes that Velero turns to the operation. It begins a pass if this one has asked the operation before.
func (w *watch) pass(p *polled, op *watched, event int, method string) {
	switch {
	case p.none:
		w.elapse(p, event, 0)
		p.none = false
		p.pass++
	case method == progress && op.asked == p.pass:
		w.elapse(p, event, w.run.poll())
		p.pass++
	}
	if method == progress {
		op.asked = p.pass
	}
}

// elapse moves the object's clock by the time in which Velero could have begun a pass, or by least if that is more, and
// reports the operations that should have been cancelled by then.
func (w *watch) elapse(p *polled, event int, least time.Duration) {
	if !w.down && w.out == 0 && strings.HasPrefix(p.has, waits) {
		before := p.clock
		p.clock += max(w.pollers[p.kind].idle()-p.idle, least)
		for ; p.next < len(p.operations); p.next++ {
			due, ok := p.operations[p.next].timesOut()
			if !ok || due >= w.at {
				break
			}
			if op := w.operation(p.operations[p.next]); op.running() {
				p.queue(op, min(p.clock, before+time.Duration(max(0, due-p.since))))
			}
		}
	}
	for len(p.overdue) > 0 {
		op := p.overdue[0]
		if op.running() && p.clock-op.base <= w.run.patience() {
			break
		}
		if op.running() {
			w.missing(op, event)
		}
		op.overdue = false
		p.overdue = p.overdue[1:]
	}
}

// leave notes that the object is left alone from now on.
func (w *watch) leave(p *polled) { p.since, p.idle = w.at, w.pollers[p.kind].idle() }

func (p *polled) queue(op *watched, base time.Duration) {
	if !op.reported && !op.overdue {
		op.overdue, op.base = true, base
		p.overdue = append(p.overdue, op)
	}
}

// again queues an operation that has timed out and that Progress, after all, says is running.
func (p *polled) again(op *watched, now trace.Time) {
	if due, ok := op.timesOut(); ok && due < now && op.running() {
		p.queue(op, p.clock)
	}
}

// anew gives every operation its time to be cancelled, from now on.
func (w *watch) anew(p *polled) {
	w.leave(p)
	p.none = true
	for _, op := range p.overdue {
		op.base = p.clock
	}
}

// missed reports the operations that have timed out and were not cancelled, though nobody will ask them any more.
func (w *watch) missed(p *polled, event int) {
	for _, op := range p.operations {
		if due, ok := op.timesOut(); !ok || due >= w.at {
			return
		}
		if op := w.operation(op); op.running() && !op.reported {
			w.missing(op, event)
		}
	}
}

func (w *watch) missing(op *watched, event int) {
	op.reported = true
	if w.forgets && w.run.forgotten(op.object, event) || w.run.abandoned(op.object, event) {
		return
	}
	due, _ := op.timesOut() // it is overdue, so that there is one
	w.report(op.object, event, fmt.Sprintf("Cancel of %s, which timed out at %s", op, due), fmt.Sprintf("no Cancel by %s", w.at))
}
