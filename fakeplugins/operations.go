package fakeplugins

import (
	"path"
	"strconv"
	"sync"
	"time"

	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"

	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Operations is what outlives the processes of a run's plugins: the asynchronous operations, as a data mover would hold
// them, and how often each method was called. It is safe for concurrent use.
type Operations struct {
	epoch time.Time
	name  func(object string) string

	mu      sync.Mutex
	started map[string]int // operations, by the first part of their IDs
	calls   map[callee]int
	byID    map[string]*operation
	waits   map[wait]time.Time // since when
}

// plugin identifies a plugin: Velero registers names per action.
type plugin struct {
	action scenario.Action
	name   string
}

// callee is what calls are counted by.
type callee struct {
	plugin
	method    string
	operation string // of Progress and Cancel
}

// wait is one for additional items. AreAdditionalItemsReady is not told for which item, but Velero asks for one after the other.
type wait struct {
	plugin
	object string
}

// operation is an asynchronous operation that runs by its script.
type operation struct {
	plugin    plugin
	by        *Interpreter // of the process that started it
	script    scenario.Operation
	started   time.Time
	cancelled time.Time // zero: it was not
}

// NewOperations returns the state of a run that starts at epoch, the instant from which its trace counts time. Name translates
// Velero's names of objects, backup/NAME, into the scenario's, which the IDs of operations have; it must be safe for concurrent
// use. Nil: they are the same.
func NewOperations(epoch time.Time, name func(object string) string) *Operations {
	if name == nil {
		name = func(object string) string { return object }
	}
	return &Operations{
		epoch:   epoch,
		name:    name,
		started: make(map[string]int),
		calls:   make(map[callee]int),
		byID:    make(map[string]*operation),
		waits:   make(map[wait]time.Time),
	}
}

// count counts a call and returns which one it is, from 1.
func (o *Operations) count(p plugin, c trace.Call) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := callee{plugin: p, method: c.Method, operation: c.Operation}
	o.calls[key]++
	return o.calls[key]
}

// start starts an operation and returns its ID: the object's name, the last part of the plugin's, and a number that counts them,
// backup-1/mover-1. Whatever else runs at the same time, it is the same.
func (o *Operations) start(i *Interpreter, object string, script scenario.Operation) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	base := path.Base(object) + "/" + path.Base(i.script.Name)
	o.started[base]++
	id := base + "-" + strconv.Itoa(o.started[base])
	if !script.Unknown {
		o.byID[id] = &operation{plugin: i.plugin(), by: i, script: script, started: time.Now()}
	}
	return id
}

// progress is what the process of i knows of the operation now, and the same for the trace.
func (o *Operations) progress(i *Interpreter, id string) (velero.OperationProgress, *trace.Progress, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op, err := o.find(i, id)
	if err != nil {
		return velero.OperationProgress{}, nil, err
	}
	r := op.progress(time.Now())
	t := &trace.Progress{
		Done:        r.NCompleted,
		Of:          r.NTotal,
		Units:       r.OperationUnits,
		Description: r.Description,
		Completed:   r.Completed,
		Error:       r.Err,
		Started:     trace.Time(r.Started.Sub(o.epoch)),
		Updated:     trace.Time(r.Updated.Sub(o.epoch)),
	}
	// As they come over the wire. Velero compares them with ==, so a monotonic clock reading would count as a change.
	r.Started, r.Updated = r.Started.UTC().Round(0), r.Updated.UTC().Round(0)
	return r, t, nil
}

// cancel asks the operation to stop. One that has ended, or was cancelled before, stays as it is.
func (o *Operations) cancel(i *Interpreter, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	op, err := o.find(i, id)
	if err != nil {
		return err
	}
	if op.script.AfterCancel != scenario.Continues && op.cancelled.IsZero() {
		op.cancelled = time.Now()
	}
	return nil
}

// executed ends the wait for the additional items of an item: the next one is for those of another.
func (o *Operations) executed(w wait) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waits, w)
}

// ready answers whether the additional items of an item are, and ends the wait if so.
func (o *Operations) ready(w wait, script scenario.Ready) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	since, ok := o.waits[w]
	if !ok {
		since = time.Now()
		o.waits[w] = since
	}
	ready := !script.Never && time.Since(since) >= script.After.Duration
	if ready {
		delete(o.waits, w)
	}
	return ready
}

// find returns the operation as the process of i knows it; the error is Velero's own for an operation ID that a plugin does not
// know. The caller holds the lock.
func (o *Operations) find(i *Interpreter, id string) (*operation, error) {
	op, ok := o.byID[id]
	if !ok || op.plugin != i.plugin() || op.script.Forgets && op.by != i {
		return nil, biav2.InvalidOperationIDError(id)
	}
	return op, nil
}

// progress is the operation's report. Updated is when the report last changed, so that a poll in between shows no change.
func (op *operation) progress(now time.Time) velero.OperationProgress {
	if !op.cancelled.IsZero() {
		now = op.cancelled
	}
	r := velero.OperationProgress{Started: op.started, Updated: op.started}
	for _, step := range op.script.Progress {
		if r.Completed || step.At.Duration > now.Sub(op.started) {
			break
		}
		r.Updated = op.started.Add(step.At.Duration)
		r.NCompleted = step.Done
		r.NTotal = carryOver(step.Of, r.NTotal)
		r.OperationUnits = carryOver(step.Units, r.OperationUnits)
		r.Description = carryOver(step.Description, r.Description)
		r.Completed = step.Completed || step.Failed != ""
		r.Err = step.Failed
		if step.Completed && step.Done == 0 {
			// "On successful completion, NCompleted and NTotal should be the same" (velero.OperationProgress).
			r.NCompleted = r.NTotal
		}
	}
	if op.cancelled.IsZero() || r.Completed {
		return r
	}
	r.Completed, r.Updated = true, op.cancelled
	if op.script.AfterCancel == scenario.Completes {
		r.NCompleted = r.NTotal
	} else {
		r.Err = "operation cancelled"
	}
	return r
}

// carryOver is the value, or the one before if it is not set.
func carryOver[T comparable](value, before T) T {
	var unset T
	if value == unset {
		return before
	}
	return value
}
