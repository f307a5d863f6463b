package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// run is a trace folded by object, as the oracles read it.
type run struct {
	scenario *scenario.Scenario
	trace    trace.Trace
	events   []trace.Event
	at       trace.Time // when it ended; of a cut-off trace, the time of the last event
	objects  []*object
	byName   map[string]*object
	// nobody has the calls that are made for no object, or of which the trace does not say for which.
	nobody  *object
	open    []*call           // in flight when the run ended, in the order in which they were made
	calls   []*call           // by the index of the event that is the call or its return; nil: the event is neither
	faults  map[string]bool   // that struck
	missed  map[string]string // faults that did not, and why
	predict predict
	waits   map[string][]string // what objects wait for when the run has ended, by name; nil: nobody has asked
	stale   map[string]int      // the events at which objects were taken for what they had been, by name
	// contested are the events from which on two servers work on objects, by name.
	contested map[string]int
	// predicted is what predict has said, by the rules without their name.
	predicted map[phase.Rules][]model.Prediction
}

// object is a backup or a restore.
type object struct {
	name       string // kind/name
	kind       phase.Kind
	created    *trace.Created // the first time
	createdAt  trace.Time
	changes    []change // the last is to scenario.Deleted, if it is gone
	calls      []*call
	operations []*operation // in the order in which they were started
	byID       map[operationID]*operation
	api, store *trace.Rest
}

// change is one change of phase. Event is its index in run.events. That the object is deleted is a change to scenario.Deleted.
type change struct {
	trace.Phase
	at          trace.Time
	event       int
	incarnation int
	// synced: it is the phase that the object came with, when backup sync brought it from the object store.
	synced bool
}

// call is a plugin call, and what came of it.
type call struct {
	*trace.Call
	object      *object
	operation   *operation // of Progress and Cancel; else nil
	at          trace.Time
	event       int
	incarnation int
	reply       *trace.Return
	replied     int // the reply's event
	// lost: the server ended before the call returned.
	lost bool
}

func (c *call) inFlight() bool { return c.reply == nil && !c.lost }

