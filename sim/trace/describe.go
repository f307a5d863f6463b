package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Description is the state of a run at an instant, as far as its trace tells: what `velero backup describe --details` shows,
// and what each object waits for.
type Description struct {
	Header Header
	At     Time
	// End is set if the run had ended by then.
	End *End
	// Server is the last start or end of the server; zero: there was none yet.
	Server ServerState
	// Objects in the order in which they appear in the trace.
	Objects []Object
}

// ServerState is what became of the server, and when.
type ServerState struct {
	// State is started, stopped or killed.
	State       string
	Since       Time
	Incarnation int
}

// Object is the state of a backup or restore.
type Object struct {
	// Name is kind/name. InCluster is its name in the cluster, if that is another, and Schedule made it.
	Name, InCluster, Schedule string
	// Phase, empty before the first was written, and when it was.
	Phase string
	Since Time
	// Created by the user or the schedule, for the first time; negative: the trace does not say.
	Created Time
	// Deleted is when it was; negative: it is there.
	Deleted Time
	// Started is when it became InProgress; negative: it has not yet.
	Started Time
	// ItemOperationTimeout of its spec; 0: the trace does not say.
	ItemOperationTimeout Time
	// Operations in the order in which they were started.
	Operations []ItemOperation
	// Waiting is what the object waits for; none: its phase is final, or it is gone.
	Waiting []Wait

	// reconcile is the last error of a reconcile since the phase was written.
	reconcile *Event
}

// ItemOperation is an asynchronous operation as Velero has seen it through Execute, Progress and Cancel.
type ItemOperation struct {
	Plugin string
	// Item that Execute was called for, resource/namespace/name.
	Item string
	ID   string
	// State is running, completed, failed or timed out, the last when Cancel has returned.
	State string
	// Error with which it failed.
	Error string
	// Created is when Execute returned.
	Created Time
	// Progress is the last reply; nil: there was none.
	Progress *Progress
}

// Wait is something that an object waits for.
type Wait struct {
	// For is what, in words, with plugin, item and operation ID.
	For   string
	Since Time
	// Until is when Velero gives up; 0: never.
	Until Time
}

func (w Wait) String() string {
	s := fmt.Sprintf("%s, since %s", w.For, w.Since)
	if w.Until != 0 {
		s += fmt.Sprintf(", until %s", w.Until)
	}
	return s
}

// Last is the instant at which the trace ends: that of its end or, where it has none, of its last event.
func (t Trace) Last() Time {
	last := t.End.At
	if n := len(t.Events); n > 0 {
		last = max(last, t.Events[n-1].At)
	}
	return last
}

// Describe describes the run at an instant, after all that happened at it. The end of the run is at [Trace.Last].
func Describe(t Trace, at Time) Description {
	f := fold{objects: make(map[string]*Object), operations: make(map[operationKey]int)}
	for _, e := range t.Events {
		if e.At > at {
			break
		}
		f.event(e)
	}
	d := Description{Header: t.Header, At: at, Server: f.server}
	if t.End.Reason != "" && t.End.At <= at {
		d.End = &t.End
	}
	for _, name := range f.names {
		o := *f.objects[name]
		o.Waiting = f.waiting(o)
		d.Objects = append(d.Objects, o)
	}
	return d
}

// fold is the state that the events so far have led to.
type fold struct {
	server  ServerState
	up      []ServerState // that run
	names   []string
	objects map[string]*Object
	// operations are the indices in their objects' Operations.
	operations map[operationKey]int
	calls      []Event // that have not returned
}

// operationKey tells operations apart: two plugins may choose the same ID, and so may one for a backup and for a restore.
type operationKey struct{ object, plugin, id string }

func (f *fold) object(name string) *Object {
	o := f.objects[name]
	if o == nil {
		o = &Object{Name: name, Created: -1, Started: -1, Deleted: -1}
		f.objects[name] = o
		f.names = append(f.names, name)
	}
	return o
}

func (f *fold) event(e Event) {
	switch {
	case e.Created != nil:
		o := f.object(e.Object)
		if o.Created < 0 { // else backup sync has brought it back
			o.Created = e.At
		}
		o.Since, o.Deleted, o.ItemOperationTimeout = e.At, -1, e.Created.ItemOperationTimeout
		o.InCluster, o.Schedule = e.Created.Name, e.Created.Schedule
	case e.Deleted != nil:
		f.object(e.Object).Deleted = e.At
	case e.Phase != nil:
		o := f.object(e.Object)
		o.Phase, o.Since, o.Deleted, o.reconcile = e.Phase.To, e.At, -1, nil
		if e.Phase.To == "InProgress" {
			o.Started = e.At
		}
	case e.Call != nil:
		f.calls = append(f.calls, e)
	case e.Return != nil:
		f.returned(e)
	case e.Process != nil && e.Process.Name == "server":
		f.process(ServerState{State: e.Process.State, Since: e.At, Incarnation: e.Incarnation})
		if e.Process.State != "started" { // the dead one's calls are answered to nobody
			f.calls = slices.DeleteFunc(f.calls, func(c Event) bool { return c.Incarnation == e.Incarnation })
		}
	case e.Reconcile != nil:
		for _, o := range f.objects {
			if e.Object == "" || e.Object == o.Name { // a reconcile may not say of which object it was
				o.reconcile = &e
			}
		}
	}
}

