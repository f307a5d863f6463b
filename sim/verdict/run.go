package verdict

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// run is a trace folded by object, as the oracles read it.
type run struct {
	trace   trace.Trace
	events  []trace.Event
	at      trace.Time // when it ended; of a cut-off trace, the time of the last event
	objects []*object
	calls   []*call           // by the index of the event that is the call or its return; nil: the event is neither
	faults  map[string]bool   // that struck
	missed  map[string]string // faults that did not, and why
	predict predict
	// predicted is what predict has said, by the rules without their name.
	predicted map[phase.Rules]predicted
}

// object is a backup or a restore.
type object struct {
	name       string // kind/name
	kind       phase.Kind
	created    *trace.Created
	createdAt  trace.Time
	changes    []change
	calls      []*call
	operations []*operation // in the order in which they were started
	byID       map[operationID]*operation
	api, store *trace.Rest
}

// change is one change of phase. Event is its index in run.events.
type change struct {
	trace.Phase
	at          trace.Time
	event       int
	incarnation int
}

// call is a plugin call, and what came of it.
type call struct {
	*trace.Call
	object      *object
	operation   *operation // nil: of Execute
	at          trace.Time
	event       int
	incarnation int
	reply       *trace.Return
	replied     int // the reply's event
	// lost: the server ended before the call returned.
	lost bool
}

func (c *call) inFlight() bool { return c.reply == nil && !c.lost }

func fold(t trace.Trace) *run {
	r := &run{trace: t, events: t.Events, at: t.Last(), calls: make([]*call, len(t.Events)), faults: map[string]bool{}, missed: map[string]string{}}
	open := map[int]*call{}
	for i := range r.events {
		e := &r.events[i]
		o := r.object(e.Object)
		switch {
		case e.Fault != nil && e.Fault.Missed != "":
			r.missed[e.Fault.ID] = e.Fault.Missed
		case e.Fault != nil:
			r.faults[e.Fault.ID] = true
		case e.Process != nil && e.Process.Name == server:
			for id, c := range open {
				if ends(e, c.incarnation) {
					c.lost = true
					delete(open, id)
				}
			}
		case e.Return != nil:
			if c := open[e.Return.ID]; c != nil {
				delete(open, e.Return.ID)
				c.reply, c.replied, r.calls[i] = e.Return, i, c
				if c.Method == execute && e.Return.Operation != "" {
					c.object.start(e.Return.Operation, c, e.At)
				}
			}
		case o == nil:
		case e.Created != nil:
			o.created, o.createdAt = e.Created, e.At
		case e.Phase != nil:
			o.changes = append(o.changes, change{Phase: *e.Phase, at: e.At, event: i, incarnation: e.Incarnation})
		case e.Call != nil:
			c := &call{Call: e.Call, object: o, at: e.At, event: i, incarnation: e.Incarnation}
			if c.Method != execute {
				c.operation = o.operation(operationID{c.Plugin, c.Operation})
				c.operation.calls = append(c.operation.calls, c)
			}
			open[c.ID], r.calls[i] = c, c
			o.calls = append(o.calls, c)
		case e.Rest != nil && e.Rest.Copy == "api":
			o.api = e.Rest
		case e.Rest != nil && e.Rest.Copy == "store":
			o.store = e.Rest
		}
	}
	return r
}

// Names in events.
const (
	server    = "server"
	started   = "started"
	execute   = "Execute"
	progress  = "Progress"
	cancel    = "Cancel"
	stopped   = "stopped"
	finalizes = "Finalizing"                 // prefix of the two phases of the finalizers
	waits     = "WaitingForPluginOperations" // prefix of the two phases of the operations controllers
)

// ends reports whether the server's event ends the calls of the incarnation: it ended itself, or a later one started.
func ends(e *trace.Event, incarnation int) bool {
	if e.Process.State == started {
		return e.Incarnation > incarnation
	}
	return e.Incarnation == 0 || e.Incarnation == incarnation
}

// object returns the object of that name, made on first sight; nil if it is neither a backup nor a restore.
func (r *run) object(name string) *object {
	if o := r.find(name); o != nil {
		return o
	}
	kind, ok := kindOf(name)
	if !ok {
		return nil
	}
	o := &object{name: name, kind: kind, byID: map[operationID]*operation{}}
	r.objects = append(r.objects, o)
	return o
}

func (r *run) find(name string) *object {
	for _, o := range r.objects {
		if o.name == name {
			return o
		}
	}
	return nil
}

func kindOf(name string) (phase.Kind, bool) {
	switch kind, _, _ := strings.Cut(name, "/"); kind {
	case "backup":
		return phase.Backup, true
	case "restore":
		return phase.Restore, true
	}
	return 0, false
}

// id is the object's name without its kind.
func (o *object) id() string {
	_, id, _ := strings.Cut(o.name, "/")
	return id
}

// stores reports whether the event is an access to that file of the object, in the object store.
func (o *object) stores(e trace.Event, file string) bool {
	kind, id, _ := strings.Cut(o.name, "/")
	return e.Store != nil && strings.HasSuffix(e.Store.Key, "/"+kind+"s/"+id+"/"+file)
}

// phase is the object's last phase.
func (o *object) phase() string {
	if o == nil || len(o.changes) == 0 {
		return ""
	}
	return o.changes[len(o.changes)-1].To
}

// phaseAt is the phase that the object had when the event happened.
func (o *object) phaseAt(event int) (p string) {
	for _, c := range o.changes {
		if c.event > event {
			break
		}
		p = c.To
	}
	return p
}

// finalizing reports whether the object was in a phase of the finalizers by that event.
func (o *object) finalizing(event int) bool {
	return slices.ContainsFunc(o.changes, func(c change) bool {
		return c.event <= event && strings.HasPrefix(c.To, finalizes)
	})
}

// finalized reports whether the finalizer took the object to its last phase.
func (o *object) finalized() bool {
	if len(o.changes) == 0 {
		return false
	}
	last := o.changes[len(o.changes)-1]
	return strings.HasPrefix(last.From, finalizes) && final(last.To)
}

func final(p string) bool {
	parsed, err := phase.Parse(p)
	return err == nil && parsed.Final()
}
