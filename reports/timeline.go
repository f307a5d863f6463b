package reports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// timeline is a run as the page draws it: lanes with what lasted and what happened. Times are seconds from the start of the trace.
type timeline struct {
	End   float64 `json:"end"`
	Lanes []*lane `json:"lanes"`
	// Log is the run as text, for those who read more than they look.
	Log string `json:"log"`
	// Why the objects ended as they did.
	Why []reason `json:"why"`
}

// lane is a row of the drawing.
type lane struct {
	Name string `json:"name"`
	// Kind is server, fault, phase, operation, call, write or store.
	Kind  string `json:"kind"`
	Spans []span `json:"spans,omitempty"`
	Marks []mark `json:"marks,omitempty"`
}

// span is what lasted.
type span struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Class string  `json:"class"`
	Label string  `json:"label"`
	Seq   int     `json:"seq"`
}

// mark is what happened at an instant.
type mark struct {
	At    float64 `json:"at"`
	Class string  `json:"class"`
	Label string  `json:"label"`
	Seq   int     `json:"seq"`

	said string // what the label says without repetitions
	more int    // repetitions
}

// reason is a sentence, and the event that it speaks of.
type reason struct {
	Text string `json:"text"`
	Seq  int    `json:"seq,omitempty"`
}

// maxOperations is how many operations have a lane of their own; those that end badly come first.
const maxOperations = 60

// draft collects the lanes of a run.
type draft struct {
	*timeline
	objects    map[string]*lane
	order      []string
	calls      map[int]trace.Event
	operations map[string]*operation
	named      []string // operations, in order
	lanes      map[string]*lane
	servers    map[int]int // spans of the server's lane, by incarnation
}

// operation is what is known of one.
type operation struct {
	lane   *lane
	object string
	class  string
}

func seconds(t trace.Time) float64 { return time.Duration(t).Seconds() }

func newTimeline(t trace.Trace) *timeline {
	d := &draft{
		timeline: &timeline{End: seconds(t.Last())}, objects: map[string]*lane{}, calls: map[int]trace.Event{},
		operations: map[string]*operation{}, lanes: map[string]*lane{}, servers: map[int]int{},
	}
	for _, e := range t.Events {
		d.event(e)
	}
	d.finish()
	d.Why = why(t)
	var log bytes.Buffer
	printed := trace.NewTimeline(&log, false)
	for _, e := range t.Events {
		printed.Event(e) //nolint:errcheck // to a Buffer
	}
	printed.End(t.End) //nolint:errcheck
	d.Log = log.String()
	return d.timeline
}

// lane of a kind of which there is one for each name.
func (d *draft) lane(kind, name string) *lane {
	key := kind + " " + name
	if d.lanes[key] == nil {
		d.lanes[key] = &lane{Name: name, Kind: kind}
	}
	return d.lanes[key]
}

// back is how far a repetition is looked for.
const back = 64

// mark adds a mark. What is quiet, and repeats what was said since something else happened in the lane, is told by that.
func (d *draft) mark(l *lane, e trace.Event, class, format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	for i := len(l.Marks) - 1; class == "quiet" && i >= 0 && i > len(l.Marks)-back && l.Marks[i].Class == class; i-- {
		if m := &l.Marks[i]; m.said == said {
			m.more++
			m.Label = fmt.Sprintf("%s; and %d times more, until %s", said, m.more, e.At)
			return
		}
	}
	l.Marks = append(l.Marks, mark{At: seconds(e.At), Class: class, Label: said, Seq: e.Seq, said: said})
}

func (d *draft) event(e trace.Event) {
	switch {
	case e.Created != nil:
		d.mark(d.object(e.Object), e, "info", "created")
	case e.Deleted != nil:
		l := d.object(e.Object)
		d.endPhase(l, e)
		d.mark(l, e, "info", "deleted")
	case e.Phase != nil:
		l := d.object(e.Object)
		d.endPhase(l, e)
		l.Spans = append(l.Spans, span{seconds(e.At), -1, "phase " + e.Phase.To, e.Phase.To, e.Seq})
	case e.Call != nil:
		d.calls[e.Call.ID] = e
	case e.Return != nil:
		d.returned(e)
	case e.Write != nil:
		d.write(e)
	case e.Store != nil:
		class := "info"
		if e.Store.Error != "" {
			class = "bad"
		} else if e.Store.Verb == "get" || e.Store.Verb == "list" || e.Store.Verb == "exists" {
			class = "quiet"
		}
		d.mark(d.lane("store", "object store"), e, class, "%s %s%s", e.Store.Verb, e.Store.Key, failed(e.Store.Error))
	case e.Fault != nil:
		class, what := "fault", e.Fault.What
		if e.Fault.Missed != "" {
			class, what = "quiet", "did not strike: "+e.Fault.Missed
		}
		d.mark(d.lane("fault", "faults"), e, class, "%s: %s", e.Fault.ID, what)
	case e.Process != nil:
		d.process(e)
	case e.Reconcile != nil:
		d.mark(d.lane("error", "errors"), e, "bad", "%s: %s", e.Reconcile.Controller, e.Reconcile.Error)
	}
}

