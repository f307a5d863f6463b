package envtest

import (
	"context"
	"encoding/json"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/sim/trace"
)

// hooks see what a server sends to the API server.
type hooks struct{ *server }

// Before implements proxy.Hooks.
func (hooks) Before(*proxy.Request) proxy.Action { return proxy.Action{} }

// After implements proxy.Hooks: it records the write, and the phase that it has changed. The server does not learn of a write at
// which it is killed.
func (h hooks) After(q *proxy.Request, a *proxy.Response) proxy.Action {
	r := h.run
	write := proxy.Write(q, a)
	object := r.objectOf(q, a.Name)
	bodies := []trace.Body{{Write: &write}}
	from, to := r.phase(object), phaseOf(q, a)
	if to != "" && from != to && !a.Late {
		bodies = append(bodies, trace.Body{Phase: &trace.Phase{From: from, To: to}})
	}
	if !r.rec.add(h.incarnation, object, bodies...) || len(bodies) == 1 {
		return proxy.Action{}
	}
	r.change(func() { r.phases[object] = to })
	faults := r.points.Phase(object, to)
	if len(faults) == 0 {
		return proxy.Action{}
	}
	return proxy.Action{Wait: func(ctx context.Context) {
		for _, x := range faults {
			if r.strike(h.server, x); x.At.Delay.Duration == 0 {
				<-ctx.Done() // the server has been killed
			}
		}
	}}
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

// phaseOf is the phase of Velero's object after the write; empty: it has none.
func phaseOf(q *proxy.Request, a *proxy.Response) string {
	if q.Group != velerov1.SchemeGroupVersion.Group || a.Object == nil {
		return ""
	}
	var o struct {
		Status struct {
			Phase string `json:"phase"`
		} `json:"status"`
	}
	if json.Unmarshal(a.Object, &o) != nil {
		return ""
	}
	return o.Status.Phase
}
