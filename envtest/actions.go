package envtest

import (
	"errors"
	"syscall"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/trace"
)

// acting is a call of an action that is made once for a backup or restore, and has not returned: the server ends its process at its deadline.
type acting struct {
	pid    int
	object string
	call   trace.Call
}

// once reports whether it is a call of such an action: others have an item.
func once(c trace.Call) bool { return c.Method == "Execute" && c.Item == "" }

// begins notes a call that begins.
func (s *server) begins(p host.Process, object string, c trace.Call) {
	s.run.change(func() { s.acting[c.ID] = acting{p.PID, object, c} })
}

// ends notes that a call has ended, and reports whether it had not before.
func (s *server) ends(call int) (first bool) {
	s.run.change(func() {
		_, first = s.acting[call]
		delete(s.acting, call)
	})
	return first
}

// cut records the end of the calls whose processes the server has ended. It has done so before it writes what has become of them.
func (s *server) cut() {
	var over []acting
	s.run.change(func() {
		for id, a := range s.acting {
			if !s.ended && errors.Is(syscall.Kill(a.pid, 0), syscall.ESRCH) {
				over = append(over, a)
				delete(s.acting, id)
			}
		}
	})
	for _, a := range over {
		s.run.rec.add(s.incarnation, a.object, trace.Body{Return: &trace.Return{ID: a.call.ID, Error: cluster.CrashError}})
		s.run.rec.add(s.incarnation, "", trace.Body{Process: &trace.Process{Name: a.call.Plugin, State: "killed"}})
	}
}
