package virtual

import (
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/apiserver"
)

// request lets the faults strike whose point is this write, before it is applied. The error is what the client gets: then it is not.
func (g gate) request(r apiserver.Request, what string) (refusal error) {
	run := g.inc.run
	run.writing = nil
	if r.Verb == "get" || r.Verb == "list" || r.Verb == "watch" || strings.HasSuffix(g.who, pluginSuffix) {
		return run.faults.connection.reachable()
	}
	object := objectOf(r)
	w := cluster.NewWrite(run.names, r.Verb, object, run.phases[run.names.Next(object)], r.Body)
	held, latency := false, time.Duration(0)
	for _, x := range run.faults.points.Write(w, false) {
		switch {
		case x.Do.Refuse != "":
			run.faults.struck(x, cluster.Refused(w, x))
			refusal = cluster.Refusal(x.Do.Refuse, r.Verb, schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name)
		case x.Do.Latency.Duration > 0:
			run.faults.struck(x, cluster.Late(w, x))
			latency += x.Do.Latency.Duration
		default:
			run.faults.strike(x)
			// What the user does at this point comes before the write; one that was sent, a pause of its sender does not hold up.
			held = held || x.Do.Pause.Duration == 0
		}
	}
	if held || latency > 0 {
		time.Sleep(latency)
		if err := g.inc.step(g.who, what+": held up"); err != nil {
			return err
		}
	}
	if err := run.faults.connection.reachable(); err != nil {
		refusal = err
	}
	if refusal != nil {
		g.refused(r, w, refusal)
		return refusal
	}
	run.writing = &w // nothing else acts until it is applied, and Reply is called
	return nil
}

// reply lets the faults strike whose point is that the write was applied, and makes its reply a step. Err is why it was not.
func (g gate) reply(err error, what string) (lost error) {
	run := g.inc.run
	if w := run.writing; w != nil && err == nil {
		latency := time.Duration(0)
		for _, x := range run.faults.points.Write(*w, true) {
			switch {
			case x.Do.LoseReply:
				run.faults.struck(x, cluster.ReplyLost(*w, x))
				lost = io.ErrUnexpectedEOF
			case x.Do.Latency.Duration > 0:
				run.faults.struck(x, cluster.Late(*w, x))
				latency += x.Do.Latency.Duration
			default:
				run.faults.strike(x)
			}
		}
		time.Sleep(latency)
	}
	if err := g.inc.step(g.who, what); err != nil {
		return err
	}
	if run.faults.connection.reachable() != nil { // the connection broke meanwhile
		lost = io.ErrUnexpectedEOF
	}
	return lost
}

// refused records a write that never came to the API server.
func (g gate) refused(r apiserver.Request, w cluster.Write, err error) {
	object := objectOf(r)
	if strings.HasPrefix(w.Object, "backup/") {
		object = w.Object // a schedule's backup that is not created is none
	}
	body := trace.Write{Client: g.who, Verb: r.Verb, Resource: r.Resource, Name: strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"), Error: err.Error()}
	if r.Verb == "patch" {
		body.Change = string(r.Body)
	}
	g.inc.record(object, trace.Body{Write: &body})
}
