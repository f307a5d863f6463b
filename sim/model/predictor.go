package model

import (
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/phase"
)

const (
	maxPredicted = 200_000 // states, in all casts
	maxFaults    = 32
)

// predictor explores the machine as far as the plugins and faults of a scenario let it.
type predictor struct {
	machine Machine
	kind    phase.Kind
	begins  beginning
	cast    cast
	faults  []consequence
	seen    map[node]bool // in this cast
	visited int           // in all
	todo    []node
	paths   map[string]bool // by the bytes of their phases
	// stays are the phases in which it may hold others for ever; holdsGone: its finalizer may, when it is gone.
	stays     map[phase.Phase]bool
	holdsGone bool
	hooked    bool // its finalizer may meet errors of hooks
}

// node is a state of the machine, and what the scenario's plugins and faults have done so far. It is comparable.
type node struct {
	State
	path string // a byte for each phase that was written
	// struck are the faults that have, as bits. Due is the fault that strikes now, from 1.
	struck uint32
	due    uint8
	// Of each operation: its calls of Progress, and the errors in a row among them.
	calls, errors [MaxOperations]uint8
	// Operations, as bits: those that are past their deadline, that had ended when the pass began, that Cancel was called on.
	expired, ended, cancelled uint8
	// Execute has failed, or has hung; the server was killed.
	failed, hung, killed bool
	// deleted: only what had begun before still writes the phase.
	deleted bool
}

// explore visits what the cast may come to.
func (p *predictor) explore() error {
	store, api := 1, len(p.faults)
	for _, f := range p.faults {
		store += len(f.inputs)
		if f.again { // as often as operations end makes a difference
			api += MaxOperations
			store += MaxOperations
		}
	}
	items := len(p.cast.roles)
	for _, more := range []bool{p.cast.fails, p.cast.hangs} {
		if more {
			items++
		}
	}
	faults := Budget{Crashes: uint8(len(p.faults)), API: uint8(api), Store: uint8(store)}
	clear(p.seen)
	first := node{State: Initial(p.kind, items, faults)}
	for i, pre := range p.cast.prepares {
		if pre != (chances{}) {
			first.Object.Actions[i].Pre = phase.ActionDue
		}
	}
	p.visit(first)
	for len(p.todo) > 0 {
		n := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		p.expand(n)
		if p.visited > maxPredicted {
			return fmt.Errorf("it has more than %d states", maxPredicted)
		}
	}
	return nil
}

func (p *predictor) visit(n node) {
	if !p.seen[n] {
		p.seen[n] = true
		p.visited++
		p.todo = append(p.todo, n)
	}
}

// expand makes every step that the scenario lets the machine make. A path ends where there is none.
func (p *predictor) expand(n node) {
	for i := range n.ops() { // the model takes the second error in a row for the last
		n.Ops[i].Erred = n.errors[i] >= phase.ProgressRetries
	}
	ends := true
	for i := range n.ops() {
		if n.expired&(1<<i) == 0 && p.passes(n, i) {
			next := n
			next.expired |= 1 << i
			p.visit(next)
			ends = false
		}
	}
	p.ask(n)
	if n.deleted {
		p.gone(n.path)
		p.back(n)
	}
	if p.cast.resyncs && n.Object.Forgotten {
		next := n
		if next.Object, _ = p.machine.Spec.Step(n.Object, phase.InformerResynced); next != n {
			p.visit(next)
		}
	}
	p.machine.Successors(p.clocked(n), func(step Step, after State, _ phase.Effects) {
		for _, next := range p.follows(n, step) {
			ends = false
			next.State = after
			next.Expired = 0
			changed := after.Object.Phase != n.Object.Phase
			if changed {
				next.path += string([]byte{byte(after.Object.Phase)})
			}
			if changed || next.struck != n.struck {
				next.due = p.strikes(next)
			}
			p.visit(next)
		}
	})
	if ends && p.shown(n) {
		p.paths[n.path] = true
		if !n.deleted || n.Object.Hung != phase.NoCall { // the call that is waited for does not end with the object
			p.stays[n.Object.Phase] = true
		}
	}
}

// ask lets the user's requests be granted.
func (p *predictor) ask(n node) {
	for i, f := range p.faults {
		if n.due > 0 || n.struck&(1<<i) != 0 || n.deleted {
			continue
		}
		for _, in := range []phase.Input{phase.DeletionRequested, phase.DeletionOvertaken, phase.Described} {
			asked := in
			if in == phase.DeletionOvertaken {
				asked = phase.DeletionRequested
			}
			if n.InPass && n.Object.Hung == phase.NoCall || !f.possible(asked, n) || !p.machine.Spec.Enabled(n.Object, in) {
				continue
			}
			next := n
			next.struck |= 1 << i
			next.Object, _ = p.machine.Spec.Step(n.Object, in)
			switch in {
			case phase.Described:
				next.save()
			case phase.DeletionOvertaken: // what goes on, goes on as if there were no deletion
				next.Object, next.deleted = n.Object, true
				fallthrough
			default:
				next.path += string([]byte{byte(phase.Deleting)})
			}
			p.visit(next)
		}
	}
}

