package sched

import (
	"runtime"
	"time"
)

// Process is a group of goroutines that die together.
type Process struct {
	s    *Scheduler
	n    int
	dead bool
	// paused is how many pauses have not ended.
	paused int
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

// Thaw undoes Kill and Pause. What was parked can be picked again.
func (p *Process) Thaw() { p.set(false) }

func (p *Process) set(dead bool) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.dead, p.paused = dead, 0
}

// Pause stops the process until Resume: none of its goroutines passes a step meanwhile, other than by [Process.StepApart]. Their timers run
// on. Several pauses end when the last one does.
func (p *Process) Pause() { p.pause(1) }

// Resume ends a pause.
func (p *Process) Resume() { p.pause(-1) }

func (p *Process) pause(n int) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.paused = max(0, p.paused+n)
}

// Stopped reports whether a goroutine of the process has to wait at its next step, as it is paused or dead.
func (p *Process) Stopped() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.dead || p.paused > 0
}

// Dead reports whether the process is frozen.
func (p *Process) Dead() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.dead
}

// Step parks the calling goroutine until the scheduler picks it. Who is the actor, a controller or another thread of its own,
// what is what it is about to do; with the process, when it came and the functions on the goroutine's stack they must tell the
// step apart from every other one parked at the same time. It returns false when the run is over ([Scheduler.Drain]): the caller
// must not act, but fail.
func (p *Process) Step(who, what string) bool {
	return p.step(&step{actor: actor{p, who}, what: what})
}

// StepApart is Step for what goes on while the process is paused, as what its children do.
func (p *Process) StepApart(who, what string) bool {
	return p.step(&step{actor: actor{p, who}, what: what, apart: true})
}

func (p *Process) step(c *step) bool {
	s := p.s
	c.orders = make(chan order, 1)
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
	c.turn = s.turn
	s.parked = append(s.parked, c)
	s.mu.Unlock()
	select {
	case s.arrive <- struct{}{}:
	default:
	}
	for {
		switch <-c.orders {
		case proceed:
			return true
		case fail:
			return false
		case identify:
			var st stack
			runtime.Callers(3, st[:])
			s.callers <- st
		}
	}
}
