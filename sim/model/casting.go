package model

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// casting makes the casts of an object: there are several where it is not certain which items a plugin is called for, or how it answers.
type casting struct {
	rules phase.Rules
	subject
	items map[scenario.Item]chance // that the next plugin is called for
	large map[scenario.Item]chance // and that are too large for a request; none of the others is
	// tangled: Execute fails for items that others need, so that nobody knows which are left, and how many have errors.
	tangled bool
	// counted: it is known which of the plugins' calls are made for the object, counted over all objects.
	counted bool
	casts   []cast
}

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

// castsOf returns what the scenario's plugins may do in a run of the object.
func castsOf(rules phase.Rules, s subject) ([]cast, error) {
	c := casting{rules: rules, subject: s, items: map[scenario.Item]chance{}, large: map[scenario.Item]chance{}}
	for _, item := range s.Items {
		switch {
		case len(s.spec.IncludedNamespaces) > 0 && !slices.Contains(s.spec.IncludedNamespaces, item.Namespace()),
			len(s.spec.IncludedNamespaces) == 0 && item.Namespace() == scenario.VeleroNamespace:
			c.items[item] = never
		case s.unsure(s.backup), s.overlaid:
			c.items[item] = maybe
		}
	}
	c.tangled = s.overlaid // hooks may fail, and items not be restored
	c.counted = s.first(s.backup)
	err := c.all(scenario.BackupItemAction)
	if err == nil && s.kind == phase.Restore { // of the items that were backed up
		c.updated()
		c.counted = s.first(s.object)
		err = c.all(scenario.RestoreItemAction)
		c.logs()
		c.unwritten()
	}
	if err == nil {
		err = c.prepared()
	}
	return c.casts, err
}

// updated adds what the finalizer has backed up for the operations: it does not ask whether the backup includes that (FinalizeBackup in
// pkg/backup/backup.go).
func (c *casting) updated() {
	for _, p := range c.Plugins {
		if p.Action != scenario.BackupItemAction || p.Operation == nil || len(c.called(p)) == 0 {
			continue
		}
		for _, item := range p.Execute.ItemsToUpdate {
			if c.items[item] == never {
				c.items[item] = maybe
			}
			if slices.ContainsFunc(c.Plugins, func(q scenario.Plugin) bool { return q.Execute.TooLarge }) {
				c.grow([]scenario.Item{item}, false)
			}
		}
	}
}

// logs counts a restore's log that cannot be stored as an error of the restore (pkg/controller/restore_controller.go).
func (c *casting) logs() {
	refused := slices.ContainsFunc(c.Faults, func(f scenario.Fault) bool {
		s := f.At.Store
		fails := f.Do.Fail != "" || f.Do.Crash != nil || f.Do.Tear != nil && f.Do.Tear.Error != ""
		return s != nil && fails && s.Verb == "put" && strings.HasPrefix(s.Key, folder(c.object)) && strings.HasSuffix(s.Key, "-logs.gz") &&
			!strings.HasSuffix(s.Key, "-post-actions-logs.gz") && f.At.Nth <= 1
	})
	for i := range c.casts {
		c.casts[i].fails = c.casts[i].fails || refused
	}
}

// all takes in the plugins of an action, in the order in which Velero calls them.
func (c *casting) all(action scenario.Action) error {
	plugins := slices.DeleteFunc(slices.Clone(c.Plugins), func(p scenario.Plugin) bool { return p.Action != action })
	slices.SortFunc(plugins, func(a, b scenario.Plugin) int { return cmp.Compare(a.Name, b.Name) })
	c.casts = []cast{c.blank(plugins)}
	needed := slices.ContainsFunc(plugins, func(p scenario.Plugin) bool { return len(p.Execute.AdditionalItems) > 0 })
	fails := slices.ContainsFunc(plugins, func(p scenario.Plugin) bool {
		m, _ := c.strikes(p.Execute.Behaviour)
		return m.from > 0 || p.Execute.TooLarge
	})
	c.tangled = c.tangled || needed && fails
	for _, p := range plugins {
		c.plugin(p)
		c.ready(p)
	}
	if action == scenario.RestoreItemAction {
		c.refuse(c.Items)
	}
	if c.tangled {
		for _, cast := range slices.Clone(c.casts) {
			cast.fails = !cast.fails
			c.add(cast)
		}
	}
	for _, p := range plugins {
		c.late(p)
	}
	c.appliesTo(plugins)
	c.starts(plugins)
	for _, cast := range c.casts {
		if len(cast.roles) > MaxOperations || len(c.casts) > maxCasts {
			return errManyOperations
		}
	}
	return nil
}

