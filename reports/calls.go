package reports

import (
	"fmt"

	"github.com/velosim/velosim/sim/trace"
)

// returned draws a call that has returned: an operation's lane from what its methods answer, and the plugin's own.
func (d *draft) returned(e trace.Event) {
	begun, ok := d.calls[e.Return.ID]
	if !ok {
		return
	}
	delete(d.calls, e.Return.ID)
	c, r := begun.Call, e.Return
	if r.Operation != "" {
		d.start(begun, e)
	}
	answer := answered(c, r)
	class := "info"
	switch {
	case r.Error != "" || r.Panic:
		class = "bad"
	case c.Method == "AppliesTo":
		class = "quiet"
	}
	l := d.lane("call", c.Plugin)
	if c.Method == "Progress" && r.Error == "" {
		class = "quiet"
	}
	if o := d.operations[c.Operation]; o != nil {
		o.said(d, c, e)
	}
	if took := seconds(e.At) - seconds(begun.At); took >= 1 {
		l.Spans = append(l.Spans, span{seconds(begun.At), seconds(e.At), class, called(c) + ": " + answer, begun.Seq})
		return
	}
	d.mark(l, begun, class, "%s: %s", called(c), answer)
}

// start opens the lane of an operation.
func (d *draft) start(begun, e trace.Event) {
	id := e.Return.Operation
	if d.operations[id] != nil {
		return
	}
	d.operations[id] = &operation{
		object: begun.Object, class: "running",
		lane: &lane{Name: id, Kind: "operation", Spans: []span{{
			seconds(e.At), -1, "operation running", fmt.Sprintf("%s for %s", begun.Call.Plugin, begun.Call.Item), begun.Seq,
		}}},
	}
	d.named = append(d.named, id)
}

// said takes what Progress and Cancel say of an operation.
func (o *operation) said(d *draft, c *trace.Call, e trace.Event) {
	r := e.Return
	mark := func(class, text string) { d.mark(o.lane, e, class, "%s", text) }
	switch p := r.Progress; {
	case r.Error != "":
		mark("bad", c.Method+": "+r.Error)
		o.end("failed", e)
	case c.Method == "Cancel":
		mark("fault", "cancelled")
		o.end("failed", e)
	case p == nil:
	case p.Completed && p.Error != "":
		mark("bad", "failed: "+p.Error)
		o.end("failed", e)
	case p.Completed:
		mark("good", answered(c, r))
		o.end("completed", e)
	default:
		mark("quiet", answered(c, r))
	}
}

func (o *operation) end(class string, e trace.Event) {
	if s := &o.lane.Spans[0]; s.To < 0 {
		s.To, s.Class, o.class = seconds(e.At), "operation "+class, class
	}
}

// called is a call in words, and answered what it returned.
func called(c *trace.Call) string {
	s := c.Plugin + " " + c.Method
	for _, of := range []string{c.Item, c.Operation} {
		if of != "" {
			s += " " + of
		}
	}
	return s
}

func answered(c *trace.Call, r *trace.Return) string {
	switch {
	case r.Panic:
		return "panicked: " + r.Error
	case r.Error != "":
		return "error: " + r.Error
	case r.Progress != nil:
		s := fmt.Sprintf("%d of %d", r.Progress.Done, r.Progress.Of)
		if r.Progress.Units != "" {
			s += " " + r.Progress.Units
		}
		switch {
		case r.Progress.Completed && r.Progress.Error != "":
			s += ", failed: " + r.Progress.Error
		case r.Progress.Completed:
			s += ", completed"
		}
		return s
	case r.Operation != "":
		return "started operation " + r.Operation
	case r.Ready != nil && !*r.Ready:
		return "not ready"
	}
	return "done"
}
