package contract

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// Evidence is what a plugin was seen to do.
type Evidence struct {
	// Direct is the trace of the direct calls (sim/plugintest/exercise); the zero Trace: none were made.
	Direct trace.Trace
	// Within is how long operations were asked for their progress then, Call how long a call might take, and CancelWithin how long an operation
	// might go on after Cancel.
	Within, Call, CancelWithin time.Duration
	// Runs are those on a server.
	Runs []Run
}

// Run is a run on a server, with the plugin's calls in its trace.
type Run struct {
	Scenario *scenario.Scenario
	Trace    trace.Trace
	Verdict  verdict.Verdict
}

// seen is the evidence, folded.
type seen struct {
	Evidence
	plugins    []trace.Plugin
	calls      []*call
	operations []*operation
	processes  []process
	left       []trace.Left
}

// call is a call of the plugin, and what came of it.
type call struct {
	trace.Call
	run    string // the scenario's name; empty: it was made directly
	object string
	at     trace.Time
	reply  *trace.Return // nil: it has not returned
	back   trace.Time
	before int // how many of the plugin's processes had ended
}

// process is a process of the plugin that has ended.
type process struct {
	name, state string
	at          trace.Time
	during      *call // the call before its end
}

// operation is one that Execute has started, or that was asked after.
type operation struct {
	id      string
	execute *call // that has started it; nil: none has
	polls   []*call
	cancels []*call
}

type operationKey struct{ run, object, plugin, id string }

func fold(e Evidence, names func(string) bool) *seen {
	s := &seen{Evidence: e}
	byID := map[operationKey]*operation{}
	s.fold(e.Direct, "", names, byID)
	for _, r := range e.Runs {
		s.fold(r.Trace, r.Scenario.Metadata.Name, names, byID)
	}
	return s
}

func (s *seen) fold(t trace.Trace, run string, names func(string) bool, byID map[operationKey]*operation) {
	open := map[int]*call{}
	var last *call
	for _, e := range t.Events {
		switch {
		case e.Plugin != nil:
			s.plugins = append(s.plugins, *e.Plugin)
		case e.Call != nil && names(e.Call.Plugin):
			c := &call{Call: *e.Call, run: run, object: e.Object, at: e.At, before: len(s.processes)}
			last, open[c.ID] = c, c
			s.calls = append(s.calls, c)
			if c.Method == "Progress" || c.Method == "Cancel" {
				op := s.operation(byID, c, c.Operation)
				if c.Method == "Progress" {
					op.polls = append(op.polls, c)
				} else {
					op.cancels = append(op.cancels, c)
				}
			}
		case e.Return != nil && open[e.Return.ID] != nil:
			c := open[e.Return.ID]
			delete(open, e.Return.ID)
			c.reply, c.back = e.Return, e.At
			if c.Method == "Execute" && e.Return.Operation != "" {
				if op := s.operation(byID, c, e.Return.Operation); op.execute == nil {
					op.execute = c
				}
			}
		case e.Process != nil && names(e.Process.Name) && e.Process.State != "started":
			s.processes = append(s.processes, process{e.Process.Name, e.Process.State, e.At, cmp.Or(oldest(open, e.Process.Name), last)})
			if e.Process.State != "stopped" { // what was called, it has not answered
				maps.DeleteFunc(open, func(_ int, c *call) bool { return c.Plugin == e.Process.Name })
			}
		case e.Left != nil:
			s.left = append(s.left, *e.Left)
		}
	}
}

// oldest is the plugin's first call that has not returned; nil: all have. Others may have been made, and have returned, since.
func oldest(open map[int]*call, plugin string) (first *call) {
	for _, c := range open {
		if c.Plugin == plugin && (first == nil || c.ID < first.ID) {
			first = c
		}
	}
	return first
}

// operation is the one of that ID, of the call's object; of a direct call that asks after it, the object of the one that has started it.
func (s *seen) operation(byID map[operationKey]*operation, c *call, id string) *operation {
	key := operationKey{c.run, c.object, c.Plugin, id}
	if kind, name, _ := strings.Cut(c.object, "/"); c.run == "" && name == exercise.Ended {
		key.object = kind + "/" + exercise.Fitting
	}
	op := byID[key]
	if op == nil {
		op = &operation{id: id}
		byID[key] = op
		s.operations = append(s.operations, op)
	}
	return op
}

// in are the calls of a method in an exercise; empty: in all of them, and in runs.
func (s *seen) in(exercise, method string) (calls []*call) {
	for _, c := range s.calls {
		if c.Method == method && (exercise == "" || c.run == "" && c.exercise() == exercise) {
			calls = append(calls, c)
		}
	}
	return calls
}

// exercise that the call was made in, if it was made directly.
func (c *call) exercise() string {
	_, name, _ := strings.Cut(c.object, "/")
	return strings.TrimPrefix(name, "deleted-")
}

// started are the operations that Execute has started, in an exercise; empty: in all, and in runs.
func (s *seen) started(exercise string) (operations []*operation) {
	for _, op := range s.operations {
		if op.execute != nil && (exercise == "" || op.execute.run == "" && op.execute.exercise() == exercise) {
			operations = append(operations, op)
		}
	}
	return operations
}

// replies are what Progress has reported of the operation, in order, without errors.
func (op *operation) replies() (replies []*call) {
	for _, c := range op.polls {
		if c.reply != nil && c.reply.Progress != nil && c.reply.Error == "" {
			replies = append(replies, c)
		}
	}
	return replies
}

// last is the last poll; nil: there was none.
func (op *operation) last() *call {
	if len(op.polls) == 0 {
		return nil
	}
	return op.polls[len(op.polls)-1]
}

// ended is the first poll that has reported the end; nil: none has.
func (op *operation) ended() *call {
	i := slices.IndexFunc(op.polls, func(c *call) bool { return c.reply != nil && c.reply.Progress != nil && c.reply.Progress.Completed })
	if i < 0 {
		return nil
	}
	return op.polls[i]
}

// String says what was called, where and when, and what came of it.
func (c *call) String() string {
	what := c.Method
	for _, of := range []string{c.Item, c.Operation} {
		if of != "" {
			what += " " + of
		}
	}
	if c.Phase != "" {
		what += " in phase " + c.Phase
	}
	return fmt.Sprintf("%s at %s of %s: %s: %s", c.Plugin, c.at, cmp.Or(c.run, c.exercise()), what, c.outcome())
}

func (c *call) outcome() string {
	switch r := c.reply; {
	case r == nil:
		return "it has not returned"
	case r.Error != "":
		return "error: " + firstLine(r.Error)
	case r.Progress != nil:
		return report(*r.Progress)
	case r.Operation != "":
		return "operation " + r.Operation
	}
	return "done"
}

// report is a progress in words.
func report(p trace.Progress) string {
	s := fmt.Sprintf("%d of %d", p.Done, p.Of)
	if p.Completed {
		s += ", completed"
	}
	if p.Error != "" {
		s += ", error: " + firstLine(p.Error)
	}
	return s
}

// firstLine of a text, which may have a stack.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
