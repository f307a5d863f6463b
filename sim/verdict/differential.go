package verdict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Compare judges a run as Judge does and, if it passes, against the run of the scenario without the fault: the differential oracle.
//
// Of each object that takes the same path of phases in both runs it demands that nothing else shows the fault either, once the run has
// ended: the status of the resource and of its stored copy, the operations as they are stored, the names of what is stored of it, and, in
// virtual time, how often the server has changed which of the resource's fields, other than its progress, until it had its last phase (in
// real time it is chance which operations one poll sees end). If all objects take the same paths, the server has created the same items,
// each as often, outside its own namespace. What the fault itself struck is excused: a write that is made again, and an object that could
// not be put into the store.
//
// An object that takes another path, or of which a pre-action has failed and then its upload, is what the other oracles are about, and so
// is a run that deviates in a known way. If the run without the fault has not come to its end, nothing is compared. UIDs, IDs of
// operations, resource versions and times are in none of this.
func Compare(s *scenario.Scenario, t, without trace.Trace) Verdict {
	v := Judge(s, t)
	if v.Result != Pass || without.End.Reason != trace.Settled {
		return v
	}
	r := fold(s, t)
	if found := r.differences(fold(s, without)); len(found) > 0 {
		v.Result, v.Findings = Fail, found
	}
	return v
}

// differences are what an object shows of the fault though it takes the path that it takes without it.
func (r *run) differences(without *run) []Finding {
	var found []Finding
	compare := func(object, of string, with, free map[string]int) {
		if !maps.Equal(with, free) {
			found = append(found, r.atEnd("differential", object, of+" as without the fault: "+list(beyond(free, with)), list(beyond(with, free))))
		}
	}
	alike := len(r.objects) == len(without.objects)
	for _, o := range r.objects {
		free := without.find(o.name)
		if free == nil || o.gone() != free.gone() || !slices.Equal(o.path(), free.path()) || o.failedPre() && r.unstored(o) {
			alike = false
			continue
		}
		compare(o.name, "status", statusOf(o.api), statusOf(free.api))
		compare(o.name, "stored status", statusOf(o.store), statusOf(free.store))
		compare(o.name, "stored operations", operationsOf(o.store), operationsOf(free.store))
		compare(o.name, "stored objects", r.stored(o, r), without.stored(free, r))
		if scale := r.trace.Header.Scale; scale == 0 || scale == 1 {
			compare(o.name, "writes", r.written(o, r), without.written(free, r))
		}
	}
	if alike {
		compare("", "restored items", r.restored(), without.restored())
	}
	return found
}

// failedPre reports whether a pre-action of the object has failed. That its upload fails as well brings no other phase.
func (o *object) failedPre() bool {
	return o.phase() == phase.FailedPreBackupActions.String() || o.phase() == phase.FailedPreRestoreActions.String()
}

// unstored reports whether something of the object could not be put into the store.
func (r *run) unstored(o *object) bool {
	folder := "/" + o.kind.String() + "s/" + o.id() + "/"
	return slices.ContainsFunc(r.events, func(e trace.Event) bool {
		return e.Store != nil && e.Store.Verb == "put" && e.Store.Error != "" && strings.Contains(e.Store.Key, folder)
	})
}

// beyond is what a has more of than b.
func beyond(a, b map[string]int) map[string]int {
	more := map[string]int{}
	for name, n := range a {
		if n > b[name] {
			more[name] = n - b[name]
		}
	}
	return more
}

func statusOf(at *trace.Rest) map[string]int {
	if at == nil {
		return nil
	}
	status := *at
	status.Operations = nil
	return map[string]int{fmt.Sprintf("%+v", status): 1}
}

func operationsOf(at *trace.Rest) map[string]int {
	all := map[string]int{}
	if at != nil {
		for _, op := range at.Operations {
			all[fmt.Sprintf("of %s for %s, %s %s", op.Plugin, op.Item, op.Phase, op.Error)]++
		}
	}
	return all
}

// postLog ends the key of the log of post-actions, which ends with the server that calls them.
const postLog = "-post-actions-logs.gz"

// stored are the names of what is stored of the object, less those that a put of the other run did not store.
func (r *run) stored(o *object, other *run) map[string]int {
	all := map[string]int{}
	folder := "/" + o.kind.String() + "s/" + o.id() + "/"
	for _, e := range r.events {
		switch {
		case e.Store == nil || e.Store.Error != "" || !strings.Contains(e.Store.Key, folder):
		case e.Store.Verb == "put":
			all[e.Store.Key] = 1
		case e.Store.Verb == "delete":
			delete(all, e.Store.Key)
		}
	}
	for _, e := range other.events {
		if e.Store != nil && e.Store.Error != "" && e.Store.Verb == "put" {
			delete(all, e.Store.Key)
		}
		if e.Process != nil && e.Process.Name == server && e.Process.State == "killed" {
			maps.DeleteFunc(all, func(key string, _ int) bool { return strings.HasSuffix(key, postLog) })
		}
	}
	return all
}

// restored counts how often the server has created each item.
func (r *run) restored() map[string]int {
	all := map[string]int{}
	for _, e := range r.events {
		own := scenario.Item(e.Object).Namespace() == scenario.VeleroNamespace
		if w := e.Write; w != nil && w.Verb == "create" && w.Error == "" && e.Incarnation > 0 && r.find(e.Object) == nil && !own {
			all[e.Object]++
		}
	}
	return all
}

// written counts the server's writes that have changed the object by the fields that they change, other than of its progress, up to the
// last change of its phase: what is written again to an object that has ended is its time alone. Those that a fault of the other run struck
// are left out, as they are made again.
func (r *run) written(o *object, other *run) map[string]int {
	all := map[string]int{}
	version, last := "", 0
	if n := len(o.changes); n > 0 {
		last = o.changes[n-1].event
	}
	for _, e := range r.events[:last] {
		if e.Write == nil || e.Write.Error != "" || e.Object != o.name {
			continue
		}
		if e.Write.ResourceVersion != version && e.Incarnation > 0 {
			all[e.Write.Verb+" "+changed(e.Write.Change)]++
		}
		version = e.Write.ResourceVersion
	}
	delete(all, "patch status.progress")
	maps.DeleteFunc(all, func(write string, _ int) bool { return strings.Contains(write, "ActionsStatuses") }) // of each call, and one may be repeated
	for i, e := range other.events {
		// A fault comes after the write, and after the change of phase that the write brings.
		struck := slices.ContainsFunc(other.events[i:min(i+3, len(other.events))], func(e trace.Event) bool { return e.Fault != nil })
		if e.Write != nil && e.Object == o.name && struck {
			delete(all, e.Write.Verb+" "+changed(e.Write.Change))
		}
	}
	return all
}

// changed are the fields that a patch changes: status.phase, status.progress.
func changed(patch string) string {
	var parts map[string]map[string]any
	if json.Unmarshal([]byte(patch), &parts) != nil {
		return ""
	}
	var fields []string
	for part, in := range parts {
		for field := range in {
			fields = append(fields, part+"."+field)
		}
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}
