package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// Misfit is the first event of a trace that the machine does not allow.
type Misfit struct {
	// Event is its index.
	Event int
	Seen  string
	// Allowed is what could have been there instead, of the same kind.
	Allowed []string
}

// maxFrontier is how many states a trace may leave open.
const maxFrontier = 10_000

// ErrFrontier is returned for a trace that leaves too many states open.
var ErrFrontier = errors.New("more than 10,000 states fit the trace so far")

// Check follows an object of a trace (backup/NAME or restore/NAME) through every state of the machine that fits. What plugins
// reply is taken from the trace; what it does not show, such as a pass that writes nothing, may have happened or not. Faults
// that the trace does not show have not happened. Nil: the whole trace fits.
func Check(rules phase.Rules, object string, events []trace.Event) (*Misfit, error) {
	kind := phase.Backup
	if strings.HasPrefix(object, "restore/") {
		kind = phase.Restore
	}
	c := checker{rules: rules, frontier: map[phase.State]bool{phase.Initial(kind): true}, up: true, open: map[int]call{}, errors: map[string]int{}}
	for i, e := range events {
		if e.Process == nil && e.Fault == nil && e.Object != object && (e.Store == nil || e.Store.Error == "") {
			continue
		}
		before := maps.Clone(c.frontier)
		seen := c.event(e)
		switch {
		case len(c.frontier) == 0:
			c.frontier = before
			return &Misfit{Event: i, Seen: seen, Allowed: c.allowed(e)}, nil
		case len(c.frontier) > maxFrontier:
			return nil, ErrFrontier
		}
	}
	return nil, nil
}

// checker holds the states that fit so far.
type checker struct {
	rules    phase.Rules
	frontier map[phase.State]bool
	up       bool // a server runs
	failing  bool // a fault has struck or an access has failed: what follows from one is possible
	open     map[int]call
	errors   map[string]int // of Progress, in a row, by plugin and operation
}

// call is a plugin call that has not returned.
type call struct {
	trace.Call
	at trace.Time
}

// event takes an event in, and says in words what it was.
func (c *checker) event(e trace.Event) string {
	c.giveUp(e.At)
	switch {
	case e.Fault != nil && e.Fault.Missed == "", e.Store != nil:
		c.failing = true
	case e.Write != nil && e.Write.Error != "":
		c.failing = true
	case e.Process != nil && e.Process.Name == "server":
		c.process(e.Process.State == "started")
	case e.Phase != nil:
		c.phase(e.Phase)
		return fmt.Sprintf("%s → %s", named(e.Phase.From), e.Phase.To)
	case e.Call != nil:
		c.open[e.Call.ID] = call{*e.Call, e.At}
	case e.Return != nil:
		called, ok := c.open[e.Return.ID]
		if !ok {
			return ""
		}
		delete(c.open, e.Return.ID)
		return c.reply(called, *e.Return, e.At)
	}
	return ""
}

// process is the start or the end of a server.
func (c *checker) process(started bool) {
	c.up = started
	if started {
		return
	}
	clear(c.open)
	clear(c.errors)
	killed := c.after(phase.ServerKilled)
	for s := range c.closed() { // it may have died between the upload and the patch
		if lost, _ := c.rules.Step(s, phase.PassPatchLost); c.rules.Enabled(s, phase.PassPatchLost) {
			next, _ := c.rules.Step(lost, phase.ServerKilled)
			killed[next] = true
		}
	}
	for s := range c.frontier {
		if s.Down {
			killed[s] = true
		}
	}
	c.frontier = killed
}

// phase is a change of phase: one of the server's steps has made it.
func (c *checker) phase(p *trace.Phase) {
	to, err := phase.Parse(p.To)
	next := map[phase.State]bool{}
	for s := range c.closed() {
		for _, in := range c.steps() {
			if after, _ := c.rules.Step(s, in); err == nil && s.Phase != to && after.Phase == to && named(p.From) == named(written(s.Phase)) {
				next[after] = true
			}
		}
	}
	c.frontier = next
}

// steps are the inputs that may change a phase.
func (c *checker) steps() []phase.Input {
	steps := []phase.Input{
		phase.Enqueued, phase.Dequeued, phase.Requeued, phase.Validated, phase.Rejected, phase.PassEnded, phase.FinalizerSucceeded, phase.DeletionRequested,
		phase.RunFailed, // for reasons that no event shows
	}
	if c.up {
		steps = append(steps, phase.ServerStarted)
	}
	if c.failing {
		steps = append(steps, phase.LookupFailed, phase.OperationsMissing, phase.FinalUploadFailed, phase.FinalizerFailed, phase.BackupNotFound)
	}
	return steps
}

