package model

import (
	"time"

	"github.com/velosim/velosim/sim/scenario"
)

// role is what an operation does.
type role struct {
	due                               time.Duration // its age at its end, or at its timeout
	completes, fails, timesOut        bool          // how it may end
	errors, forgotten, hangs, cancels misbehaviour  // of Progress; of Cancel, which hangs
	afterCancel                       scenario.AfterCancel
	// unserved: any pass but the first may find no process of its plugin, which then counts no call of Progress.
	unserved bool
}

// role is what the plugin's operations do.
func (c *casting) role(p scenario.Plugin, in cast) role {
	r := role{due: in.timeout, timesOut: true, afterCancel: p.Operation.AfterCancel}
	if n := len(p.Operation.Progress); n > 0 {
		last := p.Operation.Progress[n-1]
		age := last.At.Duration
		if (last.Completed || last.Failed != "") && age <= longer(in.timeout, in.slack, 1) {
			r.completes, r.fails = last.Completed, last.Failed != ""
			r.due = min(age, in.timeout)
			r.timesOut = in.timeout <= longer(age, in.slack, 1)
		}
	}
	if p.Operation.Forgets {
		r.forgotten = misbehaviour{from: 2} // the first poll is made by the process that has started it
	}
	switch m, hangs := c.strikes(p.Progress); {
	case hangs:
		r.hangs = m
	default:
		r.errors = m
	}
	if p.Operation.Unknown {
		r.errors = misbehaviour{from: 1}
	}
	if m, hangs := c.strikes(p.Cancel); hangs {
		r.cancels = m
	}
	c.unserved(&r, p)
	return r
}

// misbehaviour strikes the calls from one on, and so many; times 0: all from there on. The zero value strikes none.
type misbehaviour struct{ from, times int }

// strikes reports whether call n may be struck, or must be.
func (m misbehaviour) strikes(n int, counted bool) (may, must bool) {
	switch {
	case m.from == 0:
		return false, false
	case !counted:
		return true, m.from == 1 && m.times == 0
	}
	hit := n >= m.from && (m.times == 0 || n-m.from < m.times)
	return hit, hit
}

// struck is how many of n calls are.
func (m misbehaviour) struck(n int) int {
	hit := 0
	for i := range n {
		if may, _ := m.strikes(i+1, true); may {
			hit++
		}
	}
	return hit
}
