package property

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/velosim/velosim/sim/scenario"
)

// items draws what is in the cluster.
func (d *drawing) items() {
	universe := []scenario.Item{
		"configmaps/app/settings", "secrets/app/token", "configmaps/web/settings", "secrets/web/token", "serviceaccounts/app/runner",
	}
	d.s.Items = rapid.SliceOfNDistinct(rapid.SampledFrom(universe), 1, 4, rapid.ID[scenario.Item]).Draw(d.t, "items")
	if d.rarely("manifest", 12) {
		d.s.Manifests = []scenario.Manifest{{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": "app", "name": "filled"}, "data": map[string]any{"key": "value"},
		}}
	}
}

// all are the items, however they are written.
func (d *drawing) all() []scenario.Item {
	items := slices.Clone(d.s.Items)
	for _, m := range d.s.Manifests {
		if item, ok := m.Item(); ok {
			items = append(items, item)
		}
	}
	return items
}

// parts are a part of the items, each once and in order.
func (d *drawing) parts(part func(scenario.Item) string) []string {
	var all []string
	for _, item := range d.all() {
		all = append(all, part(item))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *drawing) server() {
	if !d.rarely("server", 5) {
		return
	}
	d.s.Server = scenario.Server{
		ConcurrentBackups:          one(d, "concurrent backups", 0, 2, 3),
		ItemOperationSyncFrequency: one(d, "item operation sync frequency", lengths("0s", "1m", "3s")...),
		ResourceTimeout:            one(d, "resource timeout", lengths("0s", "1m")...),
		GarbageCollectionFrequency: one(d, "garbage collection frequency", lengths("0s", "10m")...),
		BackupSyncPeriod:           one(d, "backup sync period", lengths("0s", "10m")...),
	}
}

// objects draws what the user creates, but for when.
func (d *drawing) objects() {
	backups, schedules, restores := 1, 0, one(d, "restores", 0, 1, 0, 1, 2)
	switch one(d, "shape", "one backup", "one backup", "one backup", "several", "several", "schedule") {
	case "several":
		backups = one(d, "backups", 2, 3)
	case "schedule":
		backups, schedules = one(d, "backups", 0, 1), 1
	}
	for i := range backups {
		d.s.Backups = append(d.s.Backups, scenario.Backup{Name: d.name("backup", i), BackupSpec: d.drawSpec()})
	}
	for range schedules {
		d.s.Schedules = append(d.s.Schedules, scenario.Schedule{
			Name: "daily", Every: one(d, "every", lengths("1m", "10m", "1h")...), Backups: one(d, "scheduled backups", 0, 2, 3), Template: d.drawSpec(),
		})
	}
	for i := range restores {
		d.s.Restores = append(d.s.Restores, scenario.Restore{
			Name: d.name("restore", i), Backup: d.restored(), ItemOperationTimeout: d.timeout(),
		})
	}
}

func (d *drawing) name(kind string, i int) string {
	if d.rarely("named", 10) {
		return fmt.Sprintf("named-%d", i+1)
	}
	return fmt.Sprintf("%s-%d", kind, i+1)
}

func (d *drawing) drawSpec() scenario.BackupSpec {
	spec := scenario.BackupSpec{ItemOperationTimeout: d.timeout()}
	if d.rarely("ttl", 10) {
		spec.TTL = one(d, "ttl", lengths("6h", "1h", "10m")...)
	}
	if d.rarely("included namespaces", 5) {
		spec.IncludedNamespaces = []string{one(d, "included namespace", d.parts(scenario.Item.Namespace)...)}
	}
	if d.rarely("storage location", 20) {
		spec.StorageLocation = "elsewhere"
	}
	return spec
}

// timeout of the operations: mostly short, as each poll takes its time to run.
func (d *drawing) timeout() scenario.Duration {
	return one(d, "item operation timeout", lengths("10m", "1h", "10m", "1m", "0s")...)
}

// restored draws a backup to restore, mostly one that there is.
func (d *drawing) restored() string {
	backups := d.named("backup/")
	if d.rarely("missing backup", 20) {
		return "missing"
	}
	return strings.TrimPrefix(one(d, "backup", backups...), "backup/")
}

// spec is that of a backup; nil: there is none.
func (d *drawing) spec(name string) *scenario.BackupSpec {
	if strings.HasPrefix(name, "daily-") {
		return &d.s.Schedules[0].Template
	}
	return d.s.BackupNamed(name)
}

// named are the objects of a kind, by name.
func (d *drawing) named(kind string) []string {
	s := *d.s
	s.Schedules = slices.Clone(s.Schedules)
	for i := range s.Schedules {
		s.Schedules[i].Backups = max(1, s.Schedules[i].Backups)
	}
	return slices.DeleteFunc(s.Objects(), func(o string) bool { return !strings.HasPrefix(o, kind) })
}

// creations draws when objects are created: mostly one after the other, else at a point of one that is there without it.
func (d *drawing) creations() {
	for i := range d.s.Backups {
		if i > 0 && d.rarely("backup at a point", 2) {
			d.s.Backups[i].At = d.creation(d.named("backup/")[:i])
		}
	}
	for i := range d.s.Restores {
		x := &d.s.Restores[i]
		if spec := d.spec(x.Backup); spec == nil || spec.StorageLocation != "" || d.rarely("restore at a point", 4) {
			x.At = d.creation(append(d.named("backup/"), d.named("restore/")[:i]...))
		}
	}
}

// creation draws a point of one of the objects.
func (d *drawing) creation(of []string) *scenario.Point {
	calls := d.calls(scenario.BackupItemAction)
	kinds := []string{"phase", "phase", "phase", "store"}
	if len(calls) > 0 {
		kinds = append(kinds, "call")
	}
	var p scenario.Point
	switch one(d, "created at", kinds...) {
	case "call":
		p.Call = d.callOf(calls)
		p.Nth, p.After = d.nth(p.Call), d.rarely("after the reply", 2)
	case "store":
		p = d.storePoint(of, false)
	default:
		p = d.phasePoint(one(d, "created at a point of", of...))
	}
	p.Delay = d.after("creation's delay")
	return &p
}

// certain is an object that is created whatever happens.
func (d *drawing) certain() string { return d.named("backup/")[0] }
