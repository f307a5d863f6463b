package scenario

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

func (l *linter) plugin(i int) {
	p, path := &l.scenario.Plugins[i], fmt.Sprintf("plugins[%d]", i)
	l.pluginName(path+".name", p.Name)
	for _, other := range l.scenario.Plugins[:i] {
		switch {
		case p.Name != "" && other.Name == p.Name && other.Action == p.Action:
			l.complain(path+".name", "there is a %s named %s already; names are unique for each action", p.Action, quote(p.Name))
		case p.Name != other.Name && p.File() == other.File():
			l.complain(path+".name", "its executable would have the name of that of %s, %s; choose another", quote(other.Name), p.File())
		}
	}
	l.oneOf(path+".action", string(p.Action), "an action", actions())
	if p.Action.object() == "restore/" && len(l.scenario.Restores) == 0 && len(l.decodeErrors) == 0 {
		l.complain(path+".action", "a %s is never called without a restore; add \"restore: {}\"", p.Action)
	}
	if p.Action == DeleteItemAction && len(l.decodeErrors) == 0 && !l.fates.backups {
		l.complain(path+".action", "a DeleteItemAction is never called unless a backup is deleted; add a fault that deletes one, or a ttl")
	}
	if p.Own {
		l.own(path, p)
		return
	}
	if p.Action.Once() {
		l.once(path, p)
		l.start(i)
		l.behaviour(path+".execute", p.Execute.Behaviour)
		return
	}
	if l.has(path+".deadline") && l.sound(path+".action") {
		l.complain(path+".deadline", "is of actions that are called once for a backup or restore, such as a %s; remove it", PreBackupAction)
	}
	l.version(path, p)
	if len(p.Resources) == 0 {
		l.complain(path+".resources", "is empty; name a resource, or leave it out for the default")
	}
	for j, resource := range p.Resources {
		l.oneOf(fmt.Sprintf("%s.resources[%d]", path, j), resource, "a resource that items may be of", resources(false))
	}
	distinct(l, path+".resources", p.Resources)
	l.start(i)
	l.execute(path, p)
	for name, b := range p.methods() {
		l.behaviour(path+"."+name, *b)
	}
	l.ready(path, p)
	for _, method := range []string{path + ".progress", path + ".cancel"} {
		if l.has(method) && p.Operation == nil && l.decoded(path) {
			l.complain(method, "is never called, as the plugin starts no operation; add one or remove this")
		}
	}
	if p.Operation != nil {
		l.operation(path+".operation", p.Operation)
	}
}

// own checks that nothing is scripted of a plugin that has no script.
func (l *linter) own(path string, p *Plugin) {
	if p.Action.Once() {
		l.complain(path+".own", "is of item actions; pre- and post-actions of your own need no mention, give their executable to the world")
	}
	for _, field := range []string{
		"version", "deadline", "resources", "start", "appliesTo", "execute", "operation", "progress", "cancel", "areAdditionalItemsReady",
	} {
		if l.has(path + "." + field) {
			l.complain(path+"."+field, "the plugin is your own (own: true), and has no script; remove this, or own")
		}
	}
}

// pluginName checks a name as Velero does (ValidatePluginName in pkg/plugin/framework/common/server_mux.go), and that a file can have it.
func (l *linter) pluginName(path, name string) {
	domain, rest, found := strings.Cut(name, "/")
	if name != "" && (!found || rest == "" || strings.Contains(rest, "/")) {
		l.complain(path, "%s is not a plugin's name; write domain/name: example.io/mover", quote(name))
		return
	}
	l.valid(path, name, "a plugin's name, by its domain", validation.IsDNS1123Subdomain(domain))
	l.valid(path, name, "a plugin's name, by what follows its domain", validation.IsQualifiedName(rest))
}

// version checks that the interface has what the plugin is scripted to do.
func (l *linter) version(path string, p *Plugin) {
	if !l.decoded(path) || !l.sound(path+".action") {
		return
	}
	switch {
	case p.Action == DeleteItemAction && p.Version != 1:
		l.complain(path+".version", "a DeleteItemAction has version 1 only; leave it out")
	case p.Version != 1 && p.Version != 2:
		l.complain(path+".version", "is %d; Velero has versions 1 and 2 of the interface", p.Version)
	case p.Version == 1 && p.Operation != nil:
		l.complain(path+".operation", "version 1 of %s knows no operations; %s", p.Action, without(p.Action, "remove it", "leave version out"))
	}
}

// without is what to do about something that an interface does not have: a DeleteItemAction has no other version.
func without(a Action, remove, upgrade string) string {
	if a == DeleteItemAction {
		return remove
	}
	return remove + ", or " + upgrade
}

