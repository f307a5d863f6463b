package envtest

import (
	"fmt"
	"syscall"
	"time"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// sever lets a fault strike the server's way to the API server, after its delay.
func (r *run) sever(x scenario.Fault) {
	begin := func() {
		undo := func() {}
		switch {
		case x.Do.StaleCache.Duration > 0:
			undo = r.line.HoldWatches()
		case x.Do.APIOutage.Duration > 0:
			undo = r.line.Break()
		case r.isDown():
			r.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: "the server was down"}})
			return
		default:
			r.line.EndWatches()
		}
		r.struck(x, cluster.Severed(x.Do))
		r.after(max(x.Do.StaleCache.Duration, x.Do.APIOutage.Duration), undo)
	}
	if x.At.Delay.Duration > 0 {
		r.after(x.At.Delay.Duration, begin)
		return
	}
	begin()
}

// isDown reports whether no server runs.
func (r *run) isDown() bool {
	current := r.current()
	r.mu.Lock()
	defer r.mu.Unlock()
	return current.ended
}

// unreachable records a write that did not come to the API server.
func (h hooks) unreachable(q *proxy.Request, object string) {
	refused := proxy.Write(q, &proxy.Response{Name: q.Name, Err: fmt.Errorf("the API proxy drops it, as by an outage: %w", syscall.ECONNREFUSED)})
	h.run.rec.add(h.incarnation, object, trace.Body{Write: &refused})
}

// again is how long a server is not started again that would end as it does not reach the API server.
const again = time.Second

// restart starts the next server.
func (r *run) restart() {
	if r.line.Broken() {
		r.after(again, r.restart)
		return
	}
	if err := r.start(); err != nil {
		r.fail(err)
	}
}
