package virtual

import (
	"net"
	"os"
	"syscall"
	"time"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// connection is the server's way to the API server, as faults have it.
type connection struct {
	// outages that go on.
	outages int
	// held are the faults that hold watches up, and released is closed when none does any more; nil: none does.
	held     int
	released chan struct{}
}

// errRefused is what a request comes to when nothing listens.
var errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// reachable is the error of a request that is sent now; nil: it comes to the API server.
func (c *connection) reachable() error {
	if c.outages > 0 {
		return errRefused
	}
	return nil
}

// sever lets a fault strike the server's way to the API server.
func (f *faults) sever(x scenario.Fault) {
	c := &f.connection
	switch {
	case x.Do.StaleCache.Duration > 0:
		if c.held++; c.released == nil {
			c.released = make(chan struct{})
		}
		f.run.after(x.Do.StaleCache.Duration, func() {
			if c.held--; c.held == 0 {
				close(c.released)
				c.released = nil
			}
		})
	case x.Do.APIOutage.Duration > 0:
		c.outages++
		f.run.after(x.Do.APIOutage.Duration, func() { c.outages-- })
		f.run.api.EndWatches()
	case f.run.current().proc.Dead():
		f.run.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: "the server was down"}})
		return
	default:
		f.run.api.EndWatches()
	}
	f.struck(x, cluster.Severed(x.Do))
}

// again is how long Kubernetes waits before it starts a server again that ended as it did not reach the API server.
const again = 10 * time.Second

// restart starts the next server.
func (r *run) restart() {
	if r.faults.connection.reachable() != nil {
		r.restartAfter(again)
		return
	}
	r.start()
}

func (r *run) restartAfter(d time.Duration) {
	r.timers = append(r.timers, timer{at: time.Now().Add(d), do: r.restart, restart: true})
}
