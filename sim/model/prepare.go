package model

import (
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// chances are how a pre-action may end. The zero value: there is none.
type chances struct{ succeeds, fails bool }

// prepared takes in the pre-actions. Post-actions change no path.
func (c *casting) prepared() error {
	plugins := c.ActionsOf(c.object)
	acting, err := actionsOf(c.object, plugins)
	for _, p := range plugins {
		i := slices.IndexFunc(acting, func(a actingPlugin) bool { return a.name == p.Name })
		if i < 0 || !p.Action.Pre() {
			continue
		}
		for j := range c.casts {
			c.casts[j].prepares[i] = c.chances(p)
		}
	}
	return err
}

// chances of a pre-action that is called once for each object of its kind. In every reading its call has a deadline. What is left of it for
// a call that is made again, as its process has died, nobody knows.
func (c *casting) chances(p scenario.Plugin) chances {
	b, first := p.Execute.Behaviour, c.first(c.object)
	struck := misbehaviour{max(b.Nth, 1), b.Times}
	switch may, must := struck.strikes(1, first); {
	case b.Delay.Duration > p.Deadline.Duration || (b.Hang || b.Error != "" || b.Panic != "") && must:
		return chances{fails: true}
	case b.Delay.Duration == p.Deadline.Duration || (b.Hang || b.Error != "" || b.Panic != "") && may || p.Start.Fails():
		return chances{succeeds: true, fails: true}
	}
	return chances{succeeds: true}
}

// calledNow is the plugin whose pre-action is called.
func calledNow(o phase.State) int {
	return max(slices.IndexFunc(o.Actions[:], func(a phase.PluginActions) bool { return a.Pre == phase.ActionRunning }), 0)
}

// once reports whether the plugin's action is called once for a backup or restore.
func once(p scenario.Plugin) bool { return p.Action.Once() }

// acts reports whether the plugin has such an action for the subject.
func (s subject) acts(plugin string) bool {
	return slices.ContainsFunc(s.Plugins, func(p scenario.Plugin) bool { return p.Name == plugin && once(p) && p.Action.Serves(s.object) })
}

// atAction is what a kill at a call of a plugin with a pre- or post-action does; others: it has an item action, too. At a post-action, the
// subject has ended.
func (s subject) atAction(f scenario.Fault, others bool) consequence {
	is := func(pre bool) bool {
		return slices.ContainsFunc(s.Plugins, func(p scenario.Plugin) bool {
			return p.Name == f.At.Call.Plugin && once(p) && p.Action.Serves(s.object) && p.Action.Pre() == pre
		})
	}
	in, pre, post := f.At.Call.Phase, is(true), is(false)
	first := max(f.At.Nth, 1) == 1 && s.first(s.object)
	switch {
	case in != "" && in != phase.InProgress.String(), !pre && !others: // it has ended
		return consequence{}
	case others || f.At.Delay.Duration > 0:
		return consequence{inputs: killed()}
	case in == "" && post && max(f.At.Nth, 1) == 2 && s.first(s.object) && len(s.others()) == 0:
		return consequence{}
	case in == "" && post && !first: // any of the two
		return consequence{inputs: []phase.Input{phase.ServerKilled}, in: []phase.Phase{phase.InProgress}}
	}
	return consequence{inputs: []phase.Input{phase.ServerKilled}, in: []phase.Phase{phase.InProgress}, surely: true}
}

// relaunched reports whether the call is one of an action whose process is launched anew when it dies in a call, and called again: nothing
// comes of it.
func relaunched(s *scenario.Scenario, call scenario.Call) bool {
	others := func(p scenario.Plugin) bool {
		b := p.Execute.Behaviour
		return p.Name == call.Plugin && (!once(p) || b.Error != "" || b.Hang || b.Panic != "" || b.Delay.Duration > 0 || p.Start.Fails())
	}
	return call.Method == "Execute" && !slices.ContainsFunc(s.Plugins, others)
}