// reply is what a plugin has answered.
func (c *checker) reply(called call, r trace.Return, at trace.Time) string {
	failed := r.Error != ""
	key := called.Plugin + " " + called.Operation
	text := fmt.Sprintf("%s of %s", called.Method, called.Plugin)
	given := !c.rules.PluginCallWithoutDeadline && at-called.at > trace.Time(phase.CallDeadline)
	var next map[phase.State]bool
	switch called.Method {
	case "Execute":
		switch {
		case called.Phase != phase.InProgress.String():
			return text
		case failed:
			text, next = text+" failed", c.after(phase.ExecuteFailed)
		case r.Operation != "":
			text, next = text+" started an operation", c.after(phase.OperationStarted)
		default:
			return text
		}
	case "Cancel":
		text, next = text+" was called", c.after(phase.OperationTimedOut)
	default:
		switch {
		case failed:
			c.errors[key]++
			text, next = text+" failed", c.after(phase.ProgressErrored)
			if c.errors[key] > phase.ProgressRetries {
				maps.Copy(next, c.after(phase.RetriesExhausted))
			}
		case r.Progress == nil:
			return text
		case r.Progress.Completed && r.Progress.Error != "":
			text, next = text+" reported failure", c.after(phase.ProgressFailed)
		case r.Progress.Completed:
			text, next = text+" reported completion", c.after(phase.ProgressCompleted)
		default:
			c.errors[key] = 0
			return text
		}
	}
	if given { // nobody may wait for it any more
		maps.Copy(next, c.frontier)
	}
	c.frontier = next
	return text
}

// giveUp adds what the demanded deadline makes of calls that take longer.
func (c *checker) giveUp(now trace.Time) {
	for _, called := range c.open {
		if c.rules.PluginCallWithoutDeadline || now-called.at <= trace.Time(phase.CallDeadline) {
			continue
		}
		hung := map[string]phase.Input{"Execute": phase.ExecuteHung, "Progress": phase.ProgressHung, "Cancel": phase.CancelHung}[called.Method]
		for s := range c.after(hung) {
			next, _ := c.rules.Step(s, phase.CallTimedOut)
			c.frontier[next] = true
		}
	}
}

// after is the frontier after an input, which must be possible.
func (c *checker) after(in phase.Input) map[phase.State]bool {
	next := map[phase.State]bool{}
	for s := range c.closed() {
		if c.rules.Enabled(s, in) {
			after, _ := c.rules.Step(s, in)
			next[after] = true
		}
	}
	return next
}

// closed is the frontier, with what may have happened unseen.
func (c *checker) closed() map[phase.State]bool {
	// An item can fail for reasons of its own.
	hidden := []phase.Input{phase.PassEnded, phase.InformerResynced, phase.ExecuteFailed}
	if c.up {
		hidden = append(hidden, phase.ServerStarted)
	}
	if c.failing {
		hidden = append(hidden, phase.PassUploadFailed, phase.PassPatchLost, phase.RunPatchLost, phase.FinalPatchLost, phase.FinalUploadFailed)
		if c.up {
			hidden = append(hidden, phase.MarkLost)
		}
	}
	all := maps.Clone(c.frontier)
	for todo := slices.Collect(maps.Keys(c.frontier)); len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range hidden {
			if in == phase.ExecuteFailed && s.Errors > 0 { // once is enough
				continue
			}
			if next, _ := c.rules.Step(s, in); next.Phase == s.Phase && !all[next] {
				all[next] = true
				todo = append(todo, next)
			}
		}
	}
	return all
}

// allowed are the phases that the object could have gone to, if the event is a change of phase.
func (c *checker) allowed(e trace.Event) []string {
	if e.Phase == nil {
		return nil
	}
	var phases []string
	for s := range c.closed() {
		for _, in := range c.steps() {
			if next, _ := c.rules.Step(s, in); next.Phase != s.Phase {
				phases = append(phases, next.Phase.String())
			}
		}
	}
	slices.Sort(phases)
	return slices.Compact(phases)
}

// written is how Velero writes the phase; New is written empty.
func written(p phase.Phase) string {
	if p == phase.New {
		return ""
	}
	return p.String()
}

func named(p string) string {
	if p == "" || p == phase.New.String() {
		return "no phase"
	}
	return p
}
