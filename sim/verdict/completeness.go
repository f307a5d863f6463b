package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// evidence says what a trace is good for, and what it lacks.
type evidence struct {
	// whole: the run went on to its end, so that liveness can be judged.
	whole bool
	lacks []Finding
}

// complete reports whether the run shows all that the scenario is about, so that its expectations can be judged.
func (e evidence) complete() bool { return e.whole && len(e.lacks) == 0 }

// evidence looks for what keeps the trace from being judged in full.
func (r *run) evidence() evidence {
	s := r.scenario
	var e evidence
	lack := func(object, expected, seen string) {
		e.lacks = append(e.lacks, r.missing(object, expected, seen))
	}
	switch r.trace.End.Reason {
	case trace.Settled, trace.Bound:
		e.whole = true
	case trace.NotStarted:
		if e.whole = !r.starts(); !e.whole {
			lack("", "a server that starts", because(r.trace.End))
		}
	case trace.Panicked: // a finding of its own
	case "":
		lack("", "a whole trace", "it is cut off: it has no end")
	default:
		lack("", "a run that ends by itself or at its bound", because(r.trace.End))
	}
	if r.trace.Header.Scenario != s.Metadata.Name {
		e.whole = false
		lack("", "a trace of scenario "+s.Metadata.Name, fmt.Sprintf("one of scenario %q", r.trace.Header.Scenario))
	}
	for _, f := range s.Faults {
		if !r.faults[f.ID] && s.Must(f) {
			seen := "it never did"
			if why := r.missed[f.ID]; why != "" {
				seen += ": " + why
			}
			lack("", fmt.Sprintf("fault %s strikes", f.ID), seen)
		}
	}
	if !e.whole || !r.starts() { // then nothing is created
		return e
	}
	for _, name := range s.Objects() {
		o, at := r.find(name), r.pointOf(name)
		switch {
		case r.unpassed(name) && s.Expect.Strikes != nil: // something else was to strike
		case r.unpassed(name):
			lack(name, "its creation", fmt.Sprintf("its point of creation was never passed: %s, %s", point(*at), times(max(at.Nth, 1))))
		case o == nil && at == nil && !r.due(name):
			// If what it waits for never comes, expectation says so.
		case o == nil || o.created == nil:
			lack(name, "its creation", "the trace has none")
		case o.api == nil && !o.gone():
			lack(name, "its state at rest, as the API has it", "the trace has none")
		}
	}
	for _, m := range s.Expect.Items() {
		if item, _ := m.Item(); r.item(item) == nil {
			lack(string(item), "its manifest at rest", "the trace has none")
		}
	}
	return e
}

// due reports whether an object without a point of creation must have been created, as what it waits for has come.
func (r *run) due(name string) bool {
	for _, before := range r.before(name) {
		if !r.find(before).ended() {
			return false
		}
	}
	x := r.restore(name)
	if x == nil {
		return true
	}
	backup := "backup/" + x.Backup
	if o := r.find(backup); !slices.Contains(r.scenario.Order(), backup) && o.has(scenario.Deleted, phase.Deleting.String()) {
		return false // the user has looked at it later than at others, which it creates itself
	}
	p := r.find(backup).end() // what the user saw; it may have been removed since, or have come back
	return p == phase.Completed.String() || p == phase.PartiallyFailed.String()
}

// end is the phase in which the object has first come to its end; empty: it never has.
func (o *object) end() string {
	i := slices.IndexFunc(o.changes, func(c change) bool { return final(c.To) })
	if i < 0 {
		return ""
	}
	return o.changes[i].To
}

// before are the objects that must have ended before the object is created (cluster.User): those before it in the user's order, a
// restore's backup, or what its schedule has made before.
func (r *run) before(name string) (objects []string) {
	order := r.scenario.Order()
	for _, other := range order[:slices.Index(order, name)+1] {
		if x := r.restore(other); x != nil {
			objects = append(objects, "backup/"+x.Backup)
		}
		if other != name && (r.restore(other) == nil || r.find(other) != nil) { // else it was passed over
			objects = append(objects, other)
		}
	}
	for _, x := range r.scenario.Schedules {
		for i := range x.Backups {
			if name == scheduled(x, i) {
				for j := range i {
					objects = append(objects, scheduled(x, j))
				}
			}
		}
	}
	return objects
}

// scheduled is the name of a schedule's backup, counted from 0.
func scheduled(x scenario.Schedule, i int) string { return fmt.Sprintf("backup/%s-%d", x.Name, i+1) }

// restore is what the scenario says of the restore with that name; nil: it is none.
func (r *run) restore(name string) *scenario.Restore {
	if name, ok := strings.CutPrefix(name, "restore/"); ok {
		return r.scenario.RestoreNamed(name)
	}
	return nil
}

// pointOf is the point at which the user creates the object; nil: there is none.
func (r *run) pointOf(name string) *scenario.Point {
	if x := r.restore(name); x != nil {
		return x.At
	}
	for _, b := range r.scenario.Backups {
		if "backup/"+b.Name == name {
			return b.At
		}
	}
	return nil
}

// unpassed reports whether the object was not created as its point of creation was never passed.
func (r *run) unpassed(name string) bool {
	at := r.pointOf(name)
	return r.find(name) == nil && at != nil && r.passed(*at) < max(at.Nth, 1)
}

// missing is a finding of completeness: there are no events to show around it.
func (r *run) missing(object, expected, seen string) Finding {
	return Finding{Oracle: "completeness", Object: object, Expected: expected, Seen: seen, At: r.at}
}

func because(e trace.End) string {
	if e.Detail == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Detail
}
