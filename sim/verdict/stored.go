package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// startedOperation is an operation as Execute started it and as the object store names it.
type startedOperation struct {
	operationID
	item string
}

// String names the operation: its ID, plugin and item.
func (s startedOperation) String() string {
	return fmt.Sprintf("operation %s of %s for %s", s.id, s.plugin, s.item)
}

// begun are the operations that Execute started in the run that led to the object's end: by the incarnation that took the object
// out of InProgress, before it did. Each Execute counts, as in Velero (runBackup, pkg/controller/backup_controller.go: the
// length of the list), whatever ID its plugin chose; one that starts an operation in the finalizer has an error instead.
// False: no run has got that far.
func (o *object) begun() (ops []startedOperation, ok bool) {
	for _, c := range slices.Backward(o.changes) {
		if c.From != phase.InProgress.String() || !strings.HasPrefix(c.To, waits) && !strings.HasPrefix(c.To, finalizes) {
			continue
		}
		for _, x := range o.calls {
			if x.started() && x.incarnation == c.incarnation && x.replied < c.event {
				ops = append(ops, startedOperation{operationID{x.Plugin, x.reply.Operation}, x.Item})
			}
		}
		return ops, true
	}
	return nil, false
}

// started reports whether the call was one of Execute that has started an operation.
func (c *call) started() bool {
	return c.Method == execute && c.reply != nil && c.reply.Operation != ""
}

// storedOperations compares the operations in the object store, one by one, with those that Execute started and with what the
// plugins have said of them. Counts that agree do not show that one is stored for another. That one is missing counts for objects
// that their finalizer has ended, and where the reading knows no deviation that loses them.
func (r *run) storedOperations(o *object, rd reading) []Finding {
	var found []Finding
	miss := func(expected, seen string) {
		found = append(found, r.atEnd("accounting", o.name, expected, seen))
	}
	unstored := map[startedOperation]int{}
	for _, c := range o.calls {
		if c.started() {
			unstored[startedOperation{operationID{c.Plugin, c.reply.Operation}, c.Item}]++
		}
	}
	stored := map[startedOperation]int{}
	if o.store != nil {
		for _, op := range o.store.Operations {
			s := startedOperation{operationID{op.Plugin, op.ID}, op.Item}
			stored[s]++
			if unstored[s]--; unstored[s] < 0 {
				miss("stored operations that Execute started", s.String())
				continue
			}
			if said, ok := r.agrees(o, op); !ok {
				miss(fmt.Sprintf("%s is stored as its plugin's calls say: %s", s, said), "phase "+op.Phase)
			}
		}
	}
	if !o.finalized() || !rd.holds("operations-stay-known") || o.store == nil && o.kind == phase.Backup || r.lostSince(o) {
		return found // of a backup, accounting has said that nothing is stored at all
	}
	ops, _ := o.begun()
	for _, s := range ops {
		if stored[s]--; stored[s] < 0 {
			miss("operations-stay-known: "+s.String()+", which Execute started, is stored", notStored)
			if none := o.store == nil || len(o.store.Operations) == 0; none && r.forgotten(o, len(r.events)) {
				found[len(found)-1].Rules = []string{missingOperations}
			}
		}
	}
	return found
}

// lostSince reports whether a fault has removed the object's operations file since it has ended.
func (r *run) lostSince(o *object) bool {
	for _, e := range r.events[o.changes[len(o.changes)-1].event:] {
		if e.Fault != nil && e.Fault.Missed == "" && slices.ContainsFunc(r.scenario.Faults, func(f scenario.Fault) bool {
			return f.ID == e.Fault.ID && f.Do.Lose != nil && strings.HasSuffix(f.At.Store.Key, "/"+o.operationsFile())
		}) {
			return true
		}
	}
	return false
}

// notStored is what is seen of an operation that is to be stored.
const notStored = "it is not"

// missingOperations is the rule by which to a release an operations file that is missing is one without operations.
const missingOperations = "missing-operations-read-as-none"

// forgotten reports whether Velero has seen that the object's operations file is missing, when it last looked for it before the event: it
// then did not get it (tryGet, pkg/persistence/object_store.go).
func (r *run) forgotten(o *object, event int) bool {
	missing := false
	for i, e := range r.events {
		switch {
		case !o.stores(e, o.operationsFile()):
		case i < event:
			missing = e.Store.Verb == "exists" && e.Store.Error == ""
		default:
			return missing && e.Store.Verb != "get"
		}
	}
	return missing
}

func (o *object) operationsFile() string {
	file := o.id() + "-itemoperations.json.gz"
	if o.kind == phase.Restore {
		file = "restore-" + file
	}
	return file
}

// agrees reports whether the phase in which an operation is stored is what the plugin has said last: an end that was reported
// earlier, a kill may have lost. An object that has not ended may have more reported than it has stored.
func (r *run) agrees(o *object, stored trace.Operation) (said outcome, ok bool) {
	op := o.byID[operationID{stored.Plugin, stored.ID}]
	until := len(r.events)
	if o.finalized() {
		until = o.changes[len(o.changes)-1].event // what is called later, Velero has not stored, and contract finds
	}
	said = op.outcome(until)
	switch stored.Phase {
	case "Completed":
		ok = said == completed
	case "Failed":
		ok = said == failed || said == cancelled || r.endedBadly(op)
	default:
		ok = said == running || !o.finalized()
	}
	return said, ok
}

// endedBadly reports whether the operation's last call was given up: it never returned, or long after its deadline.
func (r *run) endedBadly(op *operation) bool {
	if len(op.calls) == 0 {
		return false
	}
	c := op.calls[len(op.calls)-1]
	return c.reply == nil || r.events[c.replied].At-c.at > r.deadline()
}
