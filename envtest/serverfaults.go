package envtest

import (
	"fmt"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// onServer lets a fault strike the server, now, or after its delay: then it is the one that runs, or has begun to start, by then. It reports
// whether the server dies now, so that it sees nothing more.
func (r *run) onServer(s *server, x scenario.Fault) (dies bool) {
	switch {
	case x.At.Delay.Duration > 0:
		r.after(x.At.Delay.Duration, func() { r.newest().struck(x) })
	case x.Do.Pause.Duration > 0:
		s.pause(x)
	default: // which waits for what is under way
		r.after(0, func() { s.struck(x) })
	}
	return x.Do.Kill != nil && x.At.Delay.Duration == 0
}

// newest is the server that was started last, or is being started.
func (r *run) newest() *server {
	r.starting.Lock()
	defer r.starting.Unlock()
	return r.current()
}

// struck does to the server what the fault says.
func (s *server) struck(x scenario.Fault) {
	r := s.run
	switch {
	case x.Do.Rollout != nil:
		r.rollOut(x)
	case x.Do.Kill == nil:
		s.pause(x)
	case !s.kill(&trace.Fault{ID: x.ID, What: cluster.OnServer(x.Do)}):
		r.missed(x)
	case s == r.newest():
		r.after(x.Do.Kill.RestartAfter.Duration, r.restart)
	}
}

// missed records that a fault met no server.
func (r *run) missed(x scenario.Fault) {
	r.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: cluster.Down}})
}

// pause stops the server's process for a while. Several pauses end with the last one.
func (s *server) pause(x scenario.Fault) {
	r, runs := s.run, false
	r.change(func() {
		if runs = !s.ended; runs {
			s.pauses++
		}
	})
	if !runs {
		r.missed(x)
		return
	}
	if err := s.process.Pause(); err != nil {
		r.fail(fmt.Errorf("failed to pause the server: %w", err))
	}
	r.struck(x, cluster.OnServer(x.Do))
	r.after(x.Do.Pause.Duration, s.resume)
}

// resume ends one pause of the server.
func (s *server) resume() {
	last := false
	s.run.change(func() { s.pauses--; last = s.pauses == 0 && !s.ended })
	if !last {
		return
	}
	if err := s.process.Resume(); err != nil {
		s.run.fail(fmt.Errorf("failed to let the server go on after a pause: %w", err))
	}
}

// rollOut starts another server, and kills the one that runs when both have for a while.
func (r *run) rollOut(x scenario.Fault) {
	old := r.newest()
	if r.isDown() {
		r.missed(x)
		return
	}
	r.struck(x, cluster.OnServer(x.Do))
	r.after(x.Do.Rollout.Overlap.Duration, func() { old.kill(nil) })
	r.restart()
}
