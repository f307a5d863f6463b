package property

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/velosim/velosim/sim/scenario"
)

// plugins draws the scripted ones.
func (d *drawing) plugins() {
	actions := []scenario.Action{scenario.BackupItemAction, scenario.BackupItemAction}
	if len(d.s.Restores) > 0 {
		actions = append(actions, scenario.RestoreItemAction, scenario.RestoreItemAction)
	}
	if d.deletesBackups() {
		actions = append(actions, scenario.DeleteItemAction)
	}
	of := map[scenario.Action]int{}
	for range one(d, "plugins", 1, 1, 2, 0, 2, 3) {
		action := one(d, "action", actions...)
		of[action]++
		d.s.Plugins = append(d.s.Plugins, d.plugin(fmt.Sprintf("example.io/mover-%d", of[action]), action))
	}
	d.actions()
}

// deletesBackups tells whether Velero is asked to delete a backup.
func (d *drawing) deletesBackups() bool {
	expires := func(b scenario.BackupSpec) bool { return b.TTL.Duration > 0 }
	return slices.ContainsFunc(d.intends, func(do scenario.Do) bool { return slices.Contains(d.named("backup/"), do.Delete) }) ||
		slices.ContainsFunc(d.s.Backups, func(b scenario.Backup) bool { return expires(b.BackupSpec) }) ||
		slices.ContainsFunc(d.s.Schedules, func(x scenario.Schedule) bool { return expires(x.Template) })
}

func (d *drawing) plugin(name string, action scenario.Action) scenario.Plugin {
	p := scenario.Plugin{Name: name, Action: action, Resources: d.resources(), AppliesTo: d.behaviour("AppliesTo", 15)}
	switch {
	case action == scenario.DeleteItemAction:
	case d.rarely("version 1", 8):
		p.Version = 1
	case !d.rarely("no operation", 5):
		p.Operation = d.operation()
		p.Progress, p.Cancel = d.behaviour("Progress", 4), d.behaviour("Cancel", 5)
	}
	p.Execute = d.execute(p)
	if p.Execute.WaitForAdditionalItems {
		p.AreAdditionalItemsReady = d.ready()
	}
	if !d.scripted(name) {
		p.Start = d.start()
	}
	return p
}

// scripted tells whether there is a plugin of that name, whose process another one of it has.
func (d *drawing) scripted(name string) bool {
	return slices.ContainsFunc(d.s.Plugins, func(p scenario.Plugin) bool { return p.Name == name })
}

// start draws how the starts of the plugin's process misbehave: never the server's.
func (d *drawing) start() (s scenario.Start) {
	if !d.rarely("start misbehaves", 8) {
		return s
	}
	switch one(d, "start", "exit", "delay", "wrong", "none", "protocol") {
	case "exit":
		s.Exit = true
	case "wrong":
		s.Handshake = scenario.WrongHandshake
	case "none":
		s.Handshake = scenario.NoHandshake
	case "protocol":
		s.Protocol = 1
	default:
		s.Delay = one(d, "start delay", lengths("1s", "10s")...)
		return s
	}
	s.Nth, s.Times = one(d, "start nth", 2, 3, 4), one(d, "start times", 0, 1, 2, 3)
	return s
}

func (d *drawing) resources() []string {
	there := d.parts(scenario.Item.Resource)
	if d.rarely("all resources", 3) {
		return there
	}
	return []string{one(d, "resource", there...)}
}

// behaviour draws how a method misbehaves, about once in n times.
func (d *drawing) behaviour(method string, n int) (b scenario.Behaviour) {
	if !d.rarely(method+" misbehaves", n) {
		return b
	}
	switch one(d, method+" behaviour", "error", "delay", "panic", "hang", "error", "delay") {
	case "error":
		b.Error = "no answer"
	case "panic":
		b.Panic = "nil map"
	case "hang":
		b.Hang = true
	default:
		b.Delay = one(d, method+" delay", lengths("1s", "10s", "1m", "10m", "1h")...)
		return b
	}
	b.Nth, b.Times = one(d, method+" nth", 0, 2, 3), one(d, method+" times", 0, 1, 2, 3)
	return b
}

func (d *drawing) execute(p scenario.Plugin) scenario.Execute {
	e := scenario.Execute{Behaviour: d.behaviour("Execute", 4)}
	more := func(label string) []scenario.Item {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(d.all()), 1, min(2, len(d.all())), rapid.ID[scenario.Item]).Draw(d.t, label)
	}
	if p.Action != scenario.DeleteItemAction && d.rarely("additional items", 5) {
		e.AdditionalItems = more("additional item")
	}
	if p.Action == scenario.BackupItemAction && p.Operation != nil && d.rarely("items to update", 4) {
		e.ItemsToUpdate = more("item to update")
	}
	e.TooLarge = p.Action != scenario.DeleteItemAction && d.rarely("too large", 15)
	if p.Action == scenario.RestoreItemAction {
		e.SkipRestore = !e.TooLarge && len(e.AdditionalItems) == 0 && d.rarely("skip restore", 8)
		e.WaitForAdditionalItems = len(e.AdditionalItems) > 0 && p.Version != 1 && d.rarely("wait for additional items", 2)
	}
	return e
}

func (d *drawing) ready() scenario.Ready {
	r := scenario.Ready{Behaviour: d.behaviour("AreAdditionalItemsReady", 3)}
	if r.Never = d.rarely("never ready", 4); !r.Never {
		r.After = d.after("ready after")
	}
	return r
}

func (d *drawing) operation() *scenario.Operation {
	o := &scenario.Operation{}
	if d.rarely("unknown operation", 15) {
		o.Unknown = true
		return o
	}
	o.AfterCancel = one(d, "after cancel", "", scenario.Completes, scenario.Continues, scenario.Fails)
	o.Forgets = d.rarely("forgets", 15)
	ages := lengths("0s", "1s", "10s", "1m", "10m", "1h", "3h59m50s", "4h", "4h10s")
	first := one(d, "first step", 0, 0, 0, 1, 2)
	o.Progress = []scenario.Step{{At: ages[first], Done: 1, Of: one(d, "of", int64(0), 10), Units: one(d, "units", "", "Bytes"), Description: one(d, "description", "", "copying")}}
	for at := first + one(d, "next step", 4, 2, 1, 3, 5); at < len(ages) && !d.rarely("last step", 3); at += one(d, "next step", 2, 1, 3) {
		o.Progress = append(o.Progress, scenario.Step{At: ages[at], Done: int64(at)})
	}
	last := &o.Progress[len(o.Progress)-1]
	switch one(d, "ends", "completed", "completed", "failed", "never", "completed") {
	case "completed":
		last.Completed = true
	case "failed":
		last.Failed = "disk full"
	}
	return o
}
