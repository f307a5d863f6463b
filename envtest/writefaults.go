package envtest

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// write is how points name a write of an object with this name, which was in this phase before.
func (h hooks) write(q *proxy.Request, name string, before *string) cluster.Write {
	from := ""
	if before != nil {
		from = *before
	}
	return cluster.NewWrite(h.run.names, q.Verb, h.run.objectOf(q, name), from, q.Body)
}

// request lets the faults strike whose point is a write of the server, before it is applied.
func (h hooks) request(q *proxy.Request) (a proxy.Action) {
	r := h.run
	object := r.objectOf(q, q.Name)
	w := h.write(q, q.Name, r.lastPhase(r.names.Next(object)))
	faults := r.points.Write(w, false)
	for _, x := range faults {
		h.writeStruck(w, x)
		if x.Do.Refuse != "" {
			refusal := cluster.Refusal(x.Do.Refuse, q.Verb, schema.GroupResource{Group: q.Group, Resource: q.Resource}, q.Name).Status()
			a.Answer = &refusal
		}
	}
	if len(faults) == 0 && !r.line.Broken() {
		return a
	}
	a.Wait = func(ctx context.Context) {
		h.strikeAt(ctx, faults)
		if r.line.Broken() {
			h.unreachable(q, object)
		} else if a.Answer != nil && ctx.Err() == nil {
			if strings.HasPrefix(w.Object, "backup/") {
				object = w.Object // a schedule's backup that is not created is none
			}
			refused := proxy.Write(q, &proxy.Response{Name: q.Name, Code: int(a.Answer.Code), Status: a.Answer})
			r.rec.add(h.incarnation, object, trace.Body{Write: &refused})
		}
	}
	return a
}

// applied are the faults that strike as the write was applied.
func (h hooks) applied(w cluster.Write) []scenario.Fault {
	faults := h.run.points.Write(w, true)
	for _, x := range faults {
		h.writeStruck(w, x)
	}
	return faults
}

// reply lets faults strike before a write's reply is seen.
func (h hooks) reply(faults []scenario.Fault) (a proxy.Action) {
	if len(faults) == 0 {
		return a
	}
	for _, x := range faults {
		a.Drop = a.Drop || x.Do.LoseReply
	}
	a.Wait = func(ctx context.Context) { h.strikeAt(ctx, faults) }
	return a
}

// strikeAt lets faults strike at a request, or its reply. What the user does at once is done before it goes on.
func (h hooks) strikeAt(ctx context.Context, faults []scenario.Fault) {
	for _, x := range faults {
		switch {
		case x.Do.Refuse != "" || x.Do.LoseReply:
		case x.Do.Latency.Duration > 0:
			select {
			case <-time.After(x.Do.Latency.Duration):
			case <-ctx.Done():
			}
		case x.At.Write != nil && x.At.Delay.Duration == 0 && !x.Do.OnServer() && x.Do.Outage.Duration == 0 && !x.Do.Severs():
			h.run.userDoes(x)
		case h.run.strike(h.server, x):
			<-ctx.Done() // the server has been killed
		}
	}
}

// writeStruck records a fault that strikes a write: once, if it goes on to.
func (h hooks) writeStruck(w cluster.Write, x scenario.Fault) {
	switch {
	case x.Do.Refuse != "":
		h.run.struck(x, cluster.Refused(w, x))
	case x.Do.LoseReply:
		h.run.struck(x, cluster.ReplyLost(w, x))
	case x.Do.Latency.Duration > 0:
		h.run.struck(x, cluster.Late(w, x))
	}
}
