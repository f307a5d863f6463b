package trace

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTo prints the description for a person. It implements [io.WriterTo]; the error is the writer's.
func (d Description) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	p := printer{tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)}
	p.description(d)
	_ = p.tab.Flush() // a bytes.Buffer does not fail
	return b.WriteTo(w)
}

// printer prints labelled lines; a bytes.Buffer below it does not fail.
type printer struct{ tab *tabwriter.Writer }

func (p printer) line(depth int, label, format string, args ...any) {
	_, _ = fmt.Fprintf(p.tab, "%s%s:\t%s\n", strings.Repeat("  ", depth), label, oneLine(fmt.Sprintf(format, args...)))
}

func (p printer) description(d Description) {
	p.line(0, "Scenario", "%s (world %s, Velero %s, seed %d)", d.Header.Scenario, d.Header.World, d.Header.Velero, d.Header.Seed)
	p.line(0, "At", "%s", d.At)
	if d.Server.State == "" {
		p.line(0, "Server", "not started")
	} else {
		p.line(0, "Server", "%s at %s (incarnation %d)", d.Server.State, d.Server.Since, d.Server.Incarnation)
	}
	if d.End != nil {
		p.line(0, "Run", "ended at %s: %s", d.End.At, d.End.Reason)
		if first, _, _ := strings.Cut(d.End.Detail, "\n"); first != "" {
			p.line(0, "Detail", "%s", first)
		}
	}
	for _, o := range d.Objects {
		_, _ = fmt.Fprintln(p.tab)
		p.object(o)
	}
}

func (p printer) object(o Object) {
	p.line(0, "Name", "%s", orNone(o.Name))
	if o.Schedule != "" {
		p.line(0, "Schedule", "%s, which named it %s", o.Schedule, o.InCluster)
	}
	p.line(0, "Phase", "%s, since %s", orNone(o.Phase), o.Since)
	if o.Deleted >= 0 {
		p.line(0, "Deleted", "%s", o.Deleted)
	}
	if o.Created >= 0 {
		p.line(0, "Created", "%s", o.Created)
	}
	if o.Started >= 0 {
		p.line(0, "Started", "%s", o.Started)
	}
	if o.ItemOperationTimeout > 0 {
		p.line(0, "ItemOperationTimeout", "%s", o.ItemOperationTimeout)
	}
	for _, w := range o.Waiting {
		p.line(0, "Waiting for", "%s", w)
	}
	if len(o.Operations) == 0 {
		return
	}
	completed, failed := 0, 0
	for _, op := range o.Operations {
		switch op.State {
		case "completed":
			completed++
		case "failed", "timed out":
			failed++
		}
	}
	p.line(0, "Item Operations", "%d of %d completed, %d failed", completed, len(o.Operations), failed)
	for _, op := range o.Operations {
		p.operation(o, op)
	}
}

func (p printer) operation(o Object, op ItemOperation) {
	p.line(1, "Operation ID", "%s", op.ID)
	p.line(2, "Plugin", "%s", op.Plugin)
	if op.Item != "" {
		p.line(2, "Item", "%s", op.Item)
	}
	p.line(2, "State", "%s", op.State)
	if op.Error != "" {
		p.line(2, "Operation Error", "%s", op.Error)
	}
	if op.Progress != nil {
		p.line(2, "Progress", "%s", op.Progress.amount())
		if op.Progress.Description != "" {
			p.line(2, "Progress description", "%s", op.Progress.Description)
		}
	}
	p.line(2, "Created", "%s", op.Created)
	if op.Progress != nil {
		p.line(2, "Started", "%s", op.Progress.Started)
		p.line(2, "Updated", "%s", op.Progress.Updated)
	}
	if until := o.deadline(op); until > 0 && op.State == "running" {
		p.line(2, "Timeout", "%s, at the first poll from then on", until)
	}
}
