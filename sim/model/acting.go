package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// acting are the plugins with pre- and post-actions for an object, by name.
type acting []actingPlugin

// actingPlugin is a plugin, and which of the two actions it has.
type actingPlugin struct {
	name      string
	pre, post bool
}

var errManyActions = fmt.Errorf("the model does not explore more than %d plugins with pre- and post-actions", phase.MaxActions)

// actionsOf are those of the plugins that are called for an object.
func actionsOf(object string, plugins []scenario.Plugin) (acting, error) {
	var all acting
	for _, p := range plugins {
		if !p.Action.Once() || !p.Action.Serves(object) {
			continue
		}
		i := slices.IndexFunc(all, func(a actingPlugin) bool { return a.name == p.Name })
		if i < 0 {
			i = len(all)
			all = append(all, actingPlugin{name: p.Name})
		}
		all[i].pre, all[i].post = all[i].pre || p.Action.Pre(), all[i].post || !p.Action.Pre()
	}
	slices.SortFunc(all, func(a, b actingPlugin) int { return cmp.Compare(a.name, b.name) })
	if len(all) > phase.MaxActions {
		return nil, errManyActions
	}
	return all, nil
}

// due are the actions of a new object.
func (all acting) due() (actions [phase.MaxActions]phase.PluginActions) {
	for i, a := range all {
		if a.pre {
			actions[i].Pre = phase.ActionDue
		}
		if a.post {
			actions[i].Post = phase.ActionDue
		}
	}
	return actions
}

// missed reports whether a process of one of the plugins did not start, by how often each did not.
func (all acting) missed(by map[string]int) bool {
	return slices.ContainsFunc(all, func(a actingPlugin) bool { return by[a.name] > 0 })
}

// action is one of a plugin, by the plugin's place.
type action struct {
	plugin int
	pre    bool
}

// of is the action that a call is of; not ok: it is of an item action. A pre-action is called in InProgress, and nothing else without an item.
func (all acting) of(call trace.Call) (a action, ok bool) {
	for i, p := range all {
		pre := call.Phase == phase.InProgress.String()
		if p.name == call.Plugin && call.Method == "Execute" && call.Item == "" {
			return action{i, pre}, true
		}
	}
	return action{}, false
}

// state is that of the action.
func (a action) state(s phase.State) phase.ActionState {
	if a.pre {
		return s.Actions[a.plugin].Pre
	}
	return s.Actions[a.plugin].Post
}

func (c *checker) nameOf(a action) string {
	kind := map[bool]string{true: "pre", false: "post"}[a.pre]
	return fmt.Sprintf("the %s-action of %s", kind, c.acting[a.plugin].name)
}

// acted is what a server has seen of an action.
type acted uint8

const (
	called acted = iota + 1
	succeeded
)

// actionCalled is the call of an action, whose status says InProgress by then. A server calls it once, but for a plugin whose process ends in
// the call: this is launched anew, and called again.
func (c *checker) actionCalled(a action, call call) string {
	next := map[phase.State]bool{}
	for s := range c.closed() {
		if a.state(s) == phase.ActionRunning && (c.acted[a] == 0 || c.acted[a] == called && c.failing) {
			next[s] = true
		}
	}
	c.acted[a] = called
	c.frontier, c.open[call.ID] = next, call
	return c.nameOf(a) + " was called"
}

// actionReturned is the return of an action. The server may die before the action's status says so.
func (c *checker) actionReturned(a action, failed bool) string {
	in, text := phase.PostActionSucceeded, " succeeded"
	switch {
	case a.pre && failed:
		in, text = phase.PreActionFailed, " failed"
	case a.pre:
		in = phase.PreActionSucceeded
	case failed:
		in, text = phase.PostActionFailed, " failed"
	}
	if !failed {
		c.acted[a] = succeeded
	}
	next := maps.Clone(c.frontier)
	maps.Copy(next, c.after(in))
	c.frontier = next
	return c.nameOf(a) + text
}
