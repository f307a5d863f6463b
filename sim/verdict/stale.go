package verdict

import (
	"slices"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// staleReads are the events, by object, at which the release does something to the object by what it was before its last change, and for
// which no other of its rules has a reason. What follows is the work of two runs of the object that know nothing of each other.
func (r *run) staleReads(release phase.Rules) map[string]int {
	rule := phase.Named(phase.StaleReadActedUpon)
	if !rule.Deviates(release) {
		return nil
	}
	events := map[string]int{}
	for _, o := range r.objects {
		without, err := model.Check(release.Without(rule), o.name, r.trace)
		if err != nil || without == nil {
			continue
		}
		if with, err := model.Check(release, o.name, r.trace); err == nil && with == nil {
			events[o.name] = without.Event
		}
	}
	return events
}

// followsStaleRead reports whether the finding is about what came after a stale read of its object, or of one that this depends on: the
// backup that a restore is made of, and what must end before an object is created that never was.
func (r *run) followsStaleRead(f Finding) bool {
	depends := []string{f.Object}
	if x := r.restore(f.Object); x != nil {
		depends = append(depends, "backup/"+x.Backup)
	}
	if f.Object != "" && r.find(f.Object) == nil {
		depends = append(depends, r.before(f.Object)...)
	}
	return slices.ContainsFunc(depends, func(name string) bool {
		event, ok := r.stale[name]
		return ok && f.At >= r.events[event].At
	})
}

// followsPath reports whether the object has taken a predicted path, until a stale read if there was one.
func (r *run) followsPath(o *object, p *model.Prediction) bool {
	event, ok := r.stale[o.name]
	if !ok {
		return p.Allows(o.taken())
	}
	until := 0
	for _, c := range o.steps() {
		if c.event < event {
			until++
		}
	}
	taken := o.taken()[:until]
	return slices.ContainsFunc(p.Paths, func(path model.Path) bool { return len(path) >= until && slices.Equal(path[:until], taken) })
}
