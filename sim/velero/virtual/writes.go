package virtual

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/apiserver"
)

// wrote is called with every write to the API server, by whoever makes it.
func (r *run) wrote(w apiserver.Write) {
	if o := cmp.Or(w.New, w.Old); w.Name == "" && o != nil { // the server has made up the name, or it is one of many
		w.Name = o.GetName()
	}
	by, object := r.writer, objectOf(w.Request)
	body := trace.Write{Client: by.client, Verb: w.Verb, Resource: w.Resource, Name: strings.TrimPrefix(w.Namespace+"/"+w.Name, "/")}
	if w.Verb == "patch" {
		body.Change = string(w.Body)
	}
	if w.New != nil {
		body.ResourceVersion = w.New.GetResourceVersion()
	}
	if w.Err != nil {
		body.Error = w.Err.Error()
	}
	r.rec.add(by.incarnation, object, trace.Body{Write: &body})
	object = r.names.Of(object)
	if w.Err == nil {
		if delete(r.held, object); w.New != nil && slices.Contains(w.New.GetFinalizers(), actions.Finalizer) {
			r.held[object] = true
		}
	}
	switch {
	case w.Err != nil:
	case w.New == nil && w.Old != nil:
		r.gone(object)
	case w.Old == nil && w.New != nil && by.incarnation > 0:
		r.made(object, w.New.GetName())
		fallthrough
	case w.New != nil:
		r.phase(by.incarnation, object, phaseOf(w.New))
	}
}

// phase records the phase that the object was written with, if it is another.
func (r *run) phase(incarnation int, object, to string) {
	from := r.phases[object]
	if from == scenario.Deleted { // it is back
		from = ""
	}
	if from == to {
		return
	}
	r.phases[object] = to
	r.changes++
	r.rec.add(incarnation, object, trace.Body{Phase: &trace.Phase{From: from, To: to}})
	r.faults.phase(object, to)
}

// gone records that the object is no longer there.
func (r *run) gone(object string) {
	if _, known := r.phases[object]; !known {
		return
	}
	r.phases[object] = scenario.Deleted
	r.changes++
	r.rec.add(r.writer.incarnation, object, trace.Body{Deleted: &trace.Deleted{}})
}

// made records a backup that a schedule has made; one that backup sync brings back was made before. The user pauses the schedule when it
// is the last one.
func (r *run) made(object, name string) {
	created, last, ok := r.user.Made(object, name)
	if _, known := r.phases[object]; !ok || known {
		return
	}
	r.created(object, created)
	if last {
		r.after(0, func() { r.try(r.user.Pause(context.Background(), created.Schedule)) })
	}
}

// created records that an object is created.
func (r *run) created(object string, c trace.Created) {
	r.phases[object] = ""
	r.changes++
	r.rec.add(0, object, trace.Body{Created: &c})
	r.faults.phase(object, string(velerov1.BackupPhaseNew))
}

// requested knows of a request that is yet to be granted.
func (r *run) requested(object string) {
	if _, known := r.phases[object]; !known {
		r.phases[object] = ""
	}
}

// try keeps the error of what the user does, with which the run cannot go on.
func (r *run) try(err error) { r.failed = errors.Join(r.failed, err) }