func failed(err string) string {
	if err == "" {
		return ""
	}
	return ": " + err
}

// object is the lane of an object's phases.
func (d *draft) object(name string) *lane {
	if d.objects[name] == nil {
		d.objects[name] = &lane{Name: name, Kind: "phase"}
		d.order = append(d.order, name)
	}
	return d.objects[name]
}

func (d *draft) endPhase(l *lane, e trace.Event) {
	if n := len(l.Spans); n > 0 && l.Spans[n-1].To < 0 {
		l.Spans[n-1].To = seconds(e.At)
	}
}

// write marks what changed something, or failed.
func (d *draft) write(e trace.Event) {
	w := e.Write
	class := "info"
	switch {
	case w.Error != "":
		class = "bad"
	case strings.HasPrefix(e.Object, "backupstoragelocation/"): // which is looked at again and again
		d.mark(d.lane("write", "writes"), e, "quiet", "%s: %s %s %s", w.Client, w.Verb, w.Resource, w.Name)
		return
	}
	what := strings.TrimSpace(fmt.Sprintf("%s: %s %s %s %s", w.Client, w.Verb, w.Resource, w.Name, short(w.Change)))
	d.mark(d.lane("write", "writes"), e, class, "%s%s", what, failed(w.Error))
}

// short is a text of bounded length.
func short(text string) string {
	const most = 300
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func (d *draft) process(e trace.Event) {
	p := e.Process
	if p.Name != "server" {
		if p.State == "killed" || p.State == trace.ProcessFailed {
			d.mark(d.lane("call", p.Name), e, "bad", "its process: %s", p.State)
		}
		return
	}
	l := d.lane("server", "server")
	if p.State == "started" {
		d.servers[e.Incarnation] = len(l.Spans)
		l.Spans = append(l.Spans, span{seconds(e.At), -1, "up", fmt.Sprintf("server %d", e.Incarnation), e.Seq})
		return
	}
	if i, ok := d.servers[e.Incarnation]; ok {
		l.Spans[i].To = seconds(e.At)
	}
	class := "info"
	if p.State == "killed" {
		class = "bad"
	}
	d.mark(l, e, class, "server %d %s", e.Incarnation, p.State)
}

// finish puts the lanes in order, and ends what goes on.
func (d *draft) finish() {
	for _, call := range slices.SortedFunc(maps.Values(d.calls), func(a, b trace.Event) int { return a.Seq - b.Seq }) {
		d.lane("call", call.Call.Plugin).Spans = append(d.lane("call", call.Call.Plugin).Spans,
			span{seconds(call.At), -1, "bad", called(call.Call) + ": never returned", call.Seq})
	}
	add := func(lanes ...*lane) {
		for _, l := range lanes {
			for i := range l.Spans {
				if l.Spans[i].To < 0 {
					l.Spans[i].To = d.End
				}
			}
			d.Lanes = append(d.Lanes, l)
		}
	}
	of := func(kind string) (all []*lane) {
		for _, l := range d.lanes {
			if l.Kind == kind {
				all = append(all, l)
			}
		}
		slices.SortFunc(all, func(a, b *lane) int { return cmp.Compare(a.Name, b.Name) })
		return all
	}
	add(of("server")...)
	add(of("fault")...)
	for _, object := range d.order {
		add(d.objects[object])
		add(d.operationsOf(object)...)
	}
	for _, kind := range []string{"call", "write", "store", "error"} {
		add(of(kind)...)
	}
}

// operationsOf are the lanes of an object's operations. Of many, those that did not complete come first, and the rest is one.
func (d *draft) operationsOf(object string) (lanes []*lane) {
	var bad, good []*lane
	for _, id := range d.named {
		switch o := d.operations[id]; {
		case o.object != object:
		case o.class == "completed":
			good = append(good, o.lane)
		default:
			bad = append(bad, o.lane)
		}
	}
	all := append(bad, good...)
	if len(all) <= maxOperations {
		return all
	}
	rest := &lane{Name: fmt.Sprintf("%d more operations", len(all)-maxOperations), Kind: "operation"}
	first, last := all[maxOperations].Spans[0], all[maxOperations].Spans[0]
	for _, l := range all[maxOperations:] {
		first.From, last.To = min(first.From, l.Spans[0].From), max(last.To, l.Spans[0].To)
	}
	rest.Spans = []span{{first.From, last.To, "operation", rest.Name, first.Seq}}
	return append(all[:maxOperations:maxOperations], rest)
}

// packed is the timeline as the page holds it: gzip, in base64. Nothing of it can fail.
func (t *timeline) packed() string {
	var out bytes.Buffer
	b64 := base64.NewEncoder(base64.StdEncoding, &out)
	z := gzip.NewWriter(b64)
	json.NewEncoder(z).Encode(t) //nolint:errcheck // to a Buffer
	z.Close()                    //nolint:errcheck
	b64.Close()                  //nolint:errcheck
	return out.String()
}