func (l *linter) execute(plugin string, p *Plugin) {
	path, e := plugin+".execute", p.Execute
	l.itemsExist(path+".additionalItems", e.AdditionalItems)
	l.itemsExist(path+".itemsToUpdate", e.ItemsToUpdate)
	if !l.decoded(plugin) || !l.sound(plugin+".action") || !l.sound(plugin+".version") {
		return
	}
	if l.has(path+".additionalItems") && p.Action == DeleteItemAction {
		l.complain(path+".additionalItems", "a DeleteItemAction returns no items; remove it")
	}
	if l.has(path + ".itemsToUpdate") { // executeActions in pkg/backup/item_backupper.go keeps them with the operation only; a restore has none
		switch {
		case p.Action != BackupItemAction:
			l.complain(path+".itemsToUpdate", "only a BackupItemAction has items to update; remove it")
		case p.Version == 1:
			l.complain(path+".itemsToUpdate", "version 1 knows no items to update; remove it, or leave version out")
		case p.Operation == nil:
			l.complain(path+".itemsToUpdate", "Velero ignores items to update without an operation; add \"operation\"")
		}
	}
	switch {
	case e.TooLarge && p.Action == DeleteItemAction:
		l.complain(path+".tooLarge", "a DeleteItemAction returns no item; remove it")
	case e.TooLarge && e.SkipRestore:
		l.complain(path+".tooLarge", "means nothing with \"skipRestore\", as nobody is handed the item; remove one")
	}
	if e.SkipRestore {
		switch { // restoreItem in pkg/restore/restore.go leaves the item alone before it looks at the others
		case p.Action != RestoreItemAction:
			l.complain(path+".skipRestore", "only a RestoreItemAction can skip an item; remove it")
		case len(e.AdditionalItems) > 0:
			l.complain(path+".skipRestore", "Velero ignores the additional items of an item that is skipped; keep one")
		}
	}
	if e.WaitForAdditionalItems {
		switch {
		case p.Action != RestoreItemAction || p.Version == 1:
			l.complain(path+".waitForAdditionalItems", "only version 2 of a RestoreItemAction can have Velero wait; remove it")
		case len(e.AdditionalItems) == 0:
			l.complain(path+".waitForAdditionalItems", "there are none; add execute.additionalItems")
		}
	}
}

// ready checks the script of AreAdditionalItemsReady.
func (l *linter) ready(plugin string, p *Plugin) {
	path := plugin + ".areAdditionalItemsReady"
	switch {
	case !l.has(path) || !l.decoded(plugin) || !l.sound(plugin+".action") || !l.sound(plugin+".version"):
	case p.Action != RestoreItemAction || p.Version == 1:
		l.complain(path, "is never called, as only version 2 of a RestoreItemAction has it; remove it")
	case !p.Execute.WaitForAdditionalItems:
		l.complain(path, "is never called, as Execute does not ask to wait; add execute.waitForAdditionalItems: true")
	case p.AreAdditionalItemsReady.Never && l.has(path+".after"):
		l.complain(path+".never", "excludes after; keep one")
	}
}

func (l *linter) behaviour(path string, b Behaviour) {
	if !l.sound(path) {
		return
	}
	strikes := 0
	for _, set := range []bool{b.Error != "", b.Hang, b.Panic != ""} {
		if set {
			strikes++
		}
	}
	if strikes > 1 {
		l.complain(path, "error, hang and panic exclude each other; keep one")
	}
	for _, name := range []string{"nth", "times"} {
		if strikes == 0 && l.has(path+"."+name) {
			l.complain(path+"."+name, "says when error, hang or panic strikes, and there is none; add one or remove this")
		}
	}
	l.positive(path+".nth", b.Nth == 0)
}

func (l *linter) operation(path string, o *Operation) {
	l.oneOf(path+".afterCancel", string(o.AfterCancel), "what Cancel makes of an operation", afterCancels())
	if o.Unknown {
		for _, name := range []string{"progress", "forgets", "afterCancel"} {
			if l.has(path + "." + name) {
				l.complain(path+"."+name, "means nothing with \"unknown\", as no call will know the operation; remove one")
			}
		}
	}
	for i, step := range o.Progress {
		at := func(i int) string { return fmt.Sprintf("%s.progress[%d]", path, i) }
		path := at(i)
		if i > 0 && step.At.Duration <= o.Progress[i-1].At.Duration && l.sound(at(i-1)+".at") {
			l.complain(path+".at", "must be later than the step before, which is at %s", o.Progress[i-1].At)
		}
		ends := step.Completed || step.Failed != ""
		if step.Completed && step.Failed != "" {
			l.complain(path, "completed and failed exclude each other; keep one")
		}
		if ends && i < len(o.Progress)-1 {
			l.complain(path, "completed or failed ends the operation; it must be the last step")
		}
	}
}

// actionFor is the item action that is called in the run of the object.
func actionFor(object string) Action {
	if strings.HasPrefix(object, "restore/") {
		return RestoreItemAction
	}
	return BackupItemAction
}

// acts tells whether a plugin of the name acts for the object.
func (l *linter) acts(name, object string) bool {
	return slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool { return p.Name == name && p.Action == actionFor(object) })
}
