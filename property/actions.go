package property

import (
	"fmt"
	"strings"

	"github.com/velosim/velosim/sim/scenario"
)

// actions draws the plugins that are called once for a backup or restore, and the annotations that skip some.
func (d *drawing) actions() {
	if !d.rarely("actions", 4) {
		return
	}
	kinds := []string{"Backup"}
	if len(d.s.Restores) > 0 {
		kinds = append(kinds, "Restore")
	}
	for i := range one(d, "plugins with actions", 1, 2, 1, 3) {
		kind := one(d, "actions of", kinds...)
		for _, when := range one(d, "which", []string{"Pre", "Post"}, []string{"Post"}, []string{"Pre"}) {
			d.s.Plugins = append(d.s.Plugins, d.action(fmt.Sprintf("example.io/action-%d", i+1), scenario.Action(when+kind+"Action")))
		}
	}
	for i := range d.s.Backups {
		d.s.Backups[i].Annotations = d.skips("backup")
	}
	for i := range d.s.Restores {
		d.s.Restores[i].Annotations = d.skips("restore")
	}
}

func (d *drawing) action(name string, action scenario.Action) scenario.Plugin {
	p := scenario.Plugin{Name: name, Action: action, Deadline: one(d, "deadline", lengths("0s", "1m", "10s", "1h")...)}
	p.Execute.Behaviour = d.behaviour("Execute of an action", 3)
	if !d.scripted(name) {
		p.Start = d.start()
	}
	return p
}

// skips draws the annotations of an object of the kind: mostly none.
func (d *drawing) skips(kind string) map[string]string {
	var all map[string]string
	for _, p := range d.s.Plugins {
		if p.Action.Once() && p.Action.Serves(kind+"/") && d.rarely("skipped", 8) {
			all = map[string]string{p.Name + "." + strings.ToLower(strings.TrimSuffix(string(p.Action), "Action")): "skip"}
		}
	}
	return all
}
