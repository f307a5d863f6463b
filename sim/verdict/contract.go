package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// contract replays the calls that Velero made of the asynchronous protocol (design/Implemented/general-progress-monitoring.md
// and the doc comments of pkg/plugin/velero/backupitemaction/v2): Cancel is called for each operation past its timeout, once per server
// incarnation, and never for one recorded as ended; an ended operation is not polled again; a graceful stop leaves no plugin process.
func (r *run) contract(rules phase.Rules) []Finding {
	w := &watch{run: r, deadline: !rules.PluginCallWithoutDeadline, calls: map[int]*call{}, operations: map[[2]string]*watched{}}
	for _, o := range r.objects {
		for _, c := range o.calls {
			w.calls[c.event] = c
		}
	}
	for i := range r.events {
		w.elapse(i, r.events[i].At)
		w.event(i, &r.events[i])
	}
	w.elapse(len(r.events), r.at)
	return slices.Concat(w.found, r.uncancelled(), r.leftovers())
}

// watch is the state of the replay.
type watch struct {
	run *run
	// deadline: the reading gives every call up after phase.CallDeadline.
	deadline   bool
	calls      map[int]*call // by the index of its event
	open       []*call       // in flight
	operations map[[2]string]*watched
	order      []*watched
	down       bool
	at         trace.Time
	found      []Finding
}

// watched is what is known of an operation.
type watched struct {
	object *object
	*operation
	// ended, failed: the last reply to Progress was completed, was an error.
	ended, failed bool
	cancelled     bool
	// closed: the server incarnation that saw it end or called Cancel; -1: none has.
	closed   int
	overdue  time.Duration // how long it could have been cancelled, in this incarnation
	reported bool
}

func (w *watched) running() bool { return !w.ended && !w.failed && !w.cancelled }

func (w *watched) due() (trace.Time, bool) {
	if w.operation == nil || w.object.created == nil || w.object.created.ItemOperationTimeout <= 0 {
		return 0, false
	}
	return w.created + w.object.created.ItemOperationTimeout, true
}

// elapse lets time pass until the event, and reports the operations that should have been cancelled by then.
func (w *watch) elapse(event int, now trace.Time) {
	from := w.at
	w.at = max(w.at, now)
	if w.down {
		return
	}
	for _, op := range w.order {
		due, ok := op.due()
		if !ok || op.reported || !op.running() || !strings.HasPrefix(op.object.phaseAt(event-1), waits) {
			continue
		}
		start, free := max(from, due), true
		for _, c := range w.open {
			if c.object == op.object {
				start, free = max(start, c.at+trace.Time(phase.CallDeadline)), free && w.deadline
			}
		}
		if !free || w.at <= start {
			continue
		}
		if op.overdue += time.Duration(w.at - start); op.overdue > 2*poll {
			w.missing(op, event, due)
		}
	}
}

func (w *watch) missing(op *watched, event int, due trace.Time) {
	op.reported = true
	w.report(op.object, event,
		fmt.Sprintf("Cancel of operation %s of %s for %s, which timed out at %s", op.id, op.plugin, op.item, due),
		fmt.Sprintf("no Cancel by %s", w.at))
}

func (w *watch) report(o *object, event int, expected, seen string) {
	w.found = append(w.found, w.run.finding("contract", o.name, event, expected, seen))
}

func (w *watch) event(i int, e *trace.Event) {
	switch {
	case e.Process != nil && e.Process.Name == server:
		w.down = e.Process.State != started
		w.open = slices.DeleteFunc(w.open, func(c *call) bool { return ends(e, c.incarnation) })
		for _, op := range w.order {
			op.overdue = 0
		}
	case e.Phase != nil:
		if o := w.run.find(e.Object); o != nil && strings.HasPrefix(e.Phase.From, waits) && strings.HasPrefix(e.Phase.To, finalizes) {
			for _, op := range w.order {
				if due, ok := op.due(); ok && op.object == o && op.running() && !op.reported && w.at > due {
					w.missing(op, i, due)
				}
			}
		}
	case e.Call != nil && w.calls[i] != nil:
		w.call(i, w.calls[i])
	case e.Return != nil:
		w.reply(e.Return)
	}
}

func (w *watch) call(i int, c *call) {
	w.open = append(w.open, c)
	if c.Method == execute {
		return
	}
	op := w.operation(c.object, c.Operation)
	switch {
	case c.Method == cancel:
		switch {
		case op.ended:
			w.report(c.object, i, fmt.Sprintf("no Cancel of operation %s of %s, which has ended", c.Operation, c.Plugin), "Cancel was called")
		case op.cancelled && op.closed == c.incarnation:
			w.report(c.object, i, fmt.Sprintf("one Cancel of operation %s of %s per server incarnation", c.Operation, c.Plugin),
				fmt.Sprintf("another in incarnation %d", c.incarnation))
		}
		op.cancelled, op.closed = true, c.incarnation
	case c.Method == progress && op.closed == c.incarnation:
		w.report(c.object, i, fmt.Sprintf("no Progress of operation %s of %s after its end", c.Operation, c.Plugin),
			fmt.Sprintf("Progress was called again in incarnation %d", c.incarnation))
	}
}

func (w *watch) reply(ret *trace.Return) {
	for n, c := range w.open {
		if c.reply != ret {
			continue
		}
		w.open = slices.Delete(w.open, n, n+1)
		switch {
		case c.Method == execute && ret.Operation != "":
			op := w.operation(c.object, ret.Operation)
			for _, o := range c.object.operations {
				if o.id == ret.Operation {
					op.operation = o
				}
			}
		case c.Method == progress:
			op := w.operation(c.object, c.Operation)
			op.failed = c.progressed() == failed
			op.ended = ret.Error == "" && ret.Progress != nil && ret.Progress.Completed
			if op.ended {
				op.closed = c.incarnation
			}
		}
		return
	}
}

func (w *watch) operation(o *object, id string) *watched {
	key := [2]string{o.name, id}
	op := w.operations[key]
	if op == nil {
		op = &watched{object: o, closed: -1}
		w.operations[key] = op
		w.order = append(w.order, op)
	}
	return op
}
