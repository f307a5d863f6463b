package model

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// passes reports whether the operation's deadline may pass now: not while others run, or it does, that end long before. In a pass it
// may, if its turn is to come and the pass is slow.
func (p *predictor) passes(n node, i int) bool {
	waits := n.Object.Phase == phase.InProgress && n.Items == 0 || slices.Contains(waiting(), n.Object.Phase)
	switch {
	case !waits || n.Object.Down || n.Object.Hung != phase.NoCall || n.due > 0:
		return false
	case n.InPass && (int(n.Asked) != i || p.cast.first <= early):
		return false
	case n.Object.Phase == phase.InProgress && p.cast.timeout > p.cast.first, !p.late(n, i, p.cast.timeout):
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

// late reports whether the operation was asked often enough for its age, where its plugin counts. The first pass may come as late as the
// items take.
func (p *predictor) late(n node, i int, age time.Duration) bool {
	calls := int(n.calls[i])
	return n.Object.Phase == phase.InProgress && age <= p.cast.first || age <= longer(p.cast.slack, p.cast.poll, calls+1) || calls >= p.cast.roles[i].lastCall() || n.killed
}

// answer is what the plugin of an operation answers.
func (p *predictor) answer(n node, s Step) (node, bool) {
	i := int(s.Operation - 1)
	r := p.cast.roles[i]
	call := int(n.calls[i]) + 1
	counted := !n.killed && call < manyCalls && !r.unserved
	hangs, mustHang := r.hangs.strikes(call, counted)
	errs, mustErr := r.errors.strikes(call, counted)
	errs = errs || r.unserved && call > 1
	forgot, mustForget := r.forgotten.strikes(call, counted)
	hangsInCancel, mustHangInCancel := r.cancels.strikes(1, !n.killed)
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
		return n, r.completes && p.ends(n, i) || cancelled && r.afterCancel == scenario.Completes
	case s.Input == input(phase.ProgressFailed):
		return n, r.fails && p.ends(n, i) || cancelled && r.afterCancel == scenario.Fails
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
			last = max(last, min(m.from, manyCalls)+min(m.times, manyCalls))
		}
	}
	return min(last, manyCalls)
}

// manyCalls are more than are counted.
const manyCalls = 200

// ends reports whether a poll may find the operation's end: it is due, and all others were found before that end long before.
func (p *predictor) ends(n node, i int) bool {
	due := p.cast.roles[i].due
	if n.Object.Phase == phase.InProgress && due > p.cast.first {
		return false
	}
	if !p.late(n, i, due) {
		return false
	}
	for j, r := range p.cast.roles[:n.Started] {
		if n.ended&(1<<j) == 0 && longer(r.due, p.cast.slack, 1) < due {
			return false
		}
	}
	return true
}