// clocked is the state as the machine takes it: it knows no more than how many of the oldest operations are past their deadline,
// and here each one's passes on its own. So it is told what holds for the one whose turn it is, and of no deadline that is to pass.
func (p *predictor) clocked(n node) State {
	s := n.State
	s.Expired = s.Started
	if s.InPass && s.Asked < s.Started && n.expired&(1<<s.Asked) == 0 {
		s.Expired = 0
	}
	return s
}

// strikes is the fault that strikes as the phase was just written; 0: none does.
func (p *predictor) strikes(n node) (due uint8) {
	for i, f := range p.faults {
		if f.now && n.struck&(1<<i) == 0 && slices.Contains(f.in, n.Object.Phase) && f.reached(n.path) {
			if slices.Contains(f.inputs, phase.ServerKilled) {
				return uint8(i + 1)
			}
			if due == 0 {
				due = uint8(i + 1)
			}
		}
	}
	return due
}

// shown reports whether all faults have struck that must.
func (p *predictor) shown(n node) bool {
	for i, f := range p.faults {
		if f.never || f.surely && n.struck&(1<<i) == 0 || f.reaches && !f.reached(n.path) {
			return false
		}
	}
	return true
}

func (p *predictor) follows(n node, s Step) []node {
	if s.Input == input(phase.RunFailed) && (p.cast.doomed && (p.cast.early || p.kind == phase.Restore || !n.Object.Prepares()) || s.Actor == Server) { // a fault may strike what it still does
		return append(p.strike(n, s), n)
	}
	if s.Actor == Fault || s.Input == input(phase.FinalizerFailed) && !n.Object.ContentsLost {
		struck := p.strike(n, s)
		if s.Actor != Fault && n.due == 0 && p.hooked || s.Input == input(phase.ContentsDisappeared) && p.cast.barred {
			struck = append(struck, n)
		}
		return struck
	}
	if next, ok := p.follow(n, s); ok {
		return []node{next}
	}
	return nil
}

// follow is what a step makes of all but the state; not ok: the scenario does not make it.
func (p *predictor) follow(n node, s Step) (node, bool) {
	switch {
	case n.due > 0 && !n.Object.Down, p.cast.doomed && n.Object.Phase == phase.InProgress && !n.Object.Down && (p.cast.early || !n.Object.Prepares()):
		return n, false
	}
	if s.Operation > 0 && s.Actor == Plugin && s.Input != input(phase.OperationStarted) {
		return p.answer(n, s)
	}
	switch {
	case s.What == PollBegins:
		n.ended = 0
		for i, op := range n.ops() {
			if op.Memory != Running || op.Said != Running {
				n.ended |= 1 << i
			}
		}
		return n, true
	case !s.Input.Some:
		return n, true
	}
	switch s.Input.Input {
	case phase.OperationStarted:
		return n, int(n.Started) < len(p.cast.roles)
	case phase.ExecuteFailed:
		ok := p.cast.fails && !n.failed && int(n.Started) == len(p.cast.roles)
		n.failed = true
		return n, ok
	case phase.ExecuteHung:
		ok := p.cast.hangs && int(n.Items) > 0 && int(n.Started) == len(p.cast.roles) && n.failed == p.cast.fails ||
			p.cast.hangsLate && n.Items == 0 && !n.hung
		n.hung = n.Items == 0
		return n, ok
	case phase.FinalizerSucceeded:
		return n, n.hung || !p.cast.hangsThen
	case phase.FinalizerFailed:
		if n.Object.ContentsLost {
			return n, true
		}
		return n, false
	case phase.OperationsMissing:
		return n, n.Object.Unstored
	case phase.PreActionSucceeded:
		return n, p.cast.prepares[calledNow(n.Object)].succeeds
	case phase.PreActionFailed:
		return n, p.cast.prepares[calledNow(n.Object)].fails
	case phase.Validated:
		return n, p.begins.validated
	case phase.Rejected:
		return n, p.begins.rejected
	case phase.BackupUnfinished:
		return n, p.begins.unfinished
	case phase.BackupNotFound:
		return n, slices.ContainsFunc(p.faults, func(f consequence) bool { return slices.Contains(f.inputs, phase.BackupNotFound) })
	case phase.DeletionRequested:
		return n, false
	}
	return n, true
}

// strike lets a fault strike of which the step may come.
func (p *predictor) strike(n node, s Step) (all []node) {
	for i, f := range p.faults {
		ready := (n.due == 0 && !f.now || int(n.due) == i+1) && !(f.late && s.Actor == Fault && n.Object.Prepares())
		if ready && (f.again || n.struck&(1<<i) == 0) && f.possible(s.Input.Input, n) {
			next := n
			next.struck |= 1 << i
			next.due = 0
			if s.Input == input(phase.ServerKilled) || s.What == KilledBeforePatch {
				next.errors, next.hung, next.killed = [MaxOperations]uint8{}, false, true
			}
			all = append(all, next)
		}
	}
	return all
}

// phases are those of a path.
func phases(path string) []phase.Phase {
	ps := make([]phase.Phase, len(path))
	for i := range len(path) {
		ps[i] = phase.Phase(path[i])
	}
	return ps
}
