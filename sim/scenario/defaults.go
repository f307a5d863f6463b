package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/velosim/velosim/sim/phase"
)

// What Velero's server does without flags (pkg/cmd/server/config/config.go and the controllers).
const (
	defaultConcurrentBackups          = 1
	defaultItemOperationSyncFrequency = 10 * time.Second
	defaultResourceTimeout            = 10 * time.Minute
	defaultGarbageCollectionFrequency = time.Hour
	defaultBackupSyncPeriod           = time.Minute
	defaultStorageLocation            = "default"
)

// What the server does to objects that do not say otherwise (pkg/cmd/server/config/config.go).
const (
	DefaultItemOperationTimeout = 4 * time.Hour
	DefaultTTL                  = 30 * 24 * time.Hour
)

// defaults fills them in.
type defaults struct {
	*Scenario
	has func(path string) bool // whether the file sets the field: a duration of 0s is a value
}

// setDefaults fills in every default.
func setDefaults(s *Scenario, has func(path string) bool) {
	d := defaults{s, has}
	d.server()
	d.lists()
	for i := range s.Backups {
		d.backup(&s.Backups[i], i)
	}
	for i := range s.Schedules {
		x, path := &s.Schedules[i], fmt.Sprintf("schedules[%d]", i)
		d.count(path+".backups", &x.Backups)
		d.spec(path+".template", &x.Template)
	}
	for i := range s.Restores {
		d.restore(&s.Restores[i], i)
	}
	if !has("items") && !slices.ContainsFunc(s.Manifests, Manifest.backedUp) {
		s.Items = []Item{"configmaps/app/settings"}
	}
	for _, m := range s.Manifests {
		if item, ok := m.Item(); ok {
			s.Items = append(s.Items, item)
		}
	}
	for i := range s.Plugins {
		d.plugin(&s.Plugins[i], fmt.Sprintf("plugins[%d]", i))
	}
	setDefault(&s.Expect.Object, s.Object())
	for i := range s.Backups {
		d.at(s.Backups[i].At, listed(has, "backup", i)+".at")
	}
	for i := range s.Restores {
		d.at(s.Restores[i].At, listed(has, "restore", i)+".at")
	}
	for i := range s.Faults {
		d.fault(i)
	}
	d.must("expect", &s.Expect.Outcomes)
	if s.Expect.Deviation != nil {
		d.must("expect.deviation", &s.Expect.Deviation.Outcomes)
	}
}

func (d defaults) server() {
	d.count("server.concurrentBackups", &d.Server.ConcurrentBackups)
	d.duration("server.itemOperationSyncFrequency", &d.Server.ItemOperationSyncFrequency, defaultItemOperationSyncFrequency)
	d.duration("server.resourceTimeout", &d.Server.ResourceTimeout, defaultResourceTimeout)
	d.duration("server.garbageCollectionFrequency", &d.Server.GarbageCollectionFrequency, defaultGarbageCollectionFrequency)
	d.duration("server.backupSyncPeriod", &d.Server.BackupSyncPeriod, defaultBackupSyncPeriod)
}

// lists makes lists of what was written in short.
func (d defaults) lists() {
	switch {
	case d.Backup != nil:
		d.Backups = []Backup{*d.Backup}
	case !d.has("backups") && len(d.Schedules) == 0:
		d.Backups = []Backup{{}}
	}
	if d.Restore != nil {
		d.Restores = []Restore{*d.Restore}
	}
	d.Backup, d.Restore = nil, nil
}

// listed is where the file has an entry of a list that may be written in short: backup or backups[0].
func listed(has func(string) bool, short string, i int) string {
	if has(short) {
		return short
	}
	return fmt.Sprintf("%ss[%d]", short, i)
}

func (d defaults) backup(b *Backup, i int) {
	setDefault(&b.Name, fmt.Sprintf("backup-%d", i+1))
	d.spec(listed(d.has, "backup", i), &b.BackupSpec)
}

func (d defaults) spec(path string, b *BackupSpec) {
	d.duration(path+".itemOperationTimeout", &b.ItemOperationTimeout, DefaultItemOperationTimeout)
	d.duration(path+".ttl", &b.TTL, DefaultTTL)
}

