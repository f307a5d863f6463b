package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// grain is how far an instant may be off: the times that Velero reloads from the object store are cut to whole seconds
// (metav1.Time, https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Time), so that it may time an operation out earlier.
const grain = time.Second

// ending is how long a pre- or post-action's process may take to end that is given up (sim/actions), and what is told of it then.
const ending = 5 * time.Second

// contract replays the calls that Velero made of the asynchronous protocol (design/Implemented/general-progress-monitoring.md
// and the doc comments of pkg/plugin/velero/backupitemaction/v2): Progress and Cancel are called for operations that Execute has
// started for the object; Cancel is called for each operation past its timeout, once per server
// incarnation, and never for one that has not timed out or is recorded as ended; an ended operation is not polled again; a
// graceful stop leaves no plugin process. Where the reading demands so, no call takes longer than phase.CallDeadline.
//
// What a reading with one more rule would not find, that rule explains.
func (r *run) contract(rules phase.Rules) []Finding {
	found := r.breaches(rules)
	for _, name := range []string{phase.PluginCallWithoutDeadline, missingOperations} {
		rule := phase.Named(name)
		if len(found) == 0 || rule.Deviates(rules) {
			continue
		}
		with := r.breaches(rules.With(rule))
		for i, f := range found {
			again := func(g Finding) bool { return g.Object == f.Object && g.Expected == f.Expected }
			if f.Rules == nil && !slices.ContainsFunc(with, again) {
				found[i].Rules = []string{name}
			}
		}
	}
	return found
}

// breaches replays the calls in one reading.
func (r *run) breaches(rules phase.Rules) []Finding {
	w := &watch{
		run: r, deadline: !rules.PluginCallWithoutDeadline, forgets: rules.MissingOperationsReadAsNone,
		polled: map[*object]*polled{}, watched: map[*operation]*watched{}, up: map[int]bool{},
	}
	w.pollers[phase.Backup].watch, w.pollers[phase.Restore].watch = w, w
	for i := range r.events {
		w.at = max(w.at, r.events[i].At)
		w.event(i, &r.events[i])
	}
	w.at = max(w.at, r.at)
	w.end(len(r.events))
	return slices.Concat(w.found, r.uncancelled(), r.leftovers())
}

// watch is the state of the replay.
type watch struct {
	run *run
	// deadline: the reading gives every call up after phase.CallDeadline.
	deadline bool
	// forgets: it takes a missing operations file for none, and has no operation to cancel.
	forgets bool
	polled  map[*object]*polled
	watched map[*operation]*watched
	pollers [2]poller // by kind
	// up are the servers that run, by incarnation; down: none does.
	up   map[int]bool
	down bool
	// out is until when the object store is out of reach, the server paused, or its cache stale, so that no pass begins that must; 0: none is.
	out   trace.Time
	at    trace.Time
	found []Finding
}

// watched is what is known of an operation.
type watched struct {
	*operation
	// ended, failed: the last reply to Progress was completed, was an error.
	ended, failed bool
	cancelled     bool
	// closed: the server incarnation that saw it end or called Cancel; -1: none has.
	closed int
	// asked is the last pass in which Velero called Progress.
	asked int
	// overdue: it is in its object's queue, since its object's clock stood at base.
	overdue  bool
	base     time.Duration
	reported bool
	// strange: a call was reported, as no Execute had started the operation.
	strange bool
}

func (w *watched) running() bool { return !w.ended && !w.failed && !w.cancelled }

// timesOut is when Velero may give the operation up; false: the trace does not say.
func (op *operation) timesOut() (trace.Time, bool) {
	c := op.object.created
	if !op.started || c == nil || c.ItemOperationTimeout <= 0 {
		return 0, false
	}
	return trace.Time(saturate(time.Duration(op.created), 1, time.Duration(c.ItemOperationTimeout))), true
}

// String names the operation: its ID, plugin and item.
func (op *operation) String() string {
	return startedOperation{op.operationID, op.item}.String()
}

func (w *watch) report(o *object, event int, expected, seen string) {
	w.found = append(w.found, w.run.finding("contract", o.name, event, expected, seen))
}

func (w *watch) event(i int, e *trace.Event) {
	if w.out > 0 && w.at > w.out {
		w.out = 0
		for _, p := range w.polled {
			w.anew(p)
		}
	}
	if e.Fault != nil && e.Fault.Missed == "" {
		do := w.run.does(e.Fault.ID).Do
		w.outage(i, max(do.Outage.Duration, do.Pause.Duration, do.StaleCache.Duration))
	}
	switch {
	case e.Process != nil && e.Process.Name == server:
		w.server(i, e)
	case e.Process != nil && e.Process.State == trace.ProcessFailed:
		w.unserved(i, e.Process.Name)
	case e.Phase != nil:
		if o := w.run.find(e.Object); o != nil {
			w.phase(i, w.of(o), e.Phase.To)
		}
	case e.Deleted != nil:
		if o := w.run.find(e.Object); o != nil {
			w.phase(i, w.of(o), scenario.Deleted)
		}
	case w.run.calls[i] == nil:
	case e.Return != nil:
		w.reply(i, w.run.calls[i])
	default:
		w.call(i, w.run.calls[i])
	}
}

