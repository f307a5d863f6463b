package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// anEnd is what liveness expects.
const anEnd = "a final phase"

// liveness demands that every object has reached a final phase, within the run's bound. A reading may accept one phase
// that is not final for the object that the expectations speak of: a deviation that never ends.
func (r *run) liveness(bound trace.Time, subject, accepted string) []Finding {
	var found []Finding
	for _, o := range r.objects {
		if o.created == nil && len(o.changes) == 0 {
			continue
		}
		switch p := o.phase(); {
		case !final(p) && o.name == subject && accepted != "" && p == accepted:
		case !final(p):
			found = append(found, r.atEnd("liveness", o.name, anEnd,
				fmt.Sprintf("phase %s, waiting for %s", named(p), r.awaited(o))))
			if r.hangs(o) {
				found[len(found)-1].Rules = []string{phase.PluginCallWithoutDeadline}
			}
		case r.trace.Header.Scale == 1 && o.changes[len(o.changes)-1].at > bound:
			last := o.changes[len(o.changes)-1]
			found = append(found, r.finding("liveness", o.name, last.event,
				anEnd+" by "+bound.String(), fmt.Sprintf("phase %s at %s", p, last.at)))
		}
	}
	return found
}

// hangs reports whether a call for the object goes on, and should have been given up.
func (r *run) hangs(o *object) bool {
	return slices.ContainsFunc(o.calls, func(c *call) bool { return c.inFlight() && r.at-c.at > r.deadline() })
}

// awaited names what an object waits for when the run has ended. Of a call it says for which item, too.
func (r *run) awaited(o *object) string {
	for _, c := range o.calls {
		if c.inFlight() {
			return fmt.Sprintf("a reply to %s, called at %s, %s before the end", c.describe(), c.at, r.at-c.at)
		}
	}
	var waits []string
	for _, d := range trace.Describe(r.trace, r.at).Objects {
		for _, w := range d.Waiting {
			if d.Name == o.name {
				waits = append(waits, w.String())
			}
		}
	}
	if waits == nil {
		return "nothing"
	}
	return strings.Join(waits, "; ")
}

// describe names a call: its plugin, method, operation and item.
func (c *call) describe() string {
	s := c.Plugin + " " + c.Method
	item := c.Item
	if c.operation != nil {
		s += " of operation " + c.Operation
		item = c.operation.item
	}
	if item != "" {
		s += " for " + item
	}
	return s
}
