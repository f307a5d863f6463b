package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// once checks an action that is called once for a backup or restore: it has Execute, and nothing that is about items.
func (l *linter) once(path string, p *Plugin) {
	for _, name := range []string{
		"version", "resources", "appliesTo", "operation", "progress", "cancel", "areAdditionalItemsReady",
		"execute.additionalItems", "execute.itemsToUpdate", "execute.skipRestore", "execute.waitForAdditionalItems",
		"execute.tooLarge",
	} {
		if l.has(path + "." + name) {
			l.complain(path+"."+name, "is about items, and a %s is called once for a %s; remove it", p.Action, strings.TrimSuffix(p.Action.object(), "/"))
		}
	}
	l.positive(path+".deadline", p.Deadline.Duration == 0)
}

// acted checks what is said of the actions that are called once for the object.
func (l *linter) acted(path string, actions []ActionOutcome, object string) {
	l.filled(path, len(actions), "an action")
	for i, a := range actions {
		at := fmt.Sprintf("%s[%d]", path, i)
		l.scripted(at+".plugin", a.Plugin)
		l.oneOf(at+".action", string(a.Action), "an action that is called once for a backup or restore", onceActions())
		l.oneOf(at+".phase", string(a.Phase), "a phase of an action", actionPhases())
		has := func(p Plugin) bool { return p.Name == a.Plugin && p.Action == a.Action }
		same := func(b ActionOutcome) bool { return b.Plugin == a.Plugin && b.Action == a.Action }
		never := a.Phase == ActionSkipped
		switch {
		case !l.sound(at) || !l.decoded("plugins"):
		case !slices.ContainsFunc(l.scenario.Plugins, has):
			l.complain(at+".action", "%s is no %s; choose what it is, or add the action to plugins", quote(a.Plugin), a.Action)
		case !a.Action.Serves(object):
			l.complain(at+".action", "a %s is not called for %s; choose another action, or say it of another object", a.Action, object)
		case slices.ContainsFunc(actions[:i], same):
			l.complain(at, "is what an entry before it speaks of already; remove one")
		case a.Phase == "" && a.Calls == nil:
			l.complain(at, "says nothing; add a phase, or how many calls there are")
		case a.Calls != nil && a.Phase != "" && never != (*a.Calls == 0):
			l.complain(at+".calls", "is 0 for an action that is %s, and for no other; correct one", ActionSkipped)
		}
	}
}

func onceActions() []string {
	return slices.DeleteFunc(actions(), func(a string) bool { return !Action(a).Once() })
}

func actionPhases() []string {
	return []string{string(ActionCompleted), string(ActionFailed), string(ActionInProgress), string(ActionSkipped)}
}

// preAction is the action that ends a run with the phase; empty: none does.
func preAction(phase string) Action {
	if after, ok := strings.CutPrefix(phase, "Failed"); ok && slices.Contains(onceActions(), strings.TrimSuffix(after, "s")) {
		return Action(strings.TrimSuffix(after, "s"))
	}
	return ""
}
