package model

import (
	"fmt"
	"maps"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// call is a plugin call that has not returned. Given up: the object no longer waits for it.
type call struct {
	trace.Call
	at          trace.Time
	incarnation int
	givenUp     bool
}

// operation is what the call is about.
func (c call) operation() string { return c.Plugin + " " + c.Operation }

// hung is that a call of the method does not return, which can be wherever it can be made.
var hung = map[string]phase.Input{"Execute": phase.ExecuteHung, "Progress": phase.ProgressHung, "Cancel": phase.CancelHung}

// call is a call of a plugin's method.
func (c *checker) call(called call) string {
	text := fmt.Sprintf("%s of %s was called", called.Method, called.Plugin)
	if a, ok := c.acting.of(called.Call); ok {
		return c.actionCalled(a, called)
	}
	next := map[phase.State]bool{}
	for s := range c.closed() {
		in, ok := hung[called.Method]
		possible := !ok || c.rules.Enabled(s, in)
		if called.Phase == phase.Deleting.String() { // of a DeleteItemAction
			possible = s.Phase == phase.Deleting
		}
		if possible {
			next[s] = true
		}
	}
	if op := called.operation(); (called.Method == "Progress" || called.Method == "Cancel") && c.started[op] <= c.ended[op] {
		next, text = nil, text+" for an operation that does not run"
	}
	c.frontier, c.open[called.ID] = next, called
	return text
}

// busy reports whether the server waits for a plugin: what comes after the reply, it cannot have done yet.
func (c *checker) busy() bool {
	for _, called := range c.open {
		if !called.givenUp {
			return true
		}
	}
	return false
}

// reply is what a plugin has answered.
func (c *checker) reply(called call, r trace.Return) string {
	failed := r.Error != ""
	op := called.operation()
	text := fmt.Sprintf("%s of %s", called.Method, called.Plugin)
	var next map[phase.State]bool
	if a, ok := c.acting.of(called.Call); ok {
		return c.actionReturned(a, failed)
	}
	switch called.Method {
	case "AppliesTo", "AreAdditionalItemsReady": // their errors are those of the run, or of an item, which may fail for other reasons too
		return text
	case "Execute":
		switch {
		case called.Phase != phase.InProgress.String():
			return text
		case failed:
			text, next = text+" failed", c.after(phase.ExecuteFailed)
		case r.Operation != "":
			text, next = text+" started an operation", c.after(phase.OperationStarted)
			c.started[called.Plugin+" "+r.Operation]++
		default:
			return text
		}
	case "Cancel":
		text, next = text+" returned", c.after(phase.OperationTimedOut)
		c.ended[op]++
	default:
		switch {
		case failed:
			c.errors[op]++
			text, next = text+" failed", c.after(phase.ProgressErrored)
			if c.rules.ProgressErrorIsFinal {
				c.ended[op]++
			} else if c.errors[op] > phase.ProgressRetries {
				maps.Copy(next, c.after(phase.RetriesExhausted))
			}
		case r.Progress == nil:
			return text
		case r.Progress.Completed && r.Progress.Error != "":
			text, next = text+" reported failure", c.after(phase.ProgressFailed)
			c.ended[op]++
		case r.Progress.Completed:
			text, next = text+" reported completion", c.after(phase.ProgressCompleted)
			c.ended[op]++
		default:
			c.errors[op] = 0
			return text
		}
	}
	if called.givenUp { // nobody may wait for it any more
		maps.Copy(next, c.frontier)
	}
	c.frontier = next
	return text
}

// unserved is a process of a plugin that does not start. A pass that wanted it for an operation goes on as after an error of Progress; for
// which object it was started, nobody says. A run or a finalizer that wanted it fails, which needs no such event.
func (c *checker) unserved(plugin string) {
	c.missed[plugin]++
	maps.Copy(c.frontier, c.after(phase.ProgressErrored))
	if c.missed[plugin] > phase.ProgressRetries {
		maps.Copy(c.frontier, c.after(phase.RetriesExhausted))
	}
}

// giveUp adds what the demanded deadline makes of calls that take longer.
func (c *checker) giveUp(now trace.Time) {
	for id, called := range c.open {
		if c.rules.PluginCallWithoutDeadline || called.givenUp || now-called.at <= c.deadline {
			continue
		}
		if in, ok := hung[called.Method]; ok {
			for s := range c.after(in) {
				next, _ := c.rules.Step(s, phase.CallTimedOut)
				c.frontier[next] = true
			}
		}
		called.givenUp = true
		c.open[id] = called
	}
}
