package verdict

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// staleReads are the events, by object, at which the release does something to the object by what it was before its last change, and for
// which no other of its rules has a reason, or counts what it has counted before. What follows is the work of two runs of the object that
// know nothing of each other.
func (r *run) staleReads(release phase.Rules) map[string]int {
	rule := phase.Named(phase.StaleReadActedUpon)
	if !rule.Deviates(release) {
		return nil
	}
	events := map[string]int{}
	for _, o := range r.objects {
		without, err := r.check(release.Without(rule), o.name)
		if err != nil {
			continue
		}
		if without == nil {
			if event, ok := r.recount(o); ok {
				events[o.name] = event
			} else if event, ok := r.orphaned(o); ok {
				events[o.name] = event
			}
			continue
		}
		if with, err := r.check(release, o.name); err == nil && with == nil {
			events[o.name] = without.Event
		}
	}
	maps.DeleteFunc(events, func(name string, event int) bool { // another server may have made the change
		contested, ok := r.contested[name]
		return ok && contested <= event
	})
	return events
}

// recount is the first write that adds fewer errors to the object's than operations to those that have failed. A merge patch holds what
// differs from what was read: the writer has read the object as it was before, and counts its errors over others.
func (r *run) recount(o *object) (event int, ok bool) {
	errors, failed := 0, 0
	for i, e := range r.events {
		if e.Write == nil || e.Object != o.name || e.Write.Verb != "patch" || e.Write.Error != "" {
			continue
		}
		n, now := patched(e.Write)
		now = max(failed, now)
		if n > 0 {
			if n <= errors || n-errors < now-failed {
				return i, true
			}
			errors = n
		}
		failed = now
	}
	return 0, false
}

// patched are the errors and the failed operations in what a patch says of the status; 0: it does not say, or is cut off.
func patched(w *trace.Write) (errors, failed int) {
	var change struct {
		Status struct {
			Errors  int
			Backup  int `json:"backupItemOperationsFailed"`
			Restore int `json:"restoreItemOperationsFailed"`
		}
	}
	if json.Unmarshal([]byte(w.Change), &change) != nil {
		return 0, 0
	}
	return change.Status.Errors, max(change.Status.Backup, change.Status.Restore)
}

// orphaned is the first time that a sync removes a backup which is in the object store: it has listed what is stored before the backup ended
// (deleteOrphanedBackups, pkg/controller/backup_sync_controller.go), and the next one brings it back.
func (r *run) orphaned(o *object) (event int, ok bool) {
	stored := false
	for i, e := range r.events {
		switch {
		case o.stores(e, "velero-backup.json") && e.Store.Error == "" && e.Store.Verb != "get" && e.Store.Verb != "exists":
			stored = e.Store.Verb == "put"
		case e.Write != nil && e.Object == o.name && e.Write.Verb == "delete" && e.Write.Client == "backup-sync" && stored:
			return i, true
		}
	}
	return 0, false
}

// follows reports whether the finding is about what came after one of the events, by object, that befell its object, or one that this
// depends on: the backup that a restore is made of, and what must end before an object is created that never was.
func (r *run) follows(f Finding, events map[string]int) bool {
	depends := []string{f.Object}
	if x := r.restore(f.Object); x != nil {
		depends = append(depends, "backup/"+x.Backup)
	}
	switch o := r.find(f.Object); {
	case f.Object == "":
	case o == nil:
		depends = append(depends, r.before(f.Object)...)
	case o.phase() == phase.Queued.String(): // the tracker may have kept what was removed meanwhile
		depends = slices.AppendSeq(depends, maps.Keys(events))
	}
	return slices.ContainsFunc(depends, func(name string) bool {
		event, ok := events[name]
		return ok && f.At >= r.events[event].At
	})
}

// followsPath reports whether the object has taken a predicted path, until a stale read if there was one, and may stay where it does.
func (r *run) followsPath(o *object, p *model.Prediction) bool {
	event, ok := r.stale[o.name]
	if !ok {
		stays := !o.gone() && !final(o.phase())
		return p.Allows(o.taken()) && (!stays || slices.Contains(p.Stays, o.taken().End()))
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
