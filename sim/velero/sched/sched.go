package sched

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"slices"
	"strings"
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
	rng    *rand.Rand
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
}

// step is a goroutine parked before it acts.
type step struct {
	proc      *Process
	actor     string
	id        string
	turn      int       // in which it was parked
	resume    chan bool // true: go on; false: draining
	announced bool      // the policy has seen it
	notBefore time.Time // latency that the policy gave it
}

// New returns a scheduler whose choices the seed decides, with the policy that the seed stands for (see policy.go). It counts
// in steps what it lets go or, draining, refuses.
func New(seed int64, steps *atomic.Int64) *Scheduler {
	rng := rand.New(rand.NewSource(seed))
	return &Scheduler{rng: rng, policy: newPolicy(seed, rng), arrive: make(chan struct{}, 1), steps: steps, stacks: map[stack]uint32{}}
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
			next.resume <- true
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
	slices.SortFunc(s.parked, func(a, b *step) int { return cmp.Or(strings.Compare(a.id, b.id), a.turn-b.turn) })
	var ready []*step
	var wait time.Duration
	var last *step
	for _, c := range s.parked {
		if c.proc.dead {
			continue
		}
		if last != nil && last.id == c.id && last.turn == c.turn {
			return nil, 0, fmt.Errorf("%w: %s", ErrTie, c.id)
		}
		last = c
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
		c.resume <- false
	}
}

// Draining reports whether Drain was called.
func (s *Scheduler) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.draining.IsZero()
}

// Process is a group of goroutines that die together.
type Process struct {
	s    *Scheduler
	n    int
	dead bool
}

// Process returns a new process. They are numbered from 1.
func (s *Scheduler) Process() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc++
	return &Process{s: s, n: s.proc}
}

// Kill freezes the process: none of its goroutines passes a step any more.
func (p *Process) Kill() { p.set(true) }

// Thaw undoes Kill. What was parked can be picked again.
func (p *Process) Thaw() { p.set(false) }

func (p *Process) set(dead bool) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.dead = dead
}

// Dead reports whether the process is frozen.
func (p *Process) Dead() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.dead
}

// Step parks the calling goroutine until the scheduler picks it. Actor is who acts (a controller), what is what it is about
// to do; with the process, the functions on the goroutine's stack and when it came they must tell the step apart from every
// other one parked at the same time. It returns false when the run is over ([Scheduler.Drain]): the caller must not act, but fail.
func (p *Process) Step(actor, what string) bool {
	s := p.s
	c := &step{proc: p, actor: actor, resume: make(chan bool, 1)}
	var st stack
	runtime.Callers(2, st[:])
	s.mu.Lock()
	if !s.draining.IsZero() {
		s.drained++
		s.steps.Add(1)
		tired := time.Since(s.draining) > patience || s.drained > patienceSteps
		s.mu.Unlock()
		if tired {
			runtime.Goexit()
		}
		return false
	}
	c.id = fmt.Sprintf("%d %s %s #%08x", p.n, actor, what, s.hash(st))
	c.turn = s.turn
	s.parked = append(s.parked, c)
	s.mu.Unlock()
	select {
	case s.arrive <- struct{}{}:
	default:
	}
	return <-c.resume
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
