package model

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
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
// reply is taken from the trace, and until they do, the object does not move; what the trace does not show, such as a pass that
// writes nothing, may have happened or not. Faults that it does not show have not happened. Nil: the whole trace fits, or that up to a
// change that was made by what the object was before it, or to what two servers do to it, as from then on two runs of the object may go on
// at once. Which pre- and post-actions are called for it, the plugins say:
// those of [scenario.Scenario.ActionsOf].
func Check(rules phase.Rules, object string, t trace.Trace, plugins ...scenario.Plugin) (*Misfit, error) {
	kind := kindOf(object)
	acting, err := actionsOf(object, plugins)
	if err != nil {
		return nil, err
	}
	initial := phase.Initial(kind)
	initial.Actions = acting.due()
	c := checker{
		rules: rules, kind: kind, acting: acting, acted: map[action]acted{}, frontier: map[phase.State]bool{initial: true}, up: true, dead: map[int]bool{}, shown: map[phase.Phase]bool{},
		deadline: t.Header.Scaled(phase.CallDeadline), open: map[int]call{}, started: map[string]int{}, ended: map[string]int{}, errors: map[string]int{}, missed: map[string]int{},
	}
	servers, unfenced := newServers(object), phase.Named(phase.ServersNotFenced).Deviates(rules)
	for i, e := range t.Events {
		if _, contested := servers.contest(i, e); contested && unfenced {
			return nil, nil
		}
		c.up = len(servers.up) > 0 || len(c.dead) == 0
		if e.Process == nil && e.Fault == nil && e.Object != object && (e.Store == nil || e.Store.Error == "" && !readsOperations(e, object)) {
			continue
		}
		if e.Fault != nil && kills(t.Events[i+1:]) { // no access fails by it
			continue
		}
		c.giveUp(e.At)
		before := maps.Clone(c.frontier)
		seen := c.event(e)
		switch {
		case c.repeated:
			return nil, nil
		case len(c.frontier) == 0:
			c.frontier = before
			return &Misfit{Event: i, Seen: seen, Allowed: c.allowed(e)}, nil
		case len(c.frontier) > maxFrontier:
			return nil, ErrFrontier
		}
	}
	return nil, nil
}

// readsOperations reports whether the operations controller reads what is stored of the object's operations.
func readsOperations(e trace.Event, object string) bool {
	return e.Store.Verb == "get" && strings.HasSuffix(e.Store.Controller, "-operations") && strings.HasSuffix(e.Store.Key, "itemoperations.json.gz") &&
		strings.Contains(e.Store.Key, "/"+folder(object))
}

// kills reports whether what follows a fault is the end of the server, and of its plugins before it.
func kills(events []trace.Event) bool {
	for _, e := range events {
		if e.Process == nil || e.Process.State != "killed" {
			return false
		}
		if e.Process.Name == "server" {
			return true
		}
	}
	return false
}

// checker holds the states that fit so far.
type checker struct {
	rules    phase.Rules
	kind     phase.Kind
	frontier map[phase.State]bool
	up       bool                 // a server runs
	gone     bool                 // the object is: what still goes on for it is not judged
	dead     map[int]bool         // the incarnations that have ended
	deadline trace.Time           // of calls, in the reading that has one
	shown    map[phase.Phase]bool // the phases that the object has had
	repeated bool                 // something was done to the object by what it was before, which nothing else explains
	failing  bool                 // a fault has struck or an access has failed: what follows from one is possible
	read     bool                 // the operations controller has read what is stored of the operations
	open     map[int]call
	acting   acting           // the plugins with pre- and post-actions
	acted    map[action]acted // what this server has seen of them
	// By plugin: how many of its processes did not start.
	missed map[string]int
	// By plugin and operation: how many were started, how many the server knows to have ended, and how many errors Progress has
	// returned in a row.
	started, ended, errors map[string]int
}

// event takes an event in, and says in words what it was.
func (c *checker) event(e trace.Event) string {
	switch {
	case e.Fault != nil && e.Fault.Missed == "", e.Store != nil && e.Store.Error != "":
		c.failing = true
	case e.Store != nil:
		c.read = true
	case e.Write != nil && e.Write.Error != "":
		c.failing = true
	case e.Process != nil && e.Process.Name == "server":
		c.dead[e.Incarnation] = e.Process.State != "started"
		c.process(e.Incarnation, e.Process.State == "started")
	case e.Process != nil && e.Process.State == trace.ProcessFailed && !c.gone:
		c.unserved(e.Process.Name)
	case e.Deleted != nil:
		return c.deleted(e.Incarnation > 0)
	case e.Phase != nil && c.gone:
		return c.synced(e.Phase)
	case c.gone:
	case e.Phase != nil, e.Call != nil, e.Return != nil:
		seen := c.act(e)
		if e.Incarnation > 0 && c.dead[e.Incarnation] {
			c.frontier = nil
			seen += ", by a server that has ended"
		}
		return seen
	}
	return ""
}

// deleted is the end of an object. Velero deletes a restore when the user has, whatever its phase; a backup that is Deleting, or that
// has ended, and is gone from the object store.
func (c *checker) deleted(byVelero bool) string {
	next := map[phase.State]bool{}
	for s := range c.closed() {
		if s.Marked && !s.Ended() { // its finalizer holds it until the post-actions were called
			continue
		}
		if !byVelero || s.Kind == phase.Restore || s.Deleted || s.Phase == phase.Completed || s.Phase == phase.PartiallyFailed {
			next[s] = true
		}
	}
	c.frontier, c.gone = next, true
	return "deleted"
}

// synced is a backup that is created anew, as its stored copy has it.
func (c *checker) synced(p *trace.Phase) string {
	next := map[phase.State]bool{}
	for _, end := range append(stored(), phase.FailedPreBackupActions) {
		if p.From == "" && p.To == end.String() && c.kind == phase.Backup {
			next[phase.State{Phase: end}] = true
		}
	}
	c.frontier, c.gone = next, false
	return fmt.Sprintf("%s, of an object that was gone", p.To)
}

// act is something that the server does.
func (c *checker) act(e trace.Event) string {
	switch {
	case e.Phase != nil:
		c.phase(e.Phase)
		return fmt.Sprintf("%s → %s", named(e.Phase.From), e.Phase.To)
	case e.Call != nil:
		return c.call(call{Call: *e.Call, at: e.At, incarnation: e.Incarnation})
	}
	called, ok := c.open[e.Return.ID]
	if !ok {
		c.frontier = nil
		return "the return of a call that was not open"
	}
	delete(c.open, e.Return.ID)
	return c.reply(called, *e.Return)
}

// process is the start or the end of a server.
func (c *checker) process(incarnation int, started bool) {
	c.read = false
	if started {
		return
	}
	killed := c.after(phase.ServerKilled)
	for s := range c.closed() { // it may have died between the upload and the patch
		if lost, _ := c.rules.Step(s, phase.PassPatchLost); !c.busy() && c.rules.Enabled(s, phase.PassPatchLost) {
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
	maps.DeleteFunc(c.open, func(_ int, called call) bool { return called.incarnation == incarnation })
	clear(c.acted)
	clear(c.ended) // it may not have told anybody
	clear(c.errors)
}

// phase is a change of phase: one of the server's steps has made it.
func (c *checker) phase(p *trace.Phase) {
	before := c.closed()
	c.frontier = c.changed(before, p, c.steps())
	if len(c.frontier) == 0 {
		c.frontier = c.changed(before, p, c.repeats())
		c.repeated = len(c.frontier) > 0
	}
	if to, err := phase.Parse(p.To); err == nil {
		c.shown[to] = true
	}
}
