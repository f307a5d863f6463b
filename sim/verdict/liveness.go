package verdict

import (
	"fmt"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// What liveness expects.
const (
	anEnd   = "a final phase"
	itsLeft = "it is deleted, or its deletion has errors"
)

// liveness demands that every object has reached a final phase or is gone, within the run's bound, and that a backup that is Deleting
// goes, unless its deletion had errors; and that what a pre-action has begun, its plugin's post-action has ended. A reading may accept phases in which objects stay: a deviation that never ends.
func (r *run) liveness(rd reading) []Finding {
	var found []Finding
	bound := Bound(r.scenario)
	for _, o := range r.objects {
		if o.created == nil && len(o.changes) == 0 {
			continue
		}
		found = append(found, r.unresumed(o)...)
		p := o.phase()
		stays := func(expected string) {
			holder := r.holder(o)
			overlooked := r.overlooked(o)
			if rd.accepted[o.name] == p || rd.held && holder != nil || overlooked.Deviates(rd.rules) {
				return
			}
			found = append(found, r.atEnd("liveness", o.name, expected, fmt.Sprintf("phase %s, waiting for %s", named(p), r.awaited(o, holder))))
			switch {
			case holder != nil:
				found[len(found)-1].Rules = []string{phase.PluginCallWithoutDeadline}
			case overlooked.Name != "":
				found[len(found)-1].Rules = []string{overlooked.Name}
			}
		}
		switch {
		case !final(p):
			stays(anEnd)
		case p == phase.Deleting.String() && !r.refusedToDelete(o) && !(rd.rules.DeletionForgottenByRestart && r.restartedWhileDeleting(o)):
			stays(itsLeft)
		case r.trace.Header.Scale == 1 && o.changes[len(o.changes)-1].at > bound:
			last := o.changes[len(o.changes)-1]
			found = append(found, r.finding("liveness", o.name, last.event,
				anEnd+" by "+bound.String(), fmt.Sprintf("phase %s at %s", named(p), last.at)))
		}
	}
	return append(found, r.passedOver(rd)...)
}

// awaited names what an object waits for when the run has ended. Of a call it says for which item, too.
func (r *run) awaited(o *object, holder *call) string {
	for _, c := range r.open {
		if c.object == o || c == holder && c.object == r.nobody {
			return r.stillIn(c)
		}
	}
	if r.waits == nil {
		r.waits = map[string][]string{}
		for _, d := range trace.Describe(r.trace, r.at).Objects {
			for _, w := range d.Waiting {
				r.waits[d.Name] = append(r.waits[d.Name], w.String())
			}
		}
	}
	waits := r.waits[o.name]
	if waits == nil {
		waits = []string{"nothing"}
	}
	if holder != nil {
		waits = append(waits, "held by "+holder.object.name+", which waits for "+r.stillIn(holder))
	}
	return strings.Join(waits, "; ")
}

// stillIn says since when a call that is in flight at the end has been.
func (r *run) stillIn(c *call) string {
	return fmt.Sprintf("a reply to %s, called at %s, %s before the end", c.describe(), c.at, r.at-c.at)
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
