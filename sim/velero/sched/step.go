package sched

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// step is a goroutine parked before it acts.
type step struct {
	actor     actor
	what      string
	apart     bool   // it is not held by a pause
	turn      int    // in which it was parked
	stack     uint32 // a hash, taken when nothing else tells the step apart; 0: not yet
	orders    chan order
	announced bool      // the policy has seen it
	notBefore time.Time // latency that the policy gave it
}

// order is what the scheduler tells a parked goroutine.
type order int

const (
	proceed  order = iota
	fail           // draining
	identify       // send your callers, and stay
)

func (c *step) String() string {
	return fmt.Sprintf("%d %s %s #%08x", c.actor.proc.n, c.actor.name, c.what, c.stack)
}

// equal reports whether nothing but their stacks can tell the steps apart.
func (c *step) equal(d *step) bool { return c.actor == d.actor && c.what == d.what && c.turn == d.turn }

func (c *step) compare(d *step) int {
	return cmp.Or(
		cmp.Compare(c.actor.proc.n, d.actor.proc.n), strings.Compare(c.actor.name, d.actor.name),
		strings.Compare(c.what, d.what), cmp.Compare(c.turn, d.turn), cmp.Compare(c.stack, d.stack))
}

// sort sorts the parked steps, so that the order in which they came does not count; s.mu is held. A stack is dear to take:
// only those steps are asked for theirs that are equal without.
func (s *Scheduler) sort() error {
	slices.SortFunc(s.parked, (*step).compare)
	asked := false
	for i := range s.parked[1:] {
		if a, b := s.parked[i], s.parked[i+1]; !a.actor.proc.dead && a.equal(b) {
			for _, c := range []*step{a, b} {
				if c.stack == 0 {
					c.orders <- identify
					c.stack = s.hash(<-s.callers)
					asked = true
				}
			}
		}
	}
	if !asked {
		return nil
	}
	slices.SortFunc(s.parked, (*step).compare)
	for i := range s.parked[1:] {
		if a, b := s.parked[i], s.parked[i+1]; !a.actor.proc.dead && a.compare(b) == 0 {
			return fmt.Errorf("%w: %v", ErrTie, a)
		}
	}
	return nil
}

// stack is the callers of a step. It tells apart goroutines that make equal calls.
type stack [48]uintptr

// hash is a hash of the names of the functions on the stack, so that it is the same in every build; s.mu is held.
func (s *Scheduler) hash(st stack) uint32 {
	if h, ok := s.stacks[st]; ok {
		return h
	}
	h := uint32(2166136261)
	n := slices.Index(st[:], 0)
	if n < 0 {
		n = len(st)
	}
	frames := runtime.CallersFrames(st[:n])
	for {
		f, more := frames.Next()
		for i := range len(f.Function) {
			h = (h ^ uint32(f.Function[i])) * 16777619
		}
		if !more {
			break
		}
	}
	s.stacks[st] = h
	return h
}