func (d defaults) restore(x *Restore, i int) {
	setDefault(&x.Name, fmt.Sprintf("restore-%d", i+1))
	switch {
	case x.Schedule != "":
		for _, s := range d.Schedules {
			if s.Name == x.Schedule && !d.has(listed(d.has, "restore", i)+".backup") {
				x.Backup = fmt.Sprintf("%s-%d", s.Name, s.Backups)
			}
		}
	case len(d.Backups) == 1 && len(d.Schedules) == 0:
		setDefault(&x.Backup, d.Backups[0].Name)
	}
	d.duration(listed(d.has, "restore", i)+".itemOperationTimeout", &x.ItemOperationTimeout, DefaultItemOperationTimeout)
}

func (d defaults) plugin(p *Plugin, path string) {
	setDefault(&p.Action, BackupItemAction)
	switch {
	case p.Own:
		d.own(p)
		return
	case p.Action.Once():
		d.duration(path+".deadline", &p.Deadline, phase.CallDeadline)
	default:
		d.itemAction(p, path)
	}
	for name, b := range p.methods() {
		if (b.Error != "" || b.Hang || b.Panic != "") && !d.has(path+"."+name+".nth") {
			b.Nth = 1
		}
	}
	if p.Start.Fails() {
		d.count(path+".start.nth", &p.Start.Nth)
	}
	if p.Operation == nil {
		return
	}
	setDefault(&p.Operation.AfterCancel, Fails)
	steps := p.Operation.Progress
	for i := 1; i < len(steps); i++ {
		setDefault(&steps[i].Of, steps[i-1].Of)
		setDefault(&steps[i].Units, steps[i-1].Units)
		setDefault(&steps[i].Description, steps[i-1].Description)
	}
}

// own fills in what may be expected of a plugin without a script: it may be called for any item, and start operations.
func (d defaults) own(p *Plugin) {
	p.Version, p.Resources = 2, resourcesIn(d.Items, nil)
	if p.Action == DeleteItemAction {
		p.Version = 1
		return
	}
	p.Operation = &Operation{AfterCancel: Fails}
}

// itemAction fills in what other actions do not have.
func (d defaults) itemAction(p *Plugin, path string) {
	if !d.has(path + ".version") {
		p.Version = 2
		if p.Action == DeleteItemAction {
			p.Version = 1
		}
	}
	if !d.has(path + ".resources") {
		p.Resources = []string{"configmaps"}
	}
}

// methods are the behaviours of a plugin's methods, by the fields that say them.
func (p *Plugin) methods() map[string]*Behaviour {
	return map[string]*Behaviour{
		"appliesTo": &p.AppliesTo, "execute": &p.Execute.Behaviour, "progress": &p.Progress, "cancel": &p.Cancel,
		"areAdditionalItemsReady": &p.AreAdditionalItemsReady.Behaviour,
	}
}

func (d defaults) fault(i int) {
	f, path := &d.Faults[i], fmt.Sprintf("faults[%d]", i)
	setDefault(&f.ID, fmt.Sprintf("fault-%d", i+1))
	d.at(&f.At, path+".at")
	if f.Do.repeats() && !d.has(path+".for") {
		d.count(path+".times", &f.Times)
	}
	if f.Do.Kill != nil {
		d.duration(path+".do.kill.restartAfter", &f.Do.Kill.RestartAfter, 10*time.Second)
	}
	if f.Do.Rollout != nil {
		d.duration(path+".do.rollout.overlap", &f.Do.Rollout.Overlap, 30*time.Second)
	}
}

func (d defaults) must(path string, o *Outcomes) {
	for i := range o.Must {
		d.at(&o.Must[i], fmt.Sprintf("%s.must[%d]", path, i))
	}
}

func (d defaults) at(p *Point, path string) {
	if p == nil {
		return
	}
	if p.Phase != "" {
		setDefault(&p.Object, d.Expect.Object)
	}
	if w := p.Write; w != nil && (w.From != "" || w.Phase != "") {
		setDefault(&w.Object, d.Expect.Object)
		setDefault(&w.Verb, "patch")
	}
	d.count(path+".nth", &p.Nth)
}

// count defaults to 1.
func (d defaults) count(path string, n *int) {
	if !d.has(path) {
		*n = 1
	}
}

func (d defaults) duration(path string, v *Duration, value time.Duration) {
	if !d.has(path) {
		v.Duration = value
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
