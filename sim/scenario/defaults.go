package scenario

import (
	"fmt"
	"time"
)

const (
	defaultBackupName  = "backup-1"
	defaultRestoreName = "restore-1"
)

// setDefaults fills in every default. has tells whether the file sets the field at a path: a duration of 0s is a value.
func setDefaults(s *Scenario, has func(path string) bool) {
	const serverTimeout = 4 * time.Hour // Velero's --default-item-operation-timeout
	if s.Backup == nil {
		s.Backup = &Backup{}
	}
	setDefault(&s.Backup.Name, defaultBackupName)
	if !has("backup.itemOperationTimeout") {
		s.Backup.ItemOperationTimeout.Duration = serverTimeout
	}
	if s.Restore != nil {
		setDefault(&s.Restore.Name, defaultRestoreName)
		if !has("restore.itemOperationTimeout") {
			s.Restore.ItemOperationTimeout.Duration = serverTimeout
		}
	}
	if !has("items") {
		s.Items = []Item{"configmaps/app/settings"}
	}
	for i := range s.Plugins {
		setPluginDefaults(&s.Plugins[i], fmt.Sprintf("plugins[%d]", i), has)
	}
	for i := range s.Faults {
		setFaultDefaults(s, i, has)
	}
}

func setPluginDefaults(p *Plugin, path string, has func(string) bool) {
	setDefault(&p.Action, BackupItemAction)
	if !has(path + ".resources") {
		p.Resources = []string{"configmaps"}
	}
	for name, b := range map[string]*Behaviour{"execute": &p.Execute.Behaviour, "progress": &p.Progress, "cancel": &p.Cancel} {
		if (b.Error != "" || b.Hang || b.Panic != "") && !has(path+"."+name+".nth") {
			b.Nth = 1
		}
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

func setFaultDefaults(s *Scenario, i int, has func(string) bool) {
	f, path := &s.Faults[i], fmt.Sprintf("faults[%d]", i)
	setDefault(&f.ID, fmt.Sprintf("fault-%d", i+1))
	if f.At.Phase != "" {
		setDefault(&f.At.Object, s.Object())
	}
	if !has(path + ".at.nth") {
		f.At.Nth = 1
	}
	if f.Do.Kill != nil && !has(path+".do.kill.restartAfter") {
		f.Do.Kill.RestartAfter.Duration = 10 * time.Second
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
