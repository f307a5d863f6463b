package verdict

import (
	"slices"

	"github.com/velosim/velosim/sim/trace"
)

// How many events a finding shows, up to and including its own, and after it.
const (
	before = 5
	after  = 2
)

// finding makes a finding about an object at one of the run's events.
func (r *run) finding(oracle, object string, event int, expected, seen string) Finding {
	f := Finding{Oracle: oracle, Object: object, Expected: expected, Seen: seen, At: r.at}
	if event < len(r.events) {
		f.At = r.events[event].At
	}
	f.Around = r.around(object, event)
	return f
}

// atEnd makes a finding about the end of the run.
func (r *run) atEnd(oracle, object, expected, seen string) Finding {
	return r.finding(oracle, object, len(r.events), expected, seen)
}

// around selects the events about the object (empty: any) besides writes, and those about the server and faults.
func (r *run) around(object string, event int) []trace.Event {
	var events []trace.Event
	tells := func(i int) bool {
		e := r.events[i]
		return i == event || e.Process != nil || e.Fault != nil || (object == "" || e.Object == object) && e.Store == nil && e.Write == nil
	}
	for i, n := min(event, len(r.events)-1), 0; i >= 0 && n < before; i-- {
		if tells(i) {
			events = append(events, r.events[i])
			n++
		}
	}
	slices.Reverse(events)
	for i, n := event+1, 0; i < len(r.events) && n < after; i++ {
		if tells(i) {
			events = append(events, r.events[i])
			n++
		}
	}
	return events
}
