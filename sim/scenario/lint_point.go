package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

func (l *linter) point(path string, p *Point) {
	l.positive(path+".nth", p.Nth == 0)
	byPhase, byCall, byStore, byWrite := l.has(path+".phase"), l.has(path+".call"), l.has(path+".store"), l.has(path+".write")
	named := 0
	for _, by := range []bool{byPhase, byCall, byStore, byWrite} {
		if by {
			named++
		}
	}
	if l.has(path) && named != 1 {
		l.complain(path, "a point is exactly one of phase, call, store and write")
		return
	}
	if byPhase {
		if l.has(path + ".object") {
			l.object(path+".object", p.Object)
		}
		l.phase(path+".phase", p.Phase, p.Object)
		l.comes(path, p)
		if l.has(path + ".after") {
			l.complain(path+".after", "goes with call, store and write; a phase strikes after its write")
		}
	}
	if byCall {
		if l.has(path + ".object") {
			l.complain(path+".object", "goes with phase; a call is made for the object that the plugin's action serves")
		}
		l.call(path+".call", p.Call)
	}
	if byStore {
		if l.has(path + ".object") {
			l.complain(path+".object", "goes with phase; the key says whose object it is")
		}
		l.access(path+".store", p.Store)
	}
	if byWrite {
		if l.has(path + ".object") {
			l.complain(path+".object", "goes with phase; write: {object: …} says what is written")
		}
		l.write(path+".write", p.Write)
	}
}

// comes reports a phase that the object is never written with, or not so often.
func (l *linter) comes(path string, p *Point) {
	if !l.certain() || !l.sound(path) || !slices.Contains(l.objects, p.Object) {
		return
	}
	if why := l.never(p.Object, p.Phase); why != "" {
		l.complain(path+".phase", "is never written, as %s", why)
		return
	}
	// A backup can be queued twice, and one that is removed can come back.
	again := p.Phase == phase.Queued.String() || p.Phase == phase.ReadyToStart.String() || l.fates.removed[p.Object]
	if p.Nth > 1 && !again {
		l.complain(path+".nth", "%s is %s once only; leave nth out", p.Object, p.Phase)
	}
}

// never says why the object is never written with the phase; empty: it may be.
func (l *linter) never(object, name string) string {
	kind, of, _ := strings.Cut(object, "/")
	p, err := phase.Parse(name)
	if err != nil {
		return ""
	}
	rejected := p != phase.New && p != phase.Queued && p != phase.ReadyToStart && p != phase.FailedValidation
	if kind == "restore" {
		x := l.scenario.RestoreNamed(of)
		switch unknown := l.scenario.BackupNamed(x.Backup) == nil; {
		case rejected && unknown && x.Schedule != "":
			return "the restore fails validation: there is no schedule " + quote(x.Schedule) + "; add it, or choose another phase"
		case rejected && unknown:
			return "the restore fails validation: there is no backup " + quote(x.Backup) + "; add it, or choose another phase"
		}
	} else if spec := l.scenario.BackupNamed(of); rejected && !spec.located() {
		return "the backup fails validation: there is no storage location " + quote(spec.StorageLocation) + "; choose another phase"
	}
	if a := preAction(name); a != "" && !slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool { return p.Action == a }) {
		return "there is no " + string(a) + "; add a plugin that is one, or choose another phase"
	}
	switch p {
	case phase.Deleting:
		if !l.fates.deleted[object] {
			return "nothing deletes the backup; add a fault that does, or a ttl"
		}
	case phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed:
		if !l.starts(object) {
			return "no " + string(actionFor(object)) + " starts an operation for it; add operation to a plugin that selects its items, or choose another phase"
		}
	}
	return ""
}

func (l *linter) call(path string, c *Call) {
	if c == nil {
		return
	}
	l.oneOf(path+".method", c.Method, "a method of a plugin", methods())
	l.scripted(path+".plugin", c.Plugin)
	if !l.sound(path) || !l.decoded("plugins") {
		return
	}
	named := func(is func(Plugin) bool) bool {
		return slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool { return p.Name == c.Plugin && is(p) })
	}
	once := named(func(p Plugin) bool { return p.Action.Once() })
	if c.Method != "Execute" && once && !named(func(p Plugin) bool { return !p.Action.Once() }) {
		l.complain(path+".method", "is never called, as the plugin's actions are called once for a backup or restore, and have Execute alone")
	}
	if phases := calledIn(c.Method, once); c.Phase != "" && len(phases) == 0 {
		l.complain(path+".phase", "%s is called for no backup or restore, and told no phase; remove it", c.Method)
	} else {
		l.oneOf(path+".phase", c.Phase, "a phase in which "+c.Method+" is called", phases)
	}
	switch c.Method {
	case "Progress", "Cancel":
		if !named(func(p Plugin) bool { return p.Operation != nil }) {
			l.complain(path+".method", "is never called, as the plugin starts no operation; add one, or choose another method")
		}
	case "AreAdditionalItemsReady":
		if !named(func(p Plugin) bool { return p.Execute.WaitForAdditionalItems && len(p.Execute.AdditionalItems) > 0 }) {
			l.complain(path+".method", "is never called, as the plugin has Velero wait for no additional items; add execute.waitForAdditionalItems: true")
		}
	}
	if resources := resourcesIn(l.scenario.Items, nil); l.certain() && !named(func(p Plugin) bool { return p.Action.Once() || serves(p, resources) }) {
		l.complain(path+".plugin", "is never called, as the scenario has no item of its resources; add one to items")
	}
}

