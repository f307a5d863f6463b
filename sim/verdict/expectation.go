package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// inTime is how an expectation of the time begins.
const inTime = "last phase within "

const neverCreated = "it was never created"

// expectations compares the run with the outcomes that the scenario expects under this reading.
func (r *run) expectations(rd reading) []Finding {
	all := r.expected(rd.outcomes)
	subject := r.scenario.Object()
	found := r.expectation(subject, all[subject], rd.rules)
	for _, name := range slices.Sorted(maps.Keys(rd.outcomes.Objects)) {
		if name != subject {
			found = append(found, r.expectation(name, all[name], rd.rules)...)
		}
	}
	found = append(found, r.items(rd.outcomes.Manifests)...)
	return append(found, r.musts(rd.outcomes.Must)...)
}

// expectation compares what became of an object with the outcome that is expected.
func (r *run) expectation(name string, want scenario.Outcome, rules phase.Rules) []Finding {
	o := r.find(name)
	if o == nil {
		return []Finding{r.atEnd("expectation", name, "phase "+named(want.Phase), neverCreated)}
	}
	var found []Finding
	miss := func(event int, expected, seen string) {
		found = append(found, r.finding("expectation", name, event, expected, seen))
	}
	last := len(r.events)
	if n := len(o.changes); n > 0 {
		last = o.changes[n-1].event
	}
	unknown := func(name string) bool {
		p, err := phase.Parse(name)
		return err == nil && !rules.Has(p)
	}
	switch {
	case want.Phase == "":
	case unknown(want.Phase): // What waits in a queue elsewhere is still new.
		if len(o.changes) > 0 {
			miss(last, "phase "+named(""), "phase "+named(o.phase()))
		}
	case o.phase() == "" && want.Phase == phase.New.String():
	case o.phase() != want.Phase:
		miss(last, "phase "+named(want.Phase), "phase "+named(o.phase()))
	}
	want.Path = slices.DeleteFunc(slices.Clone(want.Path), unknown)
	if path := o.path(); want.Path != nil && !slices.Equal(path, want.Path) {
		left := last
		for i, c := range o.steps() {
			if i >= len(want.Path) || c.To != want.Path[i] {
				left = c.event
				break
			}
		}
		miss(left, "path "+strings.Join(want.Path, " → "), "path "+strings.Join(path, " → "))
	}
	if want.Operations != nil && o.api != nil {
		seen := scenario.Operations{Attempted: o.api.Attempted, Completed: o.api.Completed, Failed: o.api.Failed}
		if seen != *want.Operations {
			miss(len(r.events), counts(*want.Operations), counts(seen))
		}
	}
	for _, count := range []struct {
		of   string
		want *int
		seen func(*trace.Rest) int
	}{
		{"errors", want.Errors, func(r *trace.Rest) int { return r.Errors }},
		{"warnings", want.Warnings, func(r *trace.Rest) int { return r.Warnings }},
	} {
		if count.want != nil && o.api != nil && count.seen(o.api) != *count.want {
			miss(len(r.events), fmt.Sprintf("%d %s", *count.want, count.of), fmt.Sprintf("%d %s", count.seen(o.api), count.of))
		}
	}
	if want.Cancelled != nil {
		if expected, seen := tally(*want.Cancelled), o.cancelled(); !maps.Equal(seen, expected) {
			miss(len(r.events), "Cancel called on operations of "+list(expected), list(seen))
		}
	}
	if want.Updated != nil {
		if expected, seen := tally(*want.Updated), o.updated(); !slices.Equal(keys(seen), keys(expected)) {
			miss(len(r.events), "backed up again: "+list(expected), list(seen))
		}
	}
	found = append(found, r.actions(o, want.Actions)...)
	if want.Within.Duration > 0 && r.trace.Header.Scale == 1 && len(o.changes) > 0 {
		if took := time.Duration(o.changes[len(o.changes)-1].at - o.createdAt); took > want.Within.Duration {
			miss(last, inTime+want.Within.String()+" of its creation", took.String())
		}
	}
	return found
}

func (o *object) path() []string {
	var p []string
	for _, c := range o.steps() {
		p = append(p, c.To)
	}
	return p
}

// cancelled counts, for each plugin, its operations on which Cancel was called.
func (o *object) cancelled() map[string]int {
	n := map[string]int{}
	for id, op := range o.byID {
		if op.cancelled() {
			n[id.plugin]++
		}
	}
	return n
}

// updated counts, for each item, the times that Execute was called for it while the object was finalized.
func (o *object) updated() map[string]int {
	n := map[string]int{}
	for _, c := range o.calls {
		if c.Method == execute && strings.HasPrefix(o.phaseAt(c.event), finalizes) {
			n[c.Item]++
		}
	}
	return n
}

func tally[S ~string](names []S) map[string]int {
	n := map[string]int{}
	for _, name := range names {
		n[string(name)]++
	}
	return n
}

func keys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

func list(m map[string]int) string {
	if len(m) == 0 {
		return "none"
	}
	var names []string
	for _, k := range keys(m) {
		if m[k] > 1 {
			k = fmt.Sprintf("%s (%d times)", k, m[k])
		}
		names = append(names, k)
	}
	return strings.Join(names, ", ")
}

func counts(n scenario.Operations) string {
	return fmt.Sprintf("operations: %d attempted, %d completed, %d failed", n.Attempted, n.Completed, n.Failed)
}

// named is the phase as messages name it.
func named(p string) string {
	switch p {
	case "":
		return "New (none was written)"
	case scenario.Deleted:
		return "Deleted (the object is gone)"
	}
	return p
}