// add adds a cast, if there is none like it yet.
func (c *casting) add(more cast) {
	if !slices.ContainsFunc(c.casts, func(other cast) bool { return reflect.DeepEqual(more, other) }) {
		c.casts = append(c.casts, more)
	}
}

// called are the items that the plugin may be called for.
func (c *casting) called(p scenario.Plugin) []scenario.Item {
	return slices.DeleteFunc(slices.Clone(c.Items), func(item scenario.Item) bool {
		return c.items[item] == never || !slices.Contains(p.Resources, item.Resource())
	})
}

// plugin takes in what a plugin does with the items that it is called for.
func (c *casting) plugin(p scenario.Plugin) {
	c.refuse(c.called(p))
	called := c.called(p)
	most, sure := len(called), 0
	for _, item := range called {
		if c.items[item] == surely && !c.tangled {
			sure++
		}
	}
	strikes, hangs := c.strikes(p.Execute.Behaviour)
	casts := c.casts
	c.casts = nil
	for _, calls := range slices.Compact([]int{sure, min(sure+1, most), min(sure+2, most), most}) { // more of the same makes no difference
		for _, hit := range c.hits(strikes, calls) {
			for _, cast := range casts {
				cast.fails = cast.fails || hit > 0 && !hangs
				cast.hangs = cast.hangs || hit > 0 && hangs
				cast.roles = slices.Clone(cast.roles)
				if p.Operation != nil && calls > hit {
					cast.add(c.role(p, cast), calls-hit)
				}
				c.add(cast)
			}
		}
	}
	hits := c.hits(strikes, most)
	if p.Execute.TooLarge {
		c.grow(called, slices.Max(hits) == 0 && !c.tangled)
	}
	if c.tangled {
		return
	}
	after := surely
	switch {
	case most > 0 && slices.Min(hits) == most, p.Execute.SkipRestore:
		after = never
	case slices.Max(hits) > 0:
		after = maybe
	}
	for _, item := range called {
		c.items[item] = max(c.items[item], after)
	}
}

// hits are how many of n calls for the object may be struck.
func (c *casting) hits(m misbehaviour, n int) []int {
	most := n
	if m.times > 0 {
		most = min(n, m.times)
	}
	switch {
	case m.from == 0, n == 0:
		return []int{0}
	case c.counted:
		return []int{m.struck(n)}
	case m.from == 1 && m.times == 0:
		return []int{n}
	}
	hits := []int{0, min(1, most), max(most-2, 0), max(most-1, 0), most}
	slices.Sort(hits)
	return slices.Compact(hits)
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
	if !(again || c.follow(p)) || !hangs || c.kind == phase.Restore { // a restore's finalizer calls no plugins
		return
	}
	sure := again && c.counted && !c.unsure(c.backup) && len(c.others()) == 0
	alone := !slices.ContainsFunc(c.Plugins, func(q scenario.Plugin) bool {
		m, _ := c.strikes(q.Execute.Behaviour)
		return (m.from > 0 || q.Execute.TooLarge) && q.Name != p.Name
	})
	for i := range c.casts {
		if cast := &c.casts[i]; len(cast.roles) > 0 {
			cast.hangsLate = true
			cast.hangsThen = cast.hangsThen || sure && alone && strikes.from == len(c.called(p))+1
		}
	}
}

// follow reports whether the plugin may be called for additional items of those that are backed up again.
func (c *casting) follow(p scenario.Plugin) bool {
	updates := slices.ContainsFunc(c.Plugins, func(q scenario.Plugin) bool { return len(q.Execute.ItemsToUpdate) > 0 })
	return updates && slices.ContainsFunc(c.Plugins, func(q scenario.Plugin) bool {
		return q.Action == scenario.BackupItemAction && slices.ContainsFunc(q.Execute.AdditionalItems, func(item scenario.Item) bool {
			return slices.Contains(p.Resources, item.Resource())
		})
	})
}
