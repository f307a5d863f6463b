package model

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// appliesTo takes in what AppliesTo does. Velero asks every plugin before the items, and again in a backup's finalizer; an error is that
// of the run as a whole (ResolveActions in pkg/plugin/framework/action_resolver.go).
func (c *casting) appliesTo(plugins []scenario.Plugin) {
	refused, surely, hung := false, false, false
	hanging := cast{hangs: true, timeout: c.casts[0].timeout, poll: c.casts[0].poll}
	for _, p := range plugins {
		m, hangs := c.strikes(p.AppliesTo)
		if m.from == 0 {
			continue
		}
		may, must := m.from == 1 || !c.counted, m.from == 1 && (c.counted || m.times == 0)
		switch {
		case hangs && c.rules.PluginCallWithoutDeadline:
			for i := range c.casts {
				c.casts[i].hangsLate = c.casts[i].hangsLate || len(c.casts[i].roles) > 0
			}
			hung = hung || may && !surely // those after one that errs are not asked
		default:
			refused, surely = refused || may, surely || must
			if m.times == 0 && p.Action == scenario.BackupItemAction && c.kind == phase.Backup { // it may begin in the finalizer
				for i := range c.casts {
					c.casts[i].barred = c.casts[i].barred || len(c.casts[i].roles) > 0
				}
			}
		}
	}
	if refused && (c.kind == phase.Backup || plugins[0].Action == scenario.RestoreItemAction) {
		if surely {
			c.casts = nil
		}
		c.add(cast{doomed: c.kind == phase.Backup, fails: c.kind == phase.Restore})
	}
	if hung {
		c.add(hanging)
	}
}

// waits is how long Velero waits, for an item, until AreAdditionalItemsReady says so.
func (c *casting) waits(p scenario.Plugin) time.Duration {
	if !p.Execute.WaitForAdditionalItems {
		return 0
	}
	ready := p.AreAdditionalItemsReady
	d := ready.After.Duration
	if ready.Never {
		d = c.Server.ResourceTimeout.Duration
	}
	return longer(min(d, c.Server.ResourceTimeout.Duration), takes(ready.Behaviour), 2) + time.Second
}

// ready takes in what AreAdditionalItemsReady does: an item whose additional items are never ready has an error, and the next plugin is
// called for it all the same (itemsAvailable in pkg/restore/restore.go).
func (c *casting) ready(p scenario.Plugin) {
	ready := p.AreAdditionalItemsReady
	m, hangs := c.strikes(ready.Behaviour)
	takes := ready.After.Duration + 2*time.Second
	for _, f := range c.Faults { // in a pause, the time that it is waited for runs out
		takes = longer(takes, f.Do.Pause.Duration, 1)
	}
	late := ready.Never || takes > c.Server.ResourceTimeout.Duration
	if len(c.called(p)) == 0 || !p.Execute.WaitForAdditionalItems || m.from == 0 && !late {
		return
	}
	for _, cast := range slices.Clone(c.casts) {
		if hangs {
			cast.hangs = true
		} else {
			cast.fails = true
		}
		c.add(cast)
	}
}
