package verdict

import (
	"fmt"

	"github.com/velosim/velosim/sim/trace"
)

// afterlife finds the first event of a server that is not alive: it was killed or has stopped, or it never started. That is a
// defect of the world, which promises that nothing of a dead server lands; what such a trace shows, Velero has not done.
func (r *run) afterlife() []Finding {
	ended := map[int]string{} // incarnation → when and how it ended; empty: it is alive
	for i := range r.events {
		e := &r.events[i]
		n := e.Incarnation
		if p := e.Process; p != nil && p.Name == server && p.State != started {
			how := fmt.Sprintf("which was %s at %s", p.State, e.At)
			for lived := range ended {
				if ended[lived] == "" && (n == 0 || n == lived) {
					ended[lived] = how
				}
			}
			continue
		}
		if n == 0 || !acts(e) {
			continue
		}
		how, lived := ended[n]
		switch {
		case !lived && e.Process != nil && e.Process.Name == server:
			ended[n] = ""
			continue
		case !lived:
			how = "which never started"
		case how == "":
			continue
		}
		return []Finding{r.finding("completeness", e.Object, i, "no event of a server that is dead",
			fmt.Sprintf("event %d of incarnation %d, %s: %s", e.Seq, n, how, say(e.Body)))}
	}
	return nil
}

// acts reports whether the event takes a server that is alive. The end of a plugin's process does not, as one may outlive
// its server; and what the world and the user do has no incarnation, or one that says only when it happened.
func acts(e *trace.Event) bool {
	switch b := &e.Body; {
	case b.Process != nil:
		return b.Process.State == started
	case b.Created != nil, b.Fault != nil, b.Rest != nil, b.Item != nil:
		return false
	}
	return true
}
