package verdict

import (
	"slices"
	"sort"

	"github.com/velosim/velosim/sim/trace"
)

// operation is an item operation of an object.
type operation struct {
	operationID
	object *object
	// started: the trace shows the Execute that did, for the item. Event is that of its return, created when that was.
	started bool
	item    string
	created trace.Time
	event   int
	// calls are those of Progress and Cancel.
	calls []*call
	// unserved are the events since it was started at which a process of its plugin did not start.
	unserved []int
}

// operationID tells the operations of an object apart: two plugins may choose the same ID.
type operationID struct{ plugin, id string }

// operation returns the operation of that ID, made on first sight.
func (o *object) operation(id operationID) *operation {
	op := o.byID[id]
	if op == nil {
		op = &operation{operationID: id, object: o}
		o.byID[id] = op
	}
	return op
}

// start notes that the call of Execute has returned, and has started an operation. Each one that a plugin gives the same ID
// counts, as it does in Velero, but they are one as to what becomes of them.
func (o *object) start(id string, c *call, at trace.Time) {
	op := o.operation(operationID{c.Plugin, id})
	if !op.started {
		op.started, op.item, op.created, op.event = true, c.Item, at, c.replied
	}
	o.operations = append(o.operations, op)
}

// cancelled reports whether Cancel was ever called.
func (op *operation) cancelled() bool {
	return op != nil && slices.ContainsFunc(op.calls, func(c *call) bool { return c.Method == cancel })
}

// outcome is what became of an operation, as far as Velero can know.
type outcome int

const (
	running outcome = iota
	completed
	failed // its plugin said so, or Progress returned an error
	cancelled
)

func (o outcome) String() string {
	return [...]string{"running", "completed", "failed", "cancelled"}[o]
}

// outcome of the operation by that event: what the last Progress to return has said, or that Cancel was called. A pass that finds no process
// of the plugin for an operation fails it, and does not ask after it again (getBackupItemOperationProgress,
// pkg/controller/backup_operations_controller.go); others it asks after later.
func (op *operation) outcome(event int) outcome {
	n := sort.Search(len(op.calls), func(i int) bool { return op.calls[i].event > event })
	last := running
	for _, c := range slices.Backward(op.calls[:n]) {
		if c.Method == cancel {
			return cancelled
		}
		if c.reply != nil && c.replied <= event {
			last = c.progressed()
			break
		}
	}
	asked := op.event
	if n > 0 {
		asked = op.calls[n-1].event
	}
	if last == running && slices.ContainsFunc(op.unserved, func(i int) bool { return asked < i && i <= event }) {
		return failed
	}
	return last
}

// progressed is the outcome that a reply to Progress tells of.
func (c *call) progressed() outcome {
	p := c.reply.Progress
	switch {
	case c.reply.Error != "" || c.reply.Panic:
		return failed
	case p == nil || !p.Completed:
		return running
	case p.Error != "":
		return failed
	}
	return completed
}
