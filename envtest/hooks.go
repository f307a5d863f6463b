package envtest

import (
	"encoding/json"
	"slices"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// hooks see what a server sends to the API server.
type hooks struct{ *server }

// Before implements proxy.Hooks: it lets the faults strike whose point is the write, before it is applied.
func (h hooks) Before(q *proxy.Request) proxy.Action {
	if !q.IsWrite() || !h.strikable(q) {
		return proxy.Action{}
	}
	h.cut()
	return h.request(q)
}

// strikable reports whether a fault may strike the write: one of the server itself, or of a plugin to what the scenario expects something of.
func (h hooks) strikable(q *proxy.Request) bool {
	return q.Client == "server" || h.run.job.Scenario.Expect.Of(scenario.Item(h.run.objectOf(q, q.Name)))
}

// After implements proxy.Hooks: it records the write, and the phase that it has changed. The server does not learn of a write at
// which it is killed.
func (h hooks) After(q *proxy.Request, a *proxy.Response) proxy.Action {
	r := h.run
	write := proxy.Write(q, a)
	object := r.names.Of(r.objectOf(q, a.Name))
	bodies := []trace.Body{{Write: &write}}
	before := r.lastPhase(object)
	now, known := stateOf(q, a)
	switch {
	case !known || a.Late:
	case now.gone() && before != nil && *before != scenario.Deleted:
		bodies = append(bodies, trace.Body{Deleted: &trace.Deleted{}})
	case !now.gone() && now.Status.Phase != "" && (before == nil || *before != now.Status.Phase):
		from := ""
		if before != nil && *before != scenario.Deleted { // else it is back
			from = *before
		}
		bodies = append(bodies, trace.Body{Phase: &trace.Phase{From: from, To: now.Status.Phase}})
	}
	if q.Verb == "create" && known {
		r.made(object, a.Name)
	}
	if !r.rec.add(h.incarnation, object, bodies...) {
		return proxy.Action{}
	}
	if known && !a.Late {
		r.hold(object, now)
	}
	faults := h.changed(object, bodies[1:])
	if h.strikable(q) && applied(a) {
		faults = append(faults, h.applied(h.write(q, a.Name, before))...)
	}
	return h.reply(faults)
}

// changed notes what has become of the object, and returns the faults that strike for that.
func (h hooks) changed(object string, bodies []trace.Body) []scenario.Fault {
	switch {
	case len(bodies) == 0:
		return nil
	case bodies[0].Deleted != nil:
		h.run.changeOf(object, scenario.Deleted)
		return nil
	}
	h.run.changeOf(object, bodies[0].Phase.To)
	return h.run.points.Phase(object, bodies[0].Phase.To)
}

// hold notes whether an object's post-actions are to come.
func (r *run) hold(object string, now state) {
	r.change(func() {
		if delete(r.held, object); !now.gone() && slices.Contains(now.Metadata.Finalizers, actions.Finalizer) {
			r.held[object] = true
		}
	})
}

// objectOf is how the trace names what a request is about: backup/backup-1; resource/namespace/name outside Velero's namespace.
func (r *run) objectOf(q *proxy.Request, name string) string {
	switch {
	case q.Group == velerov1.SchemeGroupVersion.Group && q.Namespace == r.cluster.Velero:
		return strings.TrimSuffix(q.Resource, "s") + "/" + name
	case q.Namespace == "":
		return q.Resource + "/" + name
	}
	return r.cluster.Outside(q.Resource + "/" + q.Namespace + "/" + name)
}

// state is what the answer to a write says of one of Velero's objects.
type state struct {
	Kind     string `json:"kind"`
	Metadata struct {
		DeletionTimestamp string   `json:"deletionTimestamp"`
		Finalizers        []string `json:"finalizers"`
	} `json:"metadata"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
	deleted bool
}

// gone reports whether the write was the object's last.
func (s state) gone() bool {
	return len(s.Metadata.Finalizers) == 0 && (s.deleted || s.Metadata.DeletionTimestamp != "")
}

// applied reports whether the API server has said that a write was.
func applied(a *proxy.Response) bool { return a.Status == nil && a.Err == nil && a.Code < 300 }

// stateOf returns what has become of one of Velero's objects; not known: it is none, or the write failed.
func stateOf(q *proxy.Request, a *proxy.Response) (s state, known bool) {
	if q.Group != velerov1.SchemeGroupVersion.Group || !applied(a) {
		return s, false
	}
	s.deleted = q.Verb == "delete"
	if a.Object == nil {
		return s, s.deleted
	}
	return s, json.Unmarshal(a.Object, &s) == nil
}
