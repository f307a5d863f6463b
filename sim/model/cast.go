package model

import (
	"cmp"
	"errors"
	"slices"
	"strings"
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
	// resyncs: the run takes so long that informers resync.
	resyncs bool
	timeout time.Duration // of the operations
	// first is how long the items and the pass after them take at most, and slack how far apart ends may lie that one pass sees.
	first, slack time.Duration
}

// early is by when the first pass is over, once the items are, if nothing is slow.
const early = 5 * time.Second

// resync is the shortest time after which informers hand every object to the controllers again (controller-runtime's default, less
// its jitter).
const resync = 9 * time.Hour

// maxCasts bounds the casts of an object.
const maxCasts = 100

var errManyOperations = errors.New("its plugins have more kinds of operations than the model can follow")

// chance is whether something happens.
type chance uint8

const (
	surely chance = iota
	maybe
	never
)

// casting makes the casts of an object: there are several where it is not certain which items a plugin is called for.
type casting struct {
	rules phase.Rules
	*scenario.Scenario
	items map[scenario.Item]chance // that the next plugin is called for
	// tangled: Execute fails for items that others need, so that nobody knows which are left, and how many have errors.
	tangled bool
	casts   []cast
}

// castsOf returns what the scenario's plugins may do in a run of the object.
func castsOf(rules phase.Rules, s *scenario.Scenario, k phase.Kind) ([]cast, error) {
	c := casting{rules: rules, Scenario: s, items: map[scenario.Item]chance{}}
	for _, item := range s.Items {
		c.items[item] = surely
	}
	err := c.all(scenario.BackupItemAction, s.Backup.ItemOperationTimeout.Duration)
	if err == nil && k == phase.Restore { // of the items that were backed up
		err = c.all(scenario.RestoreItemAction, s.Restore.ItemOperationTimeout.Duration)
	}
	if k == phase.Restore {
		c.logs()
	}
	return c.casts, err
}

// logs counts a restore's log that cannot be stored as an error of the restore (pkg/controller/restore_controller.go).
func (c *casting) logs() {
	refused := slices.ContainsFunc(c.Faults, func(f scenario.Fault) bool {
		s := f.At.Store
		return s != nil && f.Do.Fail != "" && strings.HasPrefix(s.Key, "restores/") && strings.HasSuffix(s.Key, "-logs.gz") && f.At.Nth <= 1
	})
	for i := range c.casts {
		c.casts[i].fails = c.casts[i].fails || refused
	}
}

// all takes in the plugins of an action, in the order in which Velero calls them.
func (c *casting) all(action scenario.Action, timeout time.Duration) error {
	plugins := slices.DeleteFunc(slices.Clone(c.Plugins), func(p scenario.Plugin) bool { return p.Action != action })
	slices.SortFunc(plugins, func(a, b scenario.Plugin) int { return cmp.Compare(a.Name, b.Name) })
	c.casts = []cast{c.blank(plugins, timeout)}
	needed := slices.ContainsFunc(plugins, func(p scenario.Plugin) bool { return len(p.Execute.AdditionalItems) > 0 })
	fails := slices.ContainsFunc(plugins, func(p scenario.Plugin) bool { m, _ := c.strikes(p.Execute.Behaviour); return m.from > 0 })
	c.tangled = c.tangled || needed && fails
	for _, p := range plugins {
		c.plugin(p)
	}
	if c.tangled {
		for _, cast := range slices.Clone(c.casts) {
			cast.fails = !cast.fails
			c.casts = append(c.casts, cast)
		}
	}
	for _, p := range plugins {
		c.late(p)
	}
	for _, cast := range c.casts {
		if len(cast.roles) > MaxOperations || len(c.casts) > maxCasts {
			return errManyOperations
		}
	}
	return nil
}

// blank is a cast without operations.
func (c *casting) blank(plugins []scenario.Plugin, timeout time.Duration) cast {
	// Two polls, the first of which may come late, and what goes on in between.
	cast := cast{timeout: timeout, first: early, slack: 40 * time.Second}
	for _, p := range plugins {
		n := len(c.called(p))
		cast.first = longer(longer(cast.first, takes(p.Execute.Behaviour), n), takes(p.Progress), n)
		cast.first = longer(cast.first, p.Cancel.Delay.Duration, n) // one hangs when its operation has timed out, not before
		cast.slack = longer(longer(cast.slack, takes(p.Execute.Behaviour), n), takes(p.Progress), 3*n)
		cast.slack = longer(cast.slack, takes(p.Cancel), 2*n)
	}
	for _, f := range c.Faults {
		if k := f.Do.Kill; k != nil {
			cast.slack = longer(longer(longer(cast.slack, k.RestartAfter.Duration, 1), f.At.Delay.Duration, 1), time.Minute, 1)
		}
	}
	cast.resyncs = longer(cast.slack, timeout, 1) > resync
	return cast
}

