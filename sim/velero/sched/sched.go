package sched

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"
)

// ErrTie is returned by Run when two goroutines are parked at steps that nothing tells apart: which one the seed picks
// would not be the same again.
var ErrTie = errors.New("two steps cannot be told apart")

// Scheduler decides which parked goroutine acts next. Make one per bubble, inside it.
type Scheduler struct {
	policy *policy
	arrive chan struct{} // a step was parked
	steps  *atomic.Int64

	mu       sync.Mutex
	parked   []*step
	draining time.Time // since when; zero: not
	drained  int       // steps refused since
	proc     int
	turn     int // how often everything was blocked
	stacks   map[stack]uint32
	callers  chan stack // of the goroutine that was told to identify itself
}

// New returns a scheduler whose choices the seed decides, with the policy that the seed stands for (see policy.go). It counts
// in steps what it lets go or, draining, refuses.
func New(seed int64, steps *atomic.Int64) *Scheduler {
	return &Scheduler{
		policy: newPolicy(seed), arrive: make(chan struct{}, 1), steps: steps, stacks: map[stack]uint32{}, callers: make(chan stack),
	}
}

// Run lets parked goroutines act, one at a time, until done reports true (Run then returns true), the virtual clock
// reaches the deadline, or ctx ends. Done is asked whenever the whole bubble is blocked. Errors: ErrTie, ctx.Err().
func (s *Scheduler) Run(ctx context.Context, done func() bool, deadline time.Time) (bool, error) {
	for {
		synctest.Wait()
		select {
		case <-s.arrive:
		default:
		}
		if done() {
			return true, nil
		}
		now := time.Now()
		if !now.Before(deadline) {
			return false, nil
		}
		if err := ctx.Err(); err != nil { // not its channel: that belongs to the world outside the bubble
			return false, err
		}
		next, wait, err := s.pick(now)
		if err != nil {
			return false, err
		}
		if next != nil {
			s.steps.Add(1)
			next.orders <- proceed
			continue
		}
		// Nothing can act now: let the virtual clock run to the next timer, latency or deadline.
		if left := deadline.Sub(now); wait <= 0 || left < wait {
			wait = left
		}
		t := time.NewTimer(wait)
		select {
		case <-s.arrive:
		case <-t.C:
		}
		t.Stop()
	}
}

// pick takes the next step out of those parked; none: how long until one's latency is over (0: none is waiting).
func (s *Scheduler) pick(now time.Time) (*step, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	if len(s.parked) == 0 {
		return nil, 0, nil
	}
	if err := s.sort(); err != nil {
		return nil, 0, err
	}
	var ready []*step
	var wait time.Duration
	for _, c := range s.parked {
		if p := c.actor.proc; p.dead || p.paused > 0 && !c.apart {
			continue
		}
		if !c.announced {
			c.announced = true
			s.policy.announce(c, now)
		}
		if d := c.notBefore.Sub(now); d > 0 {
			if wait == 0 || d < wait {
				wait = d
			}
			continue
		}
		ready = append(ready, c)
	}
	if len(ready) == 0 {
		return nil, wait, nil
	}
	c := s.policy.pick(ready)
	s.parked = slices.Delete(s.parked, slices.Index(s.parked, c), slices.Index(s.parked, c)+1)
	return c, 0, nil
}

// How long Step refuses politely once draining: in virtual time, and in steps.
const (
	patience      = time.Minute
	patienceSteps = 100_000
)

// Drain lets every goroutine that is parked go on, of every process, and everyone that comes to a step later: but Step tells
// them that it was in vain, so that they clean up after themselves and end. Those that still try after a minute of
// virtual time, as endless retries do, are ended on the spot (runtime.Goexit). What they all do is not ordered, so nothing may be
// recorded any more.
func (s *Scheduler) Drain() {
	s.mu.Lock()
	s.draining = time.Now()
	parked := s.parked
	s.parked = nil
	s.mu.Unlock()
	for _, c := range parked {
		c.orders <- fail
	}
}

// Draining reports whether Drain was called.
func (s *Scheduler) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.draining.IsZero()
}
