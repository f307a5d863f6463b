package property

import (
	"slices"

	"github.com/velosim/velosim/sim/scenario"
)

// calls are those of the actions that are made if nothing comes in between.
func (d *drawing) calls(of ...scenario.Action) []*scenario.Call {
	var all []*scenario.Call
	for _, p := range d.s.Plugins {
		if !slices.Contains(of, p.Action) {
			continue
		}
		methods := []string{"Execute"}
		if !p.Action.Once() {
			methods = append(methods, "AppliesTo")
		}
		if p.Operation != nil {
			methods = append(methods, "Progress")
			if !d.ends(p) {
				methods = append(methods, "Cancel")
			}
		}
		if p.Execute.WaitForAdditionalItems {
			methods = append(methods, "AreAdditionalItemsReady")
		}
		for _, m := range methods {
			all = append(all, &scenario.Call{Plugin: p.Name, Method: m})
		}
	}
	return all
}

// callOf draws one of the calls, at times with a phase in which it is likely made.
func (d *drawing) callOf(calls []*scenario.Call) *scenario.Call {
	c := one(d, "call", calls...)
	once := slices.ContainsFunc(d.s.Plugins, func(p scenario.Plugin) bool { return p.Name == c.Plugin && p.Action.Once() })
	if c.Method == "AppliesTo" || !d.rarely("phase of the call", 4) {
		return c
	}
	switch phases := []string{"InProgress"}; {
	case c.Method == "Progress" || c.Method == "Cancel":
		c.Phase = one(d, "phase of the call", append(phases, "WaitingForPluginOperations", "WaitingForPluginOperations")...)
	case once:
		c.Phase = one(d, "phase of the call", append(phases, "Completed", "PartiallyFailed")...)
	default:
		c.Phase = phases[0]
	}
	return c
}

// nth draws which of the calls it is: the first one, where there may be no others.
func (d *drawing) nth(c *scenario.Call) int {
	if c.Method == "Progress" || c.Method == "Execute" && len(d.all()) > 1 {
		return one(d, "nth", 0, 0, 2, 0, 3)
	}
	return 0
}

// ends tells whether the plugin's operations end well by themselves before any timeout.
func (d *drawing) ends(p scenario.Plugin) bool {
	steps := p.Operation.Progress
	return len(steps) > 0 && steps[len(steps)-1].Completed && steps[len(steps)-1].At.Duration < lengths("10m")[0].Duration
}
