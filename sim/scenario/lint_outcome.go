package scenario

import (
	"fmt"
	"slices"
	"strings"
)

func (l *linter) outcome(path string, o *Outcome, object string) {
	if o.Phase == Deleted {
		l.gone(path, object)
	} else {
		l.phase(path+".phase", o.Phase, object, Deleted)
	}
	l.positive(path+".within", o.Within.Duration == 0)
	l.path(path, o, object)
	if o.Operations != nil {
		l.operations(path+".operations", *o.Operations, object)
	}
	if o.Cancelled != nil {
		distinct(l, path+".cancelled", *o.Cancelled)
		for i, name := range *o.Cancelled {
			l.cancelled(fmt.Sprintf("%s.cancelled[%d]", path, i), name, object)
		}
	}
	l.acted(path+".actions", o.Actions, object)
	if o.Updated != nil {
		distinct(l, path+".updated", *o.Updated)
		l.updated(path+".updated", *o.Updated, object)
	}
}

// gone checks what is said of an object that must be gone in the end.
func (l *linter) gone(path, object string) {
	if l.decoded("faults") && l.certain() && slices.Contains(l.objects, object) && !l.fates.deleted[object] && !l.fates.removed[object] {
		l.complain(path+".phase", "nothing deletes %s in this scenario; add a fault that does, or a ttl of its backup", object)
	}
	for _, name := range []string{"operations", "errors", "warnings"} {
		if l.has(path + "." + name) {
			l.complain(path+"."+name, "cannot be read of an object that is gone; remove it, or expect the phase that it ends in")
		}
	}
}

// path checks the phases in order, and that the last one is the outcome's.
func (l *linter) path(path string, o *Outcome, object string) {
	for i, phase := range o.Path {
		at := fmt.Sprintf("%s.path[%d]", path, i)
		if phase == Deleted {
			l.complain(at, "%s is no phase that Velero writes; say it as the phase, and remove it here", Deleted)
		}
		l.phase(at, phase, object)
		if i > 0 && phase != "" && phase == o.Path[i-1] {
			l.complain(at, "%s is listed twice in a row; a path lists changes of the phase", quote(phase))
		}
	}
	if l.has(path+".path") && len(o.Path) == 0 {
		l.complain(path+".path", "is empty; list every phase, or leave it out")
	}
	if n := len(o.Path); n > 0 && o.Phase != "" && o.Phase != Deleted && o.Path[n-1] != o.Phase && l.sound(path+".phase") && l.sound(path+".path") {
		l.complain(fmt.Sprintf("%s.path[%d]", path, n-1), "the path ends in %s, and phase says %s; make them agree", o.Path[n-1], o.Phase)
	}
}

func (l *linter) operations(path string, o Operations, object string) {
	if o.Attempted < o.Completed+o.Failed {
		l.complain(path, "attempted is %d, which is less than completed and failed together, %d; raise it", o.Attempted, o.Completed+o.Failed)
	}
	if o.Attempted > 0 && l.actions() && slices.Contains(l.objects, object) && !l.starts(object) {
		l.complain(path+".attempted", "no %s of the scenario starts an operation for %s; it must be 0", actionFor(object), object)
	}
}

func (l *linter) cancelled(path, name, object string) {
	l.scripted(path, name)
	starts := func(p Plugin) bool { return p.Name == name && p.Operation != nil }
	switch {
	case name == "" || !l.decoded("plugins"):
	case !slices.ContainsFunc(l.scenario.Plugins, starts):
		l.complain(path, "Cancel is never called on %s, which starts no operation; remove it", quote(name))
	case !l.acts(name, object) && l.sound("plugins"):
		l.complain(path, "%s is no %s, so that it is not called for %s; remove it", quote(name), actionFor(object), object)
	}
}

// updated checks the items that are backed up again: Velero does so for those that a plugin names, and what goes with them.
// That it does shows in the calls of plugins alone.
func (l *linter) updated(path string, items []Item, object string) {
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
		return slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool {
			return p.Action == BackupItemAction && slices.Contains(p.Resources, item.Resource())
		})
	}
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case strings.HasPrefix(object, "restore/"):
			l.complain(at, "a restore updates no items; remove it")
		case len(known) == 0:
			l.complain(at, "no plugin has itemsToUpdate, so none is updated; remove it")
		default:
			l.oneOf(at, string(item), "among any plugin's itemsToUpdate or additionalItems", known)
			if slices.Contains(known, string(item)) && !seen(item) {
				l.complain(at, "is of a resource that no plugin selects, so that no call would show it; add the resource to a plugin's resources, or remove it")
			}
		}
	}
}
