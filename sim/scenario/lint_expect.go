package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

func (l *linter) expect() {
	e := &l.scenario.Expect
	l.outcome("expect", &e.Outcome)
	if l.sound("expect.phase") && e.Phase != "" && !slices.Contains(finalPhases(), e.Phase) {
		l.complain("expect.phase", "%s is not final; a run must end in one of %s (a deviation may stay in it)", e.Phase, strings.Join(finalPhases(), ", "))
	}
	if o := e.Operations; e.Phase == "Completed" && o != nil && o.Failed > 0 {
		l.complain("expect.operations.failed", "a run with failed operations must not end Completed")
	}
	if e.Deviation == nil {
		return
	}
	d := e.Deviation
	l.oneOf("expect.deviation.rule", d.Rule, "a deviation that velosim knows", ruleNames())
	l.outcome("expect.deviation", &d.Outcome)
	breaks := len(phase.Named(d.Rule).Breaks) > 0
	if reflect.DeepEqual(d.Outcome, e.Outcome) && l.sound("expect") && !breaks { // else it differs in more than the outcome
		l.complain("expect.deviation", "is what is expected anyway; say how it differs, or remove it")
	}
	if l.has("expect.deviation.within") && d.Phase != "" && !slices.Contains(finalPhases(), d.Phase) {
		l.complain("expect.deviation.within", "is the time to the last phase, and %s is not final; remove it", d.Phase)
	}
}

func (l *linter) outcome(path string, o *Outcome) {
	object := l.scenario.Object()
	l.phase(path+".phase", o.Phase, object)
	l.positive(path+".within", o.Within.Duration == 0)
	l.path(path, o, object)
	if o.Operations != nil {
		l.operations(path+".operations", *o.Operations)
	}
	if o.Cancelled != nil {
		for i, name := range *o.Cancelled {
			l.cancelled(fmt.Sprintf("%s.cancelled[%d]", path, i), name)
		}
	}
	if o.Updated != nil {
		l.updated(path+".updated", *o.Updated)
	}
}

// path checks the phases in order, and that the last one is the outcome's.
func (l *linter) path(path string, o *Outcome, object string) {
	for i, phase := range o.Path {
		at := fmt.Sprintf("%s.path[%d]", path, i)
		l.phase(at, phase, object)
		if i > 0 && phase != "" && phase == o.Path[i-1] {
			l.complain(at, "%s is listed twice in a row; a path lists changes of the phase", quote(phase))
		}
	}
	if l.has(path+".path") && len(o.Path) == 0 {
		l.complain(path+".path", "is empty; list every phase, or leave it out")
	}
	if n := len(o.Path); n > 0 && o.Path[n-1] != o.Phase && l.sound(path+".phase") && l.sound(path+".path") {
		l.complain(fmt.Sprintf("%s.path[%d]", path, n-1), "the path ends in %s, and phase says %s", o.Path[n-1], o.Phase)
	}
}

func (l *linter) operations(path string, o Operations) {
	if o.Attempted < o.Completed+o.Failed {
		l.complain(path, "attempted is %d, which is less than completed and failed together, %d", o.Attempted, o.Completed+o.Failed)
	}
	action := BackupItemAction
	if l.scenario.Restore != nil {
		action = RestoreItemAction
	}
	starts := func(p Plugin) bool { return p.Action == action && p.Operation != nil }
	if o.Attempted > 0 && l.actions() && !slices.ContainsFunc(l.scenario.Plugins, starts) {
		l.complain(path+".attempted", "no %s of the scenario starts an operation; it must be 0", action)
	}
}

// actions tells whether it is certain which plugin acts when.
func (l *linter) actions() bool {
	for i := range l.scenario.Plugins {
		if !l.sound(fmt.Sprintf("plugins[%d].action", i)) {
			return false
		}
	}
	return len(l.decodeErrors) == 0
}

func (l *linter) cancelled(path, name string) {
	l.scripted(path, name)
	starts := func(p Plugin) bool { return p.Name == name && p.Operation != nil }
	if name != "" && l.decoded("plugins") && !slices.ContainsFunc(l.scenario.Plugins, starts) {
		l.complain(path, "Cancel is never called on %s, which starts no operation", quote(name))
	}
}

// updated checks the items that are backed up again: Velero does so for those that a plugin names, and what goes with them.
// That it does shows in the calls of plugins alone.
func (l *linter) updated(path string, items []Item) {
	if !l.decoded("plugins") {
		return
	}
	var known []string
	for _, p := range l.scenario.Plugins {
		for _, item := range p.Execute.ItemsToUpdate {
			known = append(known, string(item))
		}
	}
	if len(known) > 0 {
		for _, p := range l.scenario.Plugins {
			for _, item := range p.Execute.AdditionalItems {
				known = append(known, string(item))
			}
		}
	}
	seen := func(item Item) bool {
		resource, _, _ := strings.Cut(string(item), "/")
		return slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool {
			return p.Action == BackupItemAction && slices.Contains(p.Resources, resource)
		})
	}
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case l.scenario.Restore != nil:
			l.complain(at, "a restore updates no items; remove it")
		case len(known) == 0:
			l.complain(at, "no plugin has itemsToUpdate, so none is updated")
		default:
			l.oneOf(at, string(item), "among any plugin's itemsToUpdate or additionalItems", known)
			if slices.Contains(known, string(item)) && !seen(item) {
				l.complain(at, "is of a resource that no plugin selects, so that no call would show it; add the resource to a plugin's resources, or remove it")
			}
		}
	}
}
