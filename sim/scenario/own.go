package scenario

import "slices"

// Scripted returns the scenario without plugins of the user's own, which are named beside it: kind and name of each.
func (s *Scenario) Scripted() (scripted *Scenario, own []Plugin) {
	c := *s
	c.Plugins = slices.DeleteFunc(slices.Clone(s.Plugins), func(p Plugin) bool { return p.Own })
	for _, p := range s.Plugins {
		if p.Own {
			own = append(own, p)
		}
	}
	return &c, own
}
