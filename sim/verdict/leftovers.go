package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/trace"
)

// timedOut is the error that Velero stores with an operation that it gave up: getBackupItemOperationProgress,
// pkg/controller/backup_operations_controller.go, and its twin for restores.
const timedOut = "Asynchronous action timed out"

// uncancelled finds the operations that Velero has stored as timed out, and on which Cancel was never called.
func (r *run) uncancelled() []Finding {
	var found []Finding
	for _, o := range r.objects {
		if o.store == nil {
			continue
		}
		for _, op := range o.store.Operations {
			started := o.byID[operationID{op.Plugin, op.ID}]
			if op.Error == timedOut && !started.cancelled() && !started.said(timedOut) {
				found = append(found, r.atEnd("contract", o.name,
					fmt.Sprintf("Cancel of operation %s of %s for %s, stored as timed out", op.ID, op.Plugin, op.Item), "no Cancel"))
			}
		}
	}
	return found
}

// said reports whether the plugin has answered with that error itself.
func (op *operation) said(text string) bool {
	return op != nil && slices.ContainsFunc(op.calls, func(c *call) bool {
		return c.reply != nil && (c.reply.Error == text || c.reply.Progress != nil && c.reply.Progress.Error == text)
	})
}

// leftovers finds the plugin processes that a server which stopped gracefully has left running: those that the trace saw
// start and never end, and those with a call still in flight. (Plugin manager CleanupClients, pkg/plugin/clientmgmt.)
func (r *run) leftovers() []Finding {
	type process struct {
		incarnation int
		name        string
	}
	running := map[process]int{}
	graceful := map[int]int{} // incarnation → the event of its stop
	for i, e := range r.events {
		if e.Process == nil {
			continue
		}
		p := process{e.Incarnation, e.Process.Name}
		switch {
		case p.name == server && e.Process.State == stopped:
			graceful[e.Incarnation] = i
		case p.name == server || e.Process.State == trace.ProcessFailed:
		case e.Process.State == started:
			running[p]++
		default:
			running[p]--
		}
	}
	why := map[process]string{}
	for p, n := range running {
		if n > 0 {
			why[p] = fmt.Sprintf("%d still running", n)
		}
	}
	for _, o := range r.callers() {
		for _, c := range o.calls {
			p := process{c.incarnation, c.Plugin}
			if n, known := running[p]; c.reply == nil && (!known || n > 0) {
				why[p] = fmt.Sprintf("still in %s, called at %s", c.describe(), c.at)
			}
		}
	}
	var found []Finding
	byName := func(a, b process) int {
		return cmp.Or(cmp.Compare(a.incarnation, b.incarnation), cmp.Compare(a.name, b.name))
	}
	for _, p := range slices.SortedFunc(maps.Keys(why), byName) {
		if i, ok := graceful[p.incarnation]; ok {
			found = append(found, r.finding("contract", "", i,
				fmt.Sprintf("the process of plugin %s ends when the server stops", p.name), why[p]))
		}
	}
	return found
}
