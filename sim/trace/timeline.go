package trace

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Timeline prints a run for a person to follow, a line an event: when, which object, what. It can print while the run goes
// on. Calls are printed together with their outcome, unless something else is printed in between; polls that bring
// nothing new are folded into one line.
type Timeline struct {
	w       io.Writer
	verbose bool
	err     error

	calls    map[int]*Event         // that have not returned, by the call's ID
	waiting  []*Event               // those of them that have not been printed, in order
	replies  map[operationKey]reply // the last one
	versions map[string]string      // resourceVersion, by resource and name
	servers  map[int]bool           // that run, by incarnation
	polls    folded                 // without change since the last line
	puts     folded                 // to the same folder
	folder   string
}

// reply is what Progress returned, or zero for AreAdditionalItemsReady that said no, and how long it took.
type reply struct {
	Progress
	took Time
}

// folded are events that make one line.
type folded struct {
	n           int
	object      string
	first, last Time
}

// NewTimeline returns a timeline that prints to w. It leaves out plugin processes that start and stop as they should.
// Unless it is verbose, it also leaves out reads of the object store, successful patches and writes that change nothing, and
// calls of AppliesTo that return as they should; and it folds writes to one folder of the store.
func NewTimeline(w io.Writer, verbose bool) *Timeline {
	return &Timeline{
		w: w, verbose: verbose,
		calls:    make(map[int]*Event),
		replies:  make(map[operationKey]reply),
		versions: make(map[string]string),
		servers:  make(map[int]bool),
	}
}

// Event prints an event, or keeps it until it is clear how. The error is the writer's first.
func (t *Timeline) Event(e Event) error {
	if p := e.Process; p != nil && p.Name == "server" {
		t.servers[e.Incarnation] = true
		if p.State != "started" {
			defer delete(t.servers, e.Incarnation)
		}
	}
	switch {
	case e.Created != nil:
		t.line(e, "%s", e.Created.what())
	case e.Deleted != nil:
		t.line(e, "deleted")
	case e.Phase != nil:
		t.line(e, "%s -> %s", orNone(e.Phase.From), e.Phase.To)
	case e.Write != nil:
		if changed := t.changes(e.Write); t.verbose || changed {
			t.line(e, "%s", e.Write.what())
		}
	case e.Call != nil:
		t.calls[e.Call.ID] = &e
		t.waiting = append(t.waiting, &e)
	case e.Return != nil:
		t.returned(e)
	case e.Store != nil:
		t.store(e)
	case e.Fault != nil && e.Fault.Missed != "":
		t.line(e, "fault %s did not strike: %s", e.Fault.ID, e.Fault.Missed)
	case e.Fault != nil:
		t.line(e, "FAULT %s: %s", e.Fault.ID, e.Fault.What)
	case e.Process != nil:
		if p := e.Process; p.Name == "server" || p.State == "killed" || p.State == ProcessFailed {
			t.line(e, "process %s %s", p.Name, p.State)
		}
	case e.Reconcile != nil:
		how := "failed"
		if e.Reconcile.Panic {
			how = "PANICKED"
		}
		t.line(e, "%s: reconcile %s: %s", e.Reconcile.Controller, how, e.Reconcile.Error)
	case e.Rest != nil:
		t.line(e, "%s", e.Rest.what())
	case e.Item != nil:
		t.line(e, "%s", e.Item.what())
	case e.Plugin != nil:
		t.line(e, "registered: %s %s", e.Plugin.Kind, e.Plugin.Name)
	case e.Left != nil:
		t.line(e, "left behind: %s%s", e.Left.Process, e.Left.File)
	}
	return t.err
}

// End prints what was kept, and how the run ended. A trace that is cut off has no end: give it the zero End.
func (t *Timeline) End(end End) error {
	e := Event{At: end.At}
	switch {
	case end.Reason == "":
		t.flush()
		t.print(Event{At: -1}, "the trace is cut off here")
	case end.Detail != "":
		t.line(e, "end: %s\n%s", end.Reason, strings.TrimRight(end.Detail, "\n"))
	default:
		t.line(e, "end: %s", end.Reason)
	}
	return t.err
}

