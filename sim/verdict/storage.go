package verdict

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// hanging is the call of the object store that hangs from the event on, as a fault has it; nil: none does. A trace says of accesses to the
// store only how they end.
func (r *run) hanging(event, incarnation int) *call {
	e := &r.events[event]
	f := r.does(e.Fault.ID)
	if f.Do.Hang == nil || f.At.Store == nil {
		return nil
	}
	c := &call{
		Call:   &trace.Call{ID: -event - 1, Plugin: "the object store's", Method: f.At.Store.Verb, Item: f.At.Store.Key},
		object: r.nobody, at: e.At, event: event, incarnation: incarnation,
	}
	parts := strings.SplitN(f.At.Store.Key, "/", 3)
	if o := r.find(strings.TrimSuffix(parts[0], "s") + "/" + parts[1]); o != nil {
		c.object = o
		for _, x := range r.objects { // or that of a restore which reads what is stored of its backup
			if o.ended() && !final(x.phase()) && x.created != nil && "backup/"+x.created.Backup == o.name {
				c.object = x
			}
		}
	}
	return c
}

// ofStore reports whether the call is one that hanging has made up.
func (c *call) ofStore() bool { return c.ID < 0 }

// does is the scenario's fault of that ID.
func (r *run) does(id string) scenario.Fault {
	for _, f := range r.scenario.Faults {
		if f.ID == id {
			return f
		}
	}
	return scenario.Fault{}
}

// unusable is the rule by which the object waits for operations that were torn when they were stored, or that cannot be stored anew; nil: it
// does not. Finalizers read them, too, and that of a restore stores its results anew.
func (r *run) unusable(name string) []string {
	o := r.find(name)
	waiting := o != nil && strings.HasPrefix(o.phase(), waits)
	if o == nil || !waiting && !strings.HasPrefix(o.phase(), finalizes) {
		return nil
	}
	torn := slices.ContainsFunc(r.scenario.Faults, func(f scenario.Fault) bool {
		return r.faults[f.ID] && f.Do.Tear != nil && f.Do.Tear.Error == "" && strings.HasSuffix(f.At.Store.Key, "/"+o.operationsFile())
	})
	switch polled := waiting || o.kind == phase.Restore; {
	case polled && (torn || r.scenario.Store.Immutable):
		return []string{phase.PassRetriedForEver}
	case torn:
		return []string{finalizerRetried}
	}
	return nil
}

// finalizerRetried is the rule by which a backup's finalizer is called for ever.
const finalizerRetried = "finalizer-retried-for-ever"

// location is how traces name the storage location.
const location = "backupstoragelocation/default"

// homeless reports whether the location was gone by that event, since the object is there.
func (r *run) homeless(o *object, event int) bool {
	for i, e := range r.events {
		if i <= event && e.Deleted != nil && e.Object == location && e.At >= o.createdAt {
			return true
		}
	}
	return false
}
