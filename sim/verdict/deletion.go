package verdict

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// refusedToDelete reports whether a request to delete the backup has ended with errors since the backup is Deleting: Velero then keeps it
// (Reconcile, pkg/controller/backup_deletion_controller.go).
func (r *run) refusedToDelete(o *object) bool {
	since := o.changes[len(o.changes)-1].event
	for _, e := range r.events[since:] {
		if e.Write == nil || e.Write.Resource != "deletebackuprequests" || e.Write.Error != "" || requested(e.Write.Name) != o.id() {
			continue
		}
		var request struct {
			Status struct {
				Phase  string
				Errors []string
			}
		}
		if json.Unmarshal([]byte(e.Write.Change), &request) == nil && len(request.Status.Errors) > 0 {
			return true
		}
	}
	return false
}

// restartedWhileDeleting reports whether a server has ended since the backup is Deleting, and another has started.
func (r *run) restartedWhileDeleting(o *object) bool {
	ended := false
	for _, e := range r.events[o.changes[len(o.changes)-1].event:] {
		if e.Process == nil || e.Process.Name != server {
			continue
		}
		if e.Process.State == started && ended {
			return true
		}
		ended = e.Process.State != started
	}
	return false
}

// passedOver are the requests to delete a backup that liveness finds InProgress in the end, and no call of a plugin holds: Velero passes over
// them (Reconcile, pkg/controller/backup_deletion_controller.go).
func (r *run) passedOver(rd reading) []Finding {
	begun := map[string]int{} // event at which the request became InProgress
	var order []string
	for i, e := range r.events {
		switch {
		case !strings.HasPrefix(e.Object, "deletebackuprequest/"):
		case e.Phase != nil && e.Phase.To == phase.InProgress.String():
			begun[e.Object] = i
			order = append(order, e.Object)
		case e.Phase != nil, e.Deleted != nil:
			delete(begun, e.Object)
		}
	}
	var found []Finding
	for _, request := range order {
		event, stays := begun[request]
		if !stays || slices.ContainsFunc(r.open, r.deletes) {
			continue
		}
		rule := phase.Named(phase.DeletionRequestPassedOver)
		if r.endedSince(event) {
			rule = phase.Named(phase.DeletionForgottenByRestart)
		}
		if rule.Deviates(rd.rules) {
			continue
		}
		found = append(found, r.atEnd("liveness", request, "it is Processed, or removed", "phase InProgress, since "+r.events[event].At.String()))
		found[len(found)-1].Rules = []string{rule.Name}
	}
	return found
}

// deletes reports whether the call may be one of a deletion, which has no worker but one.
func (r *run) deletes(c *call) bool {
	return c.object == r.nobody || c.object.phaseAt(c.event) == phase.Deleting.String()
}

// endedSince reports whether a server has ended since the event.
func (r *run) endedSince(event int) bool {
	return slices.ContainsFunc(r.events[event:], func(e trace.Event) bool {
		return e.Process != nil && e.Process.Name == server && e.Process.State != started
	})
}

// requested is the backup that a DeleteBackupRequest, namespace/name, is for: its name is the backup's and a random end
// (NewDeleteBackupRequest, pkg/backup/delete_helpers.go).
func requested(request string) string {
	_, name, _ := strings.Cut(request, "/")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		return name[:i]
	}
	return name
}

// mayGo reports whether somebody asked for the object to be deleted: the user, or, by a request, Velero, which deletes a backup that is
// Deleting with its restores.
func (r *run) mayGo(o *object) bool {
	if r.asked(func(d scenario.Do) bool { return d.Remove == o.name || o.kind == phase.Restore && d.Delete == o.name }) {
		return true
	}
	if x := r.restore(o.name); x != nil {
		o = r.find("backup/" + x.Backup)
	}
	return o.has(phase.Deleting.String())
}

// asked reports whether a fault has struck that does this.
func (r *run) asked(is func(scenario.Do) bool) bool {
	return slices.ContainsFunc(r.scenario.Faults, func(f scenario.Fault) bool { return is(f.Do) && r.faults[f.ID] })
}

// undeleted is what accounting finds of an object that Velero has deleted and that is still in the object store. What the user removes
// stays there, and so does what belongs to a restore whose backup is gone, as only the backup says where that is (deleteExternalResources,
// pkg/controller/restore_controller.go).
func (r *run) undeleted(o *object) []Finding {
	if !o.gone() || o.store == nil || r.asked(func(d scenario.Do) bool { return d.Remove == o.name }) {
		return nil
	}
	if x := r.restore(o.name); x != nil && r.asked(func(d scenario.Do) bool { return d.Remove == "backup/"+x.Backup }) {
		return nil
	}
	f := r.atEnd("accounting", o.name, nothingStored, "it is still there")
	if r.storedSince(o) {
		f.Rules = []string{overtaken}
	}
	return []Finding{f}
}

// storedSince reports whether the server has stored something of the object since it was deleted, or what was stored of it, as what had begun
// before went on: an object that a finalizer holds outlives what is stored of it.
func (r *run) storedSince(o *object) (stored bool) {
	gone := o.changes[len(o.changes)-1].event
	deleted := false
	for i, e := range r.events {
		if e.Store == nil || e.Store.Error != "" || !strings.Contains(e.Store.Key, "/"+o.kind.String()+"s/"+o.id()+"/") {
			continue
		}
		switch e.Store.Verb {
		case "delete":
			deleted, stored = true, false
		case "put":
			stored = stored || deleted || i > gone
		}
	}
	return stored
}

// nothingStored is what accounting wants of what Velero has deleted.
const nothingStored = "nothing of it in the object store, as it was deleted"
