package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// maxReasons bounds what is said of one object.
const maxReasons = 8

// why says how each backup and restore ended, and what in the trace speaks for it: errors of plugins, operations that failed or were cancelled,
// accesses and writes that failed, and faults.
func why(t trace.Trace) []reason {
	reasons := map[string][]reason{}
	var order []string
	var faults []reason
	last, rest := map[string]trace.Event{}, map[string]*trace.Rest{}
	calls := map[int]trace.Event{}
	add := func(object string, e trace.Event, format string, args ...any) {
		said := reasons[object]
		text := fmt.Sprintf(format, args...)
		for _, r := range said {
			if strings.HasPrefix(r.Text, text+" at ") {
				return
			}
		}
		reasons[object] = append(said, reason{text + " at " + e.At.String(), e.Seq})
	}
	for _, e := range t.Events {
		_, phased := kindOf(e.Object)
		switch {
		case e.Created != nil && phased:
			order = append(order, e.Object)
		case e.Phase != nil && phased:
			last[e.Object] = e
		case e.Rest != nil && e.Rest.Copy == "api":
			rest[e.Object] = e.Rest
		case e.Call != nil:
			calls[e.Call.ID] = e
		case e.Return != nil:
			c, ok := calls[e.Return.ID]
			if !ok {
				continue
			}
			delete(calls, e.Return.ID)
			switch p := e.Return.Progress; {
			case e.Return.Error != "":
				add(c.Object, e, "%s returned an error: %s,", called(c.Call), e.Return.Error)
			case c.Call.Method == "Cancel":
				add(c.Object, e, "Velero cancelled operation %s of %s,", c.Call.Operation, c.Call.Plugin)
			case p != nil && p.Completed && p.Error != "":
				add(c.Object, e, "operation %s of %s failed: %s,", c.Call.Operation, c.Call.Plugin, p.Error)
			}
		case e.Fault != nil && e.Fault.Missed == "":
			faults = append(faults, reason{fmt.Sprintf("fault %s: %s, at %s", e.Fault.ID, e.Fault.What, e.At), e.Seq})
		case e.Write != nil && e.Write.Error != "" && phased:
			add(e.Object, e, "%s could not %s it: %s,", e.Write.Client, e.Write.Verb, e.Write.Error)
		case e.Store != nil && e.Store.Error != "":
			faults = append(faults, reason{fmt.Sprintf("%s %s failed: %s, at %s", e.Store.Verb, e.Store.Key, e.Store.Error, e.At), e.Seq})
		}
	}
	for _, c := range slices.SortedFunc(maps.Values(calls), func(a, b trace.Event) int { return a.Seq - b.Seq }) {
		add(c.Object, c, "%s was called, and never returned,", called(c.Call))
	}
	var all []reason
	for _, object := range order {
		e := last[object]
		if e.Phase == nil {
			all = append(all, reason{Text: object + " never had a phase."})
			continue
		}
		all = append(all, reason{ended(object, e.Phase.To, rest[object]), e.Seq})
		said := reasons[object]
		all = append(all, said[:min(len(said), maxReasons)]...)
		if n := len(said) - maxReasons; n > 0 {
			all = append(all, reason{Text: fmt.Sprintf("and %d more", n)})
		}
	}
	all = append(all, faults[:min(len(faults), maxReasons)]...)
	if n := len(faults) - maxReasons; n > 0 {
		all = append(all, reason{Text: fmt.Sprintf("and %d more faults and failed accesses", n)})
	}
	return all
}

// ended is how an object ended, in a sentence.
func ended(object, last string, r *trace.Rest) string {
	s := fmt.Sprintf("%s ended %s", object, last)
	if p, err := phase.Parse(last); err == nil && !p.Final() {
		s = fmt.Sprintf("%s was still %s", object, last)
	}
	if r == nil {
		return s + "."
	}
	s += fmt.Sprintf(", with %d errors and %d warnings", r.Errors, r.Warnings)
	if r.Attempted > 0 {
		s += fmt.Sprintf("; of %d item operations %d completed and %d failed", r.Attempted, r.Completed, r.Failed)
	}
	return s + "."
}
