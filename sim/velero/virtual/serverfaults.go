package virtual

import (
	"cmp"
	"time"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// onServer does something to the server that acts, or if none does to the current one.
func (f *faults) onServer(x scenario.Fault) {
	r, inc := f.run, cmp.Or(f.run.acting, f.run.current())
	if inc.proc.Dead() {
		r.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: cluster.Down}})
		return
	}
	f.struck(x, cluster.OnServer(x.Do))
	switch do := x.Do; {
	case do.Kill != nil:
		r.kill(inc, do.Kill.RestartAfter.Duration)
	case do.Rollout != nil:
		r.rollOut(do.Rollout.Overlap.Duration)
	default:
		inc.proc.Pause()
		r.after(do.Pause.Duration, inc.proc.Resume)
	}
}

// kill ends an incarnation. If it is the current one, the next starts later.
func (r *run) kill(inc *incarnation, restartAfter time.Duration) {
	inc.kill()
	if inc == r.current() {
		r.restartAfter(restartAfter)
	}
}

// rollOut starts another server, and ends the current one when both have run for a while.
func (r *run) rollOut(overlap time.Duration) {
	old := r.current()
	r.restartAfter(0) // when nothing else acts
	r.after(overlap, func() {
		if !old.proc.Dead() {
			old.kill()
		}
	})
}