// calledIn are the phases that a method may be told; once: of actions that are called once for a backup or restore, too.
func calledIn(method string, once bool) []string {
	running := []string{phase.InProgress.String()}
	switch method {
	case "Execute":
		running = append(running, phase.Finalizing.String(), phase.FinalizingPartiallyFailed.String())
		if once {
			running = append(running, append(finalPhases(), phase.Deleting.String())...)
		}
		return running
	case "Progress", "Cancel":
		return append(running, phase.WaitingForPluginOperations.String(), phase.WaitingForPluginOperationsPartiallyFailed.String())
	case "AreAdditionalItemsReady":
		return running
	}
	return nil
}

// certain tells whether all that says what Velero does in the scenario is right, so that a check can rest on it.
func (l *linter) certain() bool { return l.cast() && l.sound("plugins") }

// cast tells whether all objects and items are right.
func (l *linter) cast() bool {
	return len(l.decodeErrors) == 0 && !slices.ContainsFunc([]string{"backup", "backups", "restore", "restores", "schedules", "items", "manifests"},
		func(path string) bool { return !l.sound(path) })
}

// actions tells whether it is certain which plugin acts when, however it does.
func (l *linter) actions() bool {
	for i := range l.scenario.Plugins {
		if path := fmt.Sprintf("plugins[%d]", i); !l.sound(path+".action") || !l.sound(path+".resources") {
			return false
		}
	}
	return l.cast()
}

// resourcesOf are those of the items that the backup or restore comes to.
func (l *linter) resourcesOf(object string) []string {
	kind, name, _ := strings.Cut(object, "/")
	if kind == "restore" {
		name = l.scenario.RestoreNamed(name).Backup
	}
	spec := l.scenario.BackupNamed(name)
	if spec == nil || !spec.located() {
		return nil
	}
	return resourcesIn(l.scenario.Items, spec.IncludedNamespaces)
}

// resourcesIn are those of the items in some namespaces; none: in all but the server's own.
func resourcesIn(items []Item, namespaces []string) []string {
	var found []string
	for _, item := range items {
		in := len(namespaces) == 0 && item.Namespace() != VeleroNamespace || slices.Contains(namespaces, item.Namespace())
		if resource := item.Resource(); in && !slices.Contains(found, resource) {
			found = append(found, resource)
		}
	}
	return found
}

// serves tells whether the plugin selects one of the resources.
func serves(p Plugin, resources []string) bool {
	return slices.ContainsFunc(resources, func(resource string) bool { return slices.Contains(p.Resources, resource) })
}

// starts tells whether a plugin starts an operation for the object.
func (l *linter) starts(object string) bool {
	resources, action := l.resourcesOf(object), actionFor(object)
	return slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool {
		return p.Action == action && p.Operation != nil && serves(p, resources)
	})
}

// scripted reports a name that no plugin of the scenario has.
func (l *linter) scripted(path, name string) {
	if !l.decoded("plugins") {
		return
	}
	if len(l.scenario.Plugins) == 0 && name != "" {
		l.complain(path, "%s is not a plugin of the scenario, which has none; add it to plugins", quote(name))
		return
	}
	names := make([]string, len(l.scenario.Plugins))
	for i, p := range l.scenario.Plugins {
		names[i] = p.Name
	}
	l.oneOf(path, name, "a plugin of the scenario", names)
}

// phase reports a phase that the kind of the object does not have, and that is none of the others.
func (l *linter) phase(path, name, object string, others ...string) {
	switch kindOf(object) {
	case "backup":
		l.oneOf(path, name, "a phase of a backup", append(phasesOf(phase.Backup), others...))
	case "restore":
		l.oneOf(path, name, "a phase of a restore", append(phasesOf(phase.Restore), others...))
	}
}
