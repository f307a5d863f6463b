package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// actionName is that of a plugin with pre- and post-actions, by its place.
func actionName(i int) string { return fmt.Sprintf("example.io/action-%d", i+1) }

// running is the plugin whose action is called.
func running(o phase.State) (int, bool) {
	i := slices.IndexFunc(o.Actions[:], func(a phase.PluginActions) bool {
		return a.Pre == phase.ActionRunning || a.Post == phase.ActionRunning
	})
	return i, i >= 0
}

// actionFails notes that the action that is called returns an error.
func (w *writer) actionFails(in phase.Input) error {
	i, ok := running(w.state.Object)
	switch {
	case !ok:
		return errNoPoint
	case in == phase.PreActionFailed:
		w.errs[i].pre = true
	default:
		w.errs[i].post = true
	}
	return nil
}

// killAction is a kill when a plugin's action is called: for the first time in this phase, or again.
func (w *writer) killAction(i int) {
	at := fmt.Sprintf("call: {plugin: %s, method: Execute, phase: %s}", actionName(i), w.state.Object.Phase)
	nth := 1
	for _, f := range w.faults {
		if strings.Contains(f, at) {
			nth++
		}
	}
	w.fault(fmt.Sprintf("%s, nth: %d", at, nth), "kill: {restartAfter: 4s}")
}

// actions are the plugins that have any.
func (w *writer) actions(b *strings.Builder) {
	kind := map[phase.Kind]string{phase.Backup: "Backup", phase.Restore: "Restore"}[w.kind]
	write := func(i int, action string, fails bool) {
		script := ""
		if fails {
			script = ", execute: {error: refused}"
		}
		fmt.Fprintf(b, "- {name: %s, action: %s%sAction%s}\n", actionName(i), action, kind, script)
	}
	for i, a := range w.state.Object.Actions {
		if a.Pre != phase.NoAction {
			write(i, "Pre", w.errs[i].pre)
		}
		if a.Post != phase.NoAction {
			write(i, "Post", w.errs[i].post)
		}
	}
}
