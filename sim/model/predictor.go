package model

import (
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

const (
	maxPredicted = 200_000 // states
	maxFaults    = 32
)

// predictor explores the machine as far as the plugins and faults of a scenario let it.
type predictor struct {
	machine Machine
	kind    phase.Kind
	cast    cast
	faults  []consequence
	seen    map[node]bool
	todo    []node
	paths   map[string]bool // by the bytes of their phases
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
	// ended had the operations, as bits, when the pass began. On the cancelled ones Cancel was called.
	ended, cancelled uint8
	// Execute has failed, or has hung.
	failed, hung bool
}

// explore visits what the cast may come to.
func (p *predictor) explore() error {
	store := 0
	for _, f := range p.faults {
		store += len(f.inputs)
	}
	items := len(p.cast.roles)
	for _, more := range []bool{p.cast.fails, p.cast.hangs} {
		if more {
			items++
		}
	}
	faults := Budget{Crashes: uint8(len(p.faults)), Store: uint8(store)}
	p.visit(node{State: Initial(p.kind, items, faults)})
	for len(p.todo) > 0 {
		n := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		p.expand(n)
		if len(p.seen) > maxPredicted {
			return fmt.Errorf("it has more than %d states", maxPredicted)
		}
	}
	return nil
}

func (p *predictor) visit(n node) {
	if !p.seen[n] {
		p.seen[n] = true
		p.todo = append(p.todo, n)
	}
}

// expand makes every step that the scenario lets the machine make. A path ends where there is none.
func (p *predictor) expand(n node) {
	for i := range n.ops() { // the model takes the second error in a row for the last
		n.Ops[i].Erred = n.errors[i] >= phase.ProgressRetries
	}
	ends := true
	p.machine.Successors(n.State, func(step Step, after State, _ phase.Effects) {
		if next, ok := p.follow(n, step); ok {
			ends = false
			next.State = after
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
	}
}

// strikes is the fault that strikes as the phase was just written; 0: none does.
func (p *predictor) strikes(n node) uint8 {
	for i, f := range p.faults {
		if f.now && n.struck&(1<<i) == 0 && slices.Contains(f.in, n.Object.Phase) {
			return uint8(i + 1)
		}
	}
	return 0
}

// shown reports whether all faults have struck that must.
func (p *predictor) shown(n node) bool {
	for i, f := range p.faults {
		if f.surely && n.struck&(1<<i) == 0 {
			return false
		}
	}
	return true
}

// follow is what a step makes of all but the state; not ok: the scenario does not make it.
func (p *predictor) follow(n node, s Step) (node, bool) {
	switch {
	case s.Actor == Fault:
		return p.strike(n, s)
	case n.due > 0 && !n.Object.Down:
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
	case s.What == DeadlinePasses:
		return n, p.passes(n, int(n.Expired))
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
		return p.strike(n, s)
	case phase.OperationsMissing:
		return n, n.Object.Unstored
	case phase.Rejected, phase.BackupNotFound, phase.DeletionRequested:
		return n, false
	}
	return n, true
}

// strike lets a fault strike of which the step may come.
func (p *predictor) strike(n node, s Step) (node, bool) {
	for i, f := range p.faults {
		ready := n.due == 0 && !f.now || int(n.due) == i+1
		if ready && n.struck&(1<<i) == 0 && f.possible(s.Input.Input, n) {
			n.struck |= 1 << i
			n.due = 0
			if s.Input == input(phase.ServerKilled) || s.What == KilledBeforePatch {
				n.errors, n.hung = [MaxOperations]uint8{}, false
			}
			return n, true
		}
	}
	return n, false
}

// passes reports whether the operation's deadline may pass now: not while others run, or it does, that end long before.
func (p *predictor) passes(n node, i int) bool {
	if n.Object.Phase == phase.InProgress && p.cast.timeout > p.cast.first {
		return false
	}
	for j, r := range p.cast.roles[:n.Started] {
		running := n.Ops[j].Memory == Running && n.Ops[j].Said == Running
		if running && (i == j && !r.timesOut || longer(r.due, p.cast.slack, 1) < p.cast.timeout) {
			return false
		}
	}
	return true
}

// answer is what the plugin of an operation answers.
func (p *predictor) answer(n node, s Step) (node, bool) {
	i := int(s.Operation - 1)
	r := p.cast.roles[i]
	call := int(n.calls[i]) + 1
	counted := !p.cast.killed && call < 200
	hangs, mustHang := r.hangs.strikes(call, counted)
	errs, mustErr := r.errors.strikes(call, counted)
	forgot, mustForget := r.forgotten.strikes(call, counted)
	hangsInCancel, mustHangInCancel := r.cancels.strikes(1, !p.cast.killed)
	n.calls[i] = uint8(min(call, r.lastCall()))
	answers := !mustHang && !mustErr && !mustForget
	switch s.Input {
	case input(phase.ProgressHung):
		return n, hangs
	case input(phase.ProgressErrored), input(phase.RetriesExhausted):
		n.errors[i]++
		return n, (errs || forgot) && !mustHang
	}
	n.errors[i] = 0
	cancelled := n.cancelled&(1<<i) != 0
	switch {
	case !answers:
		return n, false
	case s.What == StillRunning:
		return n, r.due > 0 || !r.completes && !r.fails
	case s.Input == input(phase.ProgressCompleted):
		return n, r.completes && p.ends(n, i, call) || cancelled && r.afterCancel == scenario.Completes
	case s.Input == input(phase.ProgressFailed):
		return n, r.fails && p.ends(n, i, call) || cancelled && r.afterCancel == scenario.Fails
	}
	n.cancelled |= 1 << i
	if s.Input == input(phase.CancelHung) {
		return n, hangsInCancel
	}
	return n, r.timesOut && !mustHangInCancel
}

// lastCall is the number of a call from which on all calls are alike.
func (r role) lastCall() int {
	last := 1
	for _, m := range []misbehaviour{r.errors, r.forgotten, r.hangs} {
		if m.from > 0 {
			last = max(last, m.from+m.times)
		}
	}
	return min(last, 200)
}

// ends reports whether a poll may find the operation's end: it is due, and all others were found before that end long before.
func (p *predictor) ends(n node, i, call int) bool {
	due := p.cast.roles[i].due
	if n.Object.Phase == phase.InProgress && due > p.cast.first {
		return false
	}
	if polls := longer(p.cast.slack, poll, call); due > polls && call < p.cast.roles[i].lastCall() {
		return false
	}
	for j, r := range p.cast.roles[:n.Started] {
		if n.ended&(1<<j) == 0 && longer(r.due, p.cast.slack, 1) < due {
			return false
		}
	}
	return true
}

// phases are those of a path.
func phases(path string) []phase.Phase {
	ps := make([]phase.Phase, len(path))
	for i := range len(path) {
		ps[i] = phase.Phase(path[i])
	}
	return ps
}
