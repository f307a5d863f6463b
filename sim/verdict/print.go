package verdict

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// Summary is the verdict in a line: the result, the last phase, the simulated time.
func (v Verdict) Summary() string {
	result := string(v.Result)
	if len(v.Deviations) > 0 {
		result += " " + strings.Join(v.Deviations, ", ")
	}
	return fmt.Sprintf("%s: phase %s, %s simulated", result, named(v.Phase), v.Simulated)
}

// Print writes the verdict for a person to read: its summary, what a known deviation deviates from, and for each finding the oracle, what it expected and saw, at
// what time, and the events around it.
func (v Verdict) Print(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s", v.Summary())
	for _, name := range v.Deviations {
		rule := phase.Named(name)
		p.line("  demanded  %s", rule.Statement)
		p.line("  instead   %s", rule.Deviation)
		p.line("  reported  %s", cmp.Or(strings.Join(rule.Reports, ", "), "not yet"))
	}
	for _, f := range v.Findings {
		about := f.Oracle
		if f.Reading != "" {
			about += " (" + f.Reading + ")"
		}
		if f.Object != "" {
			about += ": " + f.Object
		}
		p.line("  %s at %s", about, f.At)
		p.line("    expected  %s", hang(f.Expected))
		p.line("    seen      %s", hang(f.Seen))
		for _, e := range f.Around {
			p.line("    %6s  %12s  %-18s  %s", fmt.Sprintf("#%d", e.Seq), e.At, e.Object, hang(say(e.Body)))
		}
	}
	return p.err
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// hang indents the further lines of a text, such as a panic's stack, under its first.
func hang(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if i > 0 && line != "" {
			lines[i] = "              " + line
		}
	}
	return strings.Join(lines, "\n")
}

// say tells an event in a line. A call and its return are told apart by the call's number.
func say(b trace.Body) string {
	switch {
	case b.Created != nil && b.Created.Schedule != "":
		return fmt.Sprintf("created by schedule %s as %s, itemOperationTimeout %s", b.Created.Schedule, b.Created.Name, b.Created.ItemOperationTimeout)
	case b.Created != nil:
		return fmt.Sprintf("created, itemOperationTimeout %s", b.Created.ItemOperationTimeout)
	case b.Deleted != nil:
		return "deleted"
	case b.Phase != nil:
		return fmt.Sprintf("%s → %s", named(b.Phase.From), named(b.Phase.To))
	case b.Write != nil:
		return fmt.Sprintf("%s: %s %s %s %s", b.Write.Client, b.Write.Verb, b.Write.Resource, b.Write.Name, b.Write.Error)
	case b.Call != nil:
		return strings.Join(strings.Fields(fmt.Sprintf("call %d: %s %s %s %s", b.Call.ID, b.Call.Plugin, b.Call.Method, b.Call.Operation, b.Call.Item)), " ")
	case b.Return != nil:
		return fmt.Sprintf("call %d returned%s", b.Return.ID, reply(*b.Return))
	case b.Store != nil:
		return fmt.Sprintf("store %s %s %s", b.Store.Verb, b.Store.Key, b.Store.Error)
	case b.Fault != nil && b.Fault.Missed != "":
		return fmt.Sprintf("fault %s did not strike: %s", b.Fault.ID, b.Fault.Missed)
	case b.Fault != nil:
		return fmt.Sprintf("fault %s: %s", b.Fault.ID, b.Fault.What)
	case b.Process != nil:
		return fmt.Sprintf("process %s %s", b.Process.Name, b.Process.State)
	case b.Reconcile != nil && b.Reconcile.Panic:
		return fmt.Sprintf("%s panicked: %s", b.Reconcile.Controller, b.Reconcile.Error)
	case b.Reconcile != nil:
		return fmt.Sprintf("%s failed: %s", b.Reconcile.Controller, b.Reconcile.Error)
	case b.Rest != nil:
		return fmt.Sprintf("at rest (%s): %s", b.Rest.Copy, status(b.Rest))
	case b.Item != nil && len(b.Item.Manifest) == 0:
		return "at rest: there is none"
	case b.Item != nil:
		return "at rest: it is there"
	}
	return "nothing"
}

func reply(r trace.Return) string {
	switch p := r.Progress; {
	case r.Panic:
		return ", the plugin panicked: " + r.Error
	case r.Error != "":
		return " error: " + r.Error
	case r.Operation != "":
		return " operation " + r.Operation
	case p == nil:
		return ""
	case p.Completed && p.Error != "":
		return fmt.Sprintf(": %d of %d, failed: %s", p.Done, p.Of, p.Error)
	case p.Completed:
		return fmt.Sprintf(": %d of %d, completed", p.Done, p.Of)
	default:
		return fmt.Sprintf(": %d of %d", p.Done, p.Of)
	}
}