// line prints a line, after what was kept. Of several servers that run, it says which has done it.
func (t *Timeline) line(e Event, format string, args ...any) {
	t.flush()
	what := fmt.Sprintf(format, args...)
	if len(t.servers) > 1 && e.Incarnation > 0 {
		what += fmt.Sprintf(" (server %d)", e.Incarnation)
	}
	t.print(e, what)
}

// flush prints what was kept.
func (t *Timeline) flush() {
	t.flushPuts()
	t.flushPolls()
	for _, call := range t.waiting {
		t.print(*call, call.Call.what()+" …")
	}
	t.waiting = nil
}

func (t *Timeline) flushPolls() {
	if p := t.polls; p.n > 0 {
		t.print(Event{At: p.last, Object: p.object}, fmt.Sprintf("… %s, no change since %s", count(p.n, "poll"), p.first))
		t.polls = folded{}
	}
}

func (t *Timeline) flushPuts() {
	if p := t.puts; p.n > 0 {
		t.print(Event{At: p.last, Object: p.object}, fmt.Sprintf("stored %s in %s", count(p.n, "object"), t.folder))
		t.puts = folded{}
	}
}

func (f *folded) add(e Event) {
	if f.n == 0 {
		f.first, f.object = e.At, e.Object
	}
	if f.object != e.Object {
		f.object = ""
	}
	f.n++
	f.last = e.At
}

func (t *Timeline) returned(e Event) {
	call := t.calls[e.Return.ID]
	if call == nil {
		t.line(e, "call %d, which was never made, returned", e.Return.ID)
		return
	}
	delete(t.calls, e.Return.ID)
	printed := true // already, without its outcome
	for i, w := range t.waiting {
		if w == call {
			t.waiting = append(t.waiting[:i:i], t.waiting[i+1:]...)
			printed = false
			break
		}
	}
	if e.Object == "" {
		e.Object = call.Object
	}
	took := e.At - call.At
	if call.Call.Method == "AppliesTo" && e.Return.Error == "" && took < Time(time.Second) && !printed && !t.verbose {
		return
	}
	if t.repeats(call, e.Return, took) && !printed {
		t.flushPuts()
		t.polls.add(e)
		return
	}
	what := call.Call.what() + ": " + e.Return.what(call.Call.Method)
	if took > 0 {
		what += fmt.Sprintf(", after %s", took)
	}
	t.line(e, "%s", what)
}

// repeats notes what a poll has brought, and reports whether the one before did.
func (t *Timeline) repeats(call *Event, r *Return, took Time) bool {
	if r.Error != "" || r.Progress == nil && (r.Ready == nil || *r.Ready) {
		return false
	}
	key, now := operationKey{call.Object, call.Call.Plugin, call.Call.Operation}, reply{took: took}
	if r.Progress != nil {
		now.Progress = *r.Progress
	}
	last, ok := t.replies[key]
	t.replies[key] = now
	return ok && last == now
}

func (t *Timeline) store(e Event) {
	s := e.Store
	switch {
	case s.Error == "" && s.Verb == "put" && !t.verbose:
		folder := s.Key[:strings.LastIndex(s.Key, "/")+1]
		if t.puts.n == 0 || folder != t.folder {
			t.flush()
		}
		t.folder = folder
		t.puts.add(e)
	case t.verbose || s.Error != "" || s.Verb == "delete":
		t.line(e, "%s", s.what())
	}
}

// changes notes a write and reports whether it says something that no other event does.
func (t *Timeline) changes(w *Write) bool {
	key := w.Resource + " " + w.Name
	before, known := t.versions[key]
	if w.ResourceVersion != "" {
		t.versions[key] = w.ResourceVersion
	}
	if w.Error != "" {
		return true
	}
	unchanged := w.Change == "{}" || known && w.ResourceVersion != "" && before == w.ResourceVersion
	return !unchanged && !w.progress() && w.Resource != "leases" // which are renewed all the time
}

// print prints a line. Time is right-aligned, so that its length shows; a negative one is left out.
func (t *Timeline) print(e Event, what string) {
	if t.err != nil {
		return
	}
	at := ""
	if e.At >= 0 {
		at = e.At.String()
	}
	lines := strings.Split(what, "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	_, t.err = fmt.Fprintf(t.w, "%12s  %-18s  %s\n", at, oneLine(e.Object), strings.Join(lines, "\n"))
}
