package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// cast is what the plugins of a scenario do in the run of one object.
type cast struct {
	// roles of the operations. One or two stand for all that are alike: some may end in a pass, and others in the next.
	roles []role
	// fails: Execute returns an error for an item. hangs: it does not return for one. hangsLate: for one that the finalizer backs
	// up again; hangsThen: it surely does.
	fails, hangs, hangsLate, hangsThen bool
	// barred: the finalizer may fail each time, as it does where the contents are lost.
	barred bool
	// prepares are the pre-actions, in order.
	prepares [phase.MaxActions]chances
	// doomed: the run fails before its items; early: and before its pre-actions.
	doomed, early bool
	// resyncs: the run takes so long that informers resync.
	resyncs bool
	timeout time.Duration // of the operations
	poll    time.Duration // between two passes
	// first is how long the items and the pass after them take at most, and slack how far apart ends may lie that one pass sees.
	first, slack time.Duration
}

// early is by when the first pass is over, once the items are, if nothing is slow.
const early = 5 * time.Second

// resync is the shortest time after which informers hand every object to the controllers again (controller-runtime's default, less
// its jitter).
const resync = 9 * time.Hour

// blank is a cast without operations.
func (c *casting) blank(plugins []scenario.Plugin) cast {
	frequency := cmp.Or(c.Server.ItemOperationSyncFrequency.Duration, poll)
	// Two polls, the first of which may come late, and what goes on in between: the passes of others, too.
	cast := cast{timeout: c.timeout, poll: frequency, first: early, slack: longer(0, max(frequency, poll), 4)}
	passes := 1 + len(c.others())
	for _, p := range plugins {
		n := len(c.called(p))
		cast.first = longer(longer(cast.first, takes(p.Execute.Behaviour), n), takes(p.Progress), n)
		cast.first = longer(longer(cast.first, p.Cancel.Delay.Duration, n), c.waits(p), n) // one hangs when its operation has timed out, not before
		n = len(c.Items) * passes
		cast.slack = longer(longer(cast.slack, takes(p.Execute.Behaviour), n), takes(p.Progress), 3*n)
		cast.slack = longer(cast.slack, p.Start.Takes(), 2*n)
		cast.slack = longer(longer(cast.slack, takes(p.Cancel), 2*n), takes(p.AppliesTo), 2*passes)
	}
	for _, f := range c.Faults {
		if k := f.Do.Kill; k != nil {
			cast.slack = longer(longer(longer(cast.slack, k.RestartAfter.Duration, 1), f.At.Delay.Duration, 1), time.Minute, 1)
			if passes > 1 && c.hang() { // another may hold the controller until then
				cast.slack = longest
			}
		}
	}
	for _, f := range c.Faults { // a patch comes later, and with it what follows
		cast.first, cast.slack = longer(cast.first, f.Do.Pause.Duration, 1), longer(cast.slack, f.Do.Pause.Duration, 1)
		cast.slack = longer(longer(cast.slack, f.Do.Latency.Duration, max(f.Times, 1)), f.For.Duration, 1)
	}
	cast.resyncs = longer(cast.slack, c.timeout, 1) > resync || slices.ContainsFunc(c.Faults, relists)
	return cast
}

// relists reports whether informers may list all objects anew, which is as a resync: they do where a watch ends at once.
func relists(f scenario.Fault) bool { return f.Do.BreakWatches != nil }

// hang reports whether a plugin has calls that never return.
func (c *casting) hang() bool {
	return c.rules.PluginCallWithoutDeadline && slices.ContainsFunc(c.Plugins, func(p scenario.Plugin) bool {
		return p.AppliesTo.Hang || p.Execute.Hang || p.Progress.Hang || p.Cancel.Hang
	})
}

// takes is how long a call goes on.
func takes(b scenario.Behaviour) time.Duration {
	if b.Hang {
		return phase.CallDeadline
	}
	return b.Delay.Duration
}

// add adds n operations.
func (c *cast) add(r role, n int) {
	most := 1
	if r != (role{due: r.due, completes: true, afterCancel: r.afterCancel}) { // that some fail before others end can be told
		most = 2
	}
	for _, other := range c.roles {
		if other == r {
			most--
		}
	}
	for range min(n, most) {
		c.roles = append(c.roles, r)
	}
}

const longest = time.Duration(1<<63 - 1)

// longer is d + n·more, at most the longest duration there is.
func longer(d, more time.Duration, n int) time.Duration {
	if more > 0 && time.Duration(n) > (longest-d)/more {
		return longest
	}
	return d + time.Duration(n)*more
}