// process notes that a server has started, or ended. Of several that run, the last one is the server.
func (f *fold) process(s ServerState) {
	f.server = s
	if s.State == "started" {
		f.up = append(f.up, s)
		return
	}
	f.up = slices.DeleteFunc(f.up, func(up ServerState) bool { return up.Incarnation == s.Incarnation })
	if n := len(f.up); n > 0 {
		f.server = f.up[n-1]
	}
}

// returned notes what Velero makes of a reply (pkg/controller/backup_operations_controller.go,
// getBackupItemOperationProgress, and its like for restores).
func (f *fold) returned(e Event) {
	i := slices.IndexFunc(f.calls, func(c Event) bool { return c.Call.ID == e.Return.ID })
	if i < 0 {
		return
	}
	call := f.calls[i]
	f.calls = slices.Delete(f.calls, i, i+1)
	r := e.Return
	if call.Call.Operation == "" && r.Operation == "" { // of no operation
		return
	}
	op := f.operation(call, r)
	switch p := r.Progress; {
	case call.Call.Method == "Execute":
		op.State, op.Created = "running", e.At
	case call.Call.Method == "Cancel": // which Velero does when the time is up, and only then; it ignores the error
		op.State, op.Error = "timed out", "Asynchronous action timed out"
	case r.Error != "":
		op.State, op.Error = "failed", r.Error
	case p == nil:
	case !p.Completed:
		op.State, op.Error, op.Progress = "running", "", p
	case p.Error != "":
		op.State, op.Error, op.Progress = "failed", p.Error, p
	default:
		op.State, op.Error, op.Progress = "completed", "", p
	}
}

// operation finds the operation that a call started or was made for.
func (f *fold) operation(call Event, r *Return) *ItemOperation {
	id := call.Call.Operation
	if call.Call.Method == "Execute" {
		id = r.Operation
	}
	o := f.object(call.Object)
	key := operationKey{call.Object, call.Call.Plugin, id}
	i, ok := f.operations[key]
	if !ok {
		i = len(o.Operations)
		f.operations[key] = i
		o.Operations = append(o.Operations, ItemOperation{Plugin: call.Call.Plugin, Item: call.Call.Item, ID: id})
	}
	return &o.Operations[i]
}

// waiting is what the object waits for: the server, a reply, or what its phase stands for.
func (f *fold) waiting(o Object) []Wait {
	next, ok := nextStep(o.Phase)
	if !ok || o.Deleted >= 0 {
		return nil
	}
	if s := f.server; s.State != "started" {
		if s.State == "" {
			return []Wait{{For: "the server, which has not started", Since: o.Since}}
		}
		return []Wait{{For: "the server, which is down (" + s.State + ")", Since: s.Since}}
	}
	var waits []Wait
	for _, e := range f.calls {
		if e.Object == o.Name || e.Object == "" && o.resolves() {
			w := Wait{For: "a reply to " + e.Call.what(), Since: e.At}
			for _, op := range o.Operations {
				if op.ID == e.Call.Operation && op.Plugin == e.Call.Plugin && op.Item != "" {
					w.For += " (" + op.Item + ")"
				}
			}
			waits = append(waits, w)
		}
	}
	if len(waits) > 0 {
		return waits
	}
	if strings.HasPrefix(o.Phase, "WaitingForPluginOperations") {
		for _, op := range o.Operations {
			if op.State == "running" {
				waits = append(waits, Wait{For: op.what(), Since: op.Created, Until: o.deadline(op)})
			}
		}
	}
	if len(waits) > 0 {
		return waits
	}
	w := Wait{For: next, Since: o.Since}
	if r := o.reconcile; r != nil {
		w.For += fmt.Sprintf(" (last reconcile, at %s: %s: %s)", r.At, r.Reconcile.Controller, r.Reconcile.Error)
	}
	return []Wait{w}
}

// resolves reports whether the server may be asking plugins what they apply to, which it does for no object that it tells them of.
func (o Object) resolves() bool {
	return o.Phase == "InProgress" || o.Phase == "Deleting" || strings.HasPrefix(o.Phase, "Finalizing")
}

// deadline is when Velero cancels the operation, at the latest one poll later; 0: the trace does not say.
func (o Object) deadline(op ItemOperation) Time {
	if o.ItemOperationTimeout == 0 {
		return 0
	}
	return op.Created + o.ItemOperationTimeout
}

// nextStep is what the server does next with an object in the phase, and false if there is nothing left to do.
func nextStep(phase string) (string, bool) {
	switch phase {
	case "", "New":
		return "the server to take it up", true
	case "Queued":
		return "its turn in the queue", true
	case "ReadyToStart":
		return "the server to start it", true
	case "InProgress":
		return "the server to go through the items", true
	case "WaitingForPluginOperations", "WaitingForPluginOperationsPartiallyFailed":
		return "the server's next poll", true
	case "Finalizing", "FinalizingPartiallyFailed":
		return "the server to finalize it", true
	case "Deleting":
		return "the server to delete it", true
	}
	return "", false
}

// what says which operation, of which plugin, on which item.
func (op ItemOperation) what() string {
	s := fmt.Sprintf("operation %s of %s", op.ID, op.Plugin)
	if op.Item != "" {
		s += " on " + op.Item
	}
	return s
}