func fold(s *scenario.Scenario, t trace.Trace) *run {
	r := &run{
		scenario: s, trace: t, events: t.Events, at: t.Last(), byName: map[string]*object{}, nobody: &object{byID: map[operationID]*operation{}},
		calls: make([]*call, len(t.Events)), faults: map[string]bool{}, missed: map[string]string{}, predicted: map[phase.Rules][]model.Prediction{},
	}
	open, incarnation := map[int]*call{}, 0
	for i := range r.events {
		e := &r.events[i]
		o := r.object(e.Object)
		switch {
		case e.Fault != nil && e.Fault.Missed != "":
			r.missed[e.Fault.ID] = e.Fault.Missed
		case e.Fault != nil:
			r.faults[e.Fault.ID] = true
			if c := r.hanging(i, incarnation); c != nil {
				open[c.ID], r.calls[i] = c, c
			}
		case e.Process != nil && e.Process.Name == server:
			if e.Process.State == started {
				incarnation = e.Incarnation
			}
			for id, c := range open {
				if ends(e, c.incarnation) {
					c.lost = true
					delete(open, id)
				}
			}
		case e.Process != nil && e.Process.State == trace.ProcessFailed:
			for _, o := range r.objects {
				for _, op := range o.operations {
					if op.plugin == e.Process.Name {
						op.unserved = append(op.unserved, i)
					}
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
		case e.Call != nil:
			c := &call{Call: e.Call, object: cmp.Or(o, r.nobody), at: e.At, event: i, incarnation: e.Incarnation}
			if c.Method == progress || c.Method == cancel {
				c.operation = c.object.operation(operationID{c.Plugin, c.Operation})
				c.operation.calls = append(c.operation.calls, c)
			}
			open[c.ID], r.calls[i] = c, c
			c.object.calls = append(c.object.calls, c)
		case o == nil:
		case e.Created != nil && o.created == nil:
			o.created, o.createdAt = e.Created, e.At
		case e.Deleted != nil:
			o.changes = append(o.changes, change{Phase: trace.Phase{From: o.phase(), To: scenario.Deleted}, at: e.At, event: i})
		case e.Phase != nil:
			came := o.gone() || o.created == nil && len(o.changes) == 0
			o.changes = append(o.changes, change{
				Phase: *e.Phase, at: e.At, event: i, incarnation: e.Incarnation, synced: came && o.kind == phase.Backup && synced(e.Phase.To),
			})
		case e.Rest != nil && e.Rest.Copy == "api":
			o.api = e.Rest
		case e.Rest != nil && e.Rest.Copy == "store":
			o.store = e.Rest
		}
	}
	for i, c := range r.calls {
		if c != nil && c.event == i && c.inFlight() {
			r.open = append(r.open, c)
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

// ends reports whether the server's event is the end of the incarnation, and with it of its calls.
func ends(e *trace.Event, incarnation int) bool {
	return e.Process.State != started && (e.Incarnation == 0 || e.Incarnation == incarnation)
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
	r.byName[name] = o
	return o
}

func (r *run) find(name string) *object { return r.byName[name] }

// callers are the objects that calls were made for, and nobody.
func (r *run) callers() []*object { return append(slices.Clip(r.objects), r.nobody) }

func kindOf(name string) (phase.Kind, bool) {
	switch kind, _, _ := strings.Cut(name, "/"); kind {
	case "backup":
		return phase.Backup, true
	case "restore":
		return phase.Restore, true
	}
	return 0, false
}

// id is the object's name in the cluster, without its kind.
func (o *object) id() string {
	if o.created != nil && o.created.Name != "" { // a schedule's backup
		return o.created.Name
	}
	_, id, _ := strings.Cut(o.name, "/")
	return id
}

// stores reports whether the event is an access to that file of the object, in the object store.
func (o *object) stores(e trace.Event, file string) bool {
	return e.Store != nil && strings.HasSuffix(e.Store.Key, "/"+o.kind.String()+"s/"+o.id()+"/"+file)
}

// gone reports whether the object was deleted, and nothing has brought it back.
func (o *object) gone() bool { return o.phase() == scenario.Deleted }

// phase is the object's last phase; scenario.Deleted if it is gone.
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

// finalized reports whether the finalizer took the object to its last phase. Backup sync may have brought it back with that.
func (o *object) finalized() bool {
	for _, c := range slices.Backward(o.changes) {
		if !c.synced && c.To != scenario.Deleted {
			return strings.HasPrefix(c.From, finalizes) && synced(c.To)
		}
	}
	return false
}

// steps are the object's changes of phase: that it is deleted is none, nor that it is brought back as it was.
func (o *object) steps() []change {
	var steps []change
	for _, c := range o.changes {
		if c.To != scenario.Deleted && (!c.synced || len(steps) == 0 || c.To != steps[len(steps)-1].To) {
			steps = append(steps, c)
		}
	}
	return steps
}

// ended reports whether the object has ever come to its end.
func (o *object) ended() bool {
	return o != nil && slices.ContainsFunc(o.changes, func(c change) bool { return final(c.To) })
}

// has reports whether the object was ever in one of the phases.
func (o *object) has(phases ...string) bool {
	return o != nil && slices.ContainsFunc(o.changes, func(c change) bool { return slices.Contains(phases, c.To) })
}

// final reports whether an object with this last phase has come to its end, or is gone.
func final(p string) bool {
	parsed, err := phase.Parse(p)
	return p == scenario.Deleted || err == nil && parsed.Final()
}

// synced reports whether a backup may come from the object store in this phase: Reconcile, pkg/controller/backup_sync_controller.go.
func synced(p string) bool {
	return p == phase.Completed.String() || p == phase.PartiallyFailed.String() || p == phase.Failed.String()
}