// outage notes that no pass must begin for so long.
func (w *watch) outage(i int, lasts time.Duration) {
	if lasts == 0 {
		return
	}
	for _, o := range w.run.callers() {
		w.elapse(w.of(o), i, 0)
	}
	w.out = max(w.out, w.at+trace.Time(lasts))
}

// server starts or ends. Calls in flight end, and every operation has its time to be cancelled anew.
func (w *watch) server(i int, e *trace.Event) {
	for _, o := range w.run.callers() {
		p := w.of(o)
		w.elapse(p, i, 0)
		for _, c := range p.open {
			if ends(e, c.incarnation) {
				w.late(i, c)
			}
		}
		p.open = slices.DeleteFunc(p.open, func(c *call) bool { return ends(e, c.incarnation) })
	}
	for k := range w.pollers {
		w.pollers[k].end(func(c *call) bool { return ends(e, c.incarnation) })
	}
	for _, p := range w.polled {
		w.anew(p)
	}
	if e.Process.State == started {
		w.up[e.Incarnation] = true
	} else {
		delete(w.up, e.Incarnation)
	}
	w.down = len(w.up) == 0
}

// unserved takes in that a process of a plugin did not start: any of its operations may have failed, until Velero asks after it again.
func (w *watch) unserved(i int, plugin string) {
	for _, o := range w.run.objects {
		for _, op := range o.operations {
			if x := w.operation(op); op.plugin == plugin && op.event < i && x.running() {
				x.failed = true
			}
		}
	}
}

func (w *watch) phase(i int, p *polled, to string) {
	if waited := strings.HasPrefix(p.has, waits); !strings.HasPrefix(to, waits) || !waited {
		w.elapse(p, i, 0)
		if waited && strings.HasPrefix(to, finalizes) {
			w.missed(p, i)
		}
		w.anew(p)
	}
	p.has = to
}

func (w *watch) call(i int, c *call) {
	p := w.of(c.object)
	defer func() {
		p.open = append(p.open, c)
		if strings.HasPrefix(p.has, waits) {
			w.pollers[p.kind].begin(c)
		}
	}()
	if c.operation == nil {
		return
	}
	op := w.operation(c.operation)
	if !op.strange && (!op.started || op.event > i) {
		// Velero knows the operations of an object from Execute alone. One that its plugin does not know was started, too.
		op.strange = true
		w.report(c.object, i, "Progress and Cancel of operations that Execute has started for the object",
			fmt.Sprintf("%s of operation %s of %s", c.Method, c.Operation, c.Plugin))
	}
	w.pass(p, op, i, c.Method)
	name := fmt.Sprintf("operation %s of %s", c.Operation, c.Plugin)
	switch {
	case c.Method == cancel:
		due, ok := op.timesOut()
		switch {
		case op.ended:
			w.report(c.object, i, "no Cancel of "+name+", which has ended", "Cancel was called")
		case op.cancelled && op.closed == c.incarnation:
			w.report(c.object, i, "one Cancel of "+name+" per server incarnation", fmt.Sprintf("another in incarnation %d", c.incarnation))
		case ok && w.at < due-trace.Time(grain):
			// Velero has no other reason to call it: getBackupItemOperationProgress in
			// pkg/controller/backup_operations_controller.go, and its twin for restores.
			w.report(c.object, i, fmt.Sprintf("no Cancel of %s before it times out at %s", name, due), fmt.Sprintf("Cancel was called at %s", w.at))
		}
		op.cancelled, op.closed = true, c.incarnation
	case c.Method == progress && op.closed == c.incarnation:
		w.report(c.object, i, "no Progress of "+name+" after its end", fmt.Sprintf("Progress was called again in incarnation %d", c.incarnation))
	}
}

func (w *watch) reply(i int, c *call) {
	w.late(i, c)
	p := w.of(c.object)
	p.open = slices.DeleteFunc(p.open, func(o *call) bool { return o == c })
	w.pollers[p.kind].end(func(o *call) bool { return o == c })
	w.leave(p)
	if c.Method != progress {
		return
	}
	op := w.operation(c.operation)
	op.failed = c.progressed() == failed
	op.ended = c.reply.Error == "" && c.reply.Progress != nil && c.reply.Progress.Completed
	if op.ended {
		op.closed = c.incarnation
	}
	p.again(op, w.at)
}

// late reports a call that was in flight beyond its deadline.
func (w *watch) late(event int, c *call) {
	deadline, demanded, slack := w.run.deadline(), w.deadline, trace.Time(grain)
	if own, ok := w.run.deadlineOf(c); ok {
		deadline, demanded, slack = own, true, trace.Time(ending)
	}
	given := c.at + deadline
	if !demanded || w.at <= given+slack {
		return
	}
	w.report(c.object, event, fmt.Sprintf("%s is given up by %s", c.describe(), given),
		fmt.Sprintf("it was called at %s and went on until %s", c.at, w.at))
}

// end of the trace.
func (w *watch) end(event int) {
	for _, o := range w.run.callers() {
		p := w.of(o)
		w.elapse(p, event, 0)
		for _, c := range p.open {
			w.late(event, c)
		}
	}
}

func (w *watch) of(o *object) *polled {
	p := w.polled[o]
	if p == nil {
		p = &polled{object: o, pass: 1}
		w.polled[o] = p
	}
	return p
}

func (w *watch) operation(op *operation) *watched {
	x := w.watched[op]
	if x == nil {
		x = &watched{operation: op, closed: -1}
		w.watched[op] = x
	}
	return x
}