// takes is how long a call goes on.
func takes(b scenario.Behaviour) time.Duration {
	if b.Hang {
		return phase.CallDeadline
	}
	return b.Delay.Duration
}

// called are the items that the plugin may be called for.
func (c *casting) called(p scenario.Plugin) []scenario.Item {
	return slices.DeleteFunc(slices.Clone(c.Items), func(item scenario.Item) bool {
		resource, _, _ := strings.Cut(string(item), "/")
		return c.items[item] == never || !slices.Contains(p.Resources, resource)
	})
}

// plugin takes in what a plugin does with the items that it is called for.
func (c *casting) plugin(p scenario.Plugin) {
	called := c.called(p)
	most, sure := len(called), 0
	for _, item := range called {
		if c.items[item] == surely && !c.tangled {
			sure++
		}
	}
	strikes, hangs := c.strikes(p.Execute.Behaviour)
	var casts []cast
	for _, calls := range slices.Compact([]int{sure, min(sure+1, most), min(sure+2, most), most}) { // more of the same makes no difference
		hit := strikes.struck(calls)
		for _, cast := range c.casts {
			cast.fails = cast.fails || hit > 0 && !hangs
			cast.hangs = cast.hangs || hit > 0 && hangs
			cast.roles = slices.Clone(cast.roles)
			if p.Operation != nil && calls > hit {
				cast.add(c.role(p, cast), calls-hit)
			}
			casts = append(casts, cast)
		}
	}
	c.casts = casts
	if c.tangled {
		return
	}
	after := surely
	switch hit := strikes.struck(most); {
	case most > 0 && hit == most:
		after = never
	case hit > 0:
		after = maybe
	}
	for _, item := range called {
		c.items[item] = max(c.items[item], after)
	}
}

// strikes are the calls that are struck, and whether they hang then. In a reading with a deadline those hang that take longer.
func (c *casting) strikes(b scenario.Behaviour) (m misbehaviour, hangs bool) {
	switch {
	case !c.rules.PluginCallWithoutDeadline && b.Delay.Duration > phase.CallDeadline:
		return misbehaviour{from: 1}, true
	case b.Hang || b.Error != "" || b.Panic != "":
		return misbehaviour{max(b.Nth, 1), b.Times}, b.Hang
	}
	return misbehaviour{}, false
}

// late takes in what the plugin's Execute does with items that are backed up again.
func (c *casting) late(p scenario.Plugin) {
	strikes, hangs := c.strikes(p.Execute.Behaviour)
	again := slices.ContainsFunc(c.called(p), func(item scenario.Item) bool {
		return slices.ContainsFunc(c.Plugins, func(q scenario.Plugin) bool { return slices.Contains(q.Execute.ItemsToUpdate, item) })
	})
	if !again || !hangs {
		return
	}
	alone := !slices.ContainsFunc(c.Plugins, func(q scenario.Plugin) bool {
		m, _ := c.strikes(q.Execute.Behaviour)
		return m.from > 0 && q.Name != p.Name
	})
	for i := range c.casts {
		if cast := &c.casts[i]; len(cast.roles) > 0 {
			cast.hangsLate = true
			cast.hangsThen = cast.hangsThen || alone && strikes.from == len(c.called(p))+1
		}
	}
}

// role is what the plugin's operations do.
func (c *casting) role(p scenario.Plugin, in cast) role {
	r := role{due: in.timeout, timesOut: true, afterCancel: p.Operation.AfterCancel}
	if n := len(p.Operation.Progress); n > 0 {
		last := p.Operation.Progress[n-1]
		age := last.At.Duration
		if (last.Completed || last.Failed != "") && age <= longer(in.timeout, in.slack, 1) {
			r.completes, r.fails = last.Completed, last.Failed != ""
			r.due = min(age, in.timeout)
			r.timesOut = in.timeout <= longer(age, in.slack, 1)
		}
	}
	if p.Operation.Forgets {
		r.forgotten = misbehaviour{from: 2} // the first poll is made by the process that has started it
	}
	switch m, hangs := c.strikes(p.Progress); {
	case hangs:
		r.hangs = m
	default:
		r.errors = m
	}
	if p.Operation.Unknown {
		r.errors = misbehaviour{from: 1}
	}
	if m, hangs := c.strikes(p.Cancel); hangs {
		r.cancels = m
	}
	return r
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

// longer is d + n·more, at most the longest duration there is.
func longer(d, more time.Duration, n int) time.Duration {
	const longest = time.Duration(1<<63 - 1)
	if more > 0 && time.Duration(n) > (longest-d)/more {
		return longest
	}
	return d + time.Duration(n)*more
}
