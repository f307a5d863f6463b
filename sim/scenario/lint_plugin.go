package scenario

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

func (l *linter) plugin(i int) {
	p, path := &l.scenario.Plugins[i], fmt.Sprintf("plugins[%d]", i)
	l.pluginName(path+".name", p.Name)
	for _, other := range l.scenario.Plugins[:i] {
		if p.Name != "" && other.Name == p.Name && other.Action == p.Action {
			l.complain(path+".name", "there is a %s named %s already; names are unique for each action", p.Action, quote(p.Name))
			break
		}
	}
	l.oneOf(path+".action", string(p.Action), "an item action", []string{string(BackupItemAction), string(RestoreItemAction)})
	if p.Action == RestoreItemAction && l.scenario.Restore == nil && len(l.decodeErrors) == 0 {
		l.complain(path+".action", "a RestoreItemAction is never called without a restore; add \"restore: {}\"")
	}
	if len(p.Resources) == 0 {
		l.complain(path+".resources", "is empty; name a resource, or leave it out for the default")
	}
	for j, resource := range p.Resources {
		l.oneOf(fmt.Sprintf("%s.resources[%d]", path, j), resource, "a resource that items may be of", resources())
	}
	l.execute(path, p)
	for _, method := range []struct {
		path      string
		behaviour Behaviour
	}{{path + ".progress", p.Progress}, {path + ".cancel", p.Cancel}} {
		l.behaviour(method.path, method.behaviour)
		if l.has(method.path) && p.Operation == nil && l.decoded(path) {
			l.complain(method.path, "is never called, as the plugin starts no operation; add one or remove this")
		}
	}
	if p.Operation != nil {
		l.operation(path+".operation", p.Operation)
	}
}

// pluginName checks a name as Velero does (ValidatePluginName in pkg/plugin/framework/common/server_mux.go).
func (l *linter) pluginName(path, name string) {
	domain, rest, found := strings.Cut(name, "/")
	if name != "" && (!found || rest == "" || strings.Contains(rest, "/")) {
		l.complain(path, "%s is not a plugin's name; write domain/name: example.io/mover", quote(name))
		return
	}
	l.valid(path, name, "a plugin's name, by its domain", validation.IsDNS1123Subdomain(domain))
}

func (l *linter) execute(plugin string, p *Plugin) {
	path, e := plugin+".execute", p.Execute
	l.behaviour(path, e.Behaviour)
	l.itemsExist(path+".additionalItems", e.AdditionalItems)
	l.itemsExist(path+".itemsToUpdate", e.ItemsToUpdate)
	if !l.has(path+".itemsToUpdate") || !l.decoded(plugin) || !l.sound(plugin+".action") {
		return
	}
	// executeActions in pkg/backup/item_backupper.go keeps them with the operation only; a restore has none.
	switch {
	case p.Action == RestoreItemAction:
		l.complain(path+".itemsToUpdate", "only a BackupItemAction has items to update; remove it")
	case p.Operation == nil:
		l.complain(path+".itemsToUpdate", "Velero ignores items to update without an operation; add \"operation\"")
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
	l.oneOf(path+".afterCancel", string(o.AfterCancel), "what Cancel makes of an operation",
		[]string{string(Fails), string(Completes), string(Continues)})
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
