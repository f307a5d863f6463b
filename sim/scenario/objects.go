package scenario

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Object is the object that the scenario's expectations speak of first: backup/NAME or restore/NAME.
func (s *Scenario) Object() string {
	switch {
	case s.Expect.Object != "":
		return s.Expect.Object
	case len(s.Restores) > 0:
		return "restore/" + s.Restores[len(s.Restores)-1].Name
	case len(s.Backups) > 0:
		return "backup/" + s.Backups[len(s.Backups)-1].Name
	case len(s.Schedules) > 0:
		last := s.Schedules[len(s.Schedules)-1]
		return fmt.Sprintf("backup/%s-%d", last.Name, last.Backups)
	}
	return ""
}

// Objects are all objects of the scenario, as points and expectations name them, in the order of the file.
func (s *Scenario) Objects() []string {
	var objects []string
	for _, b := range s.Backups {
		objects = append(objects, "backup/"+b.Name)
	}
	for _, x := range s.Schedules {
		for i := range x.Backups {
			objects = append(objects, fmt.Sprintf("backup/%s-%d", x.Name, i+1))
		}
	}
	for _, x := range s.Restores {
		objects = append(objects, "restore/"+x.Name)
	}
	return objects
}

// BackupNamed is what the scenario says of the backup with the name that points and expectations use; nil: nothing.
func (s *Scenario) BackupNamed(name string) *BackupSpec {
	for i := range s.Backups {
		if s.Backups[i].Name == name {
			return &s.Backups[i].BackupSpec
		}
	}
	for i := range s.Schedules {
		if x := &s.Schedules[i]; x.makes(name) {
			return &x.Template
		}
	}
	return nil
}

// RestoreNamed is the scenario's restore of that name; nil: it has none.
func (s *Scenario) RestoreNamed(name string) *Restore {
	for i := range s.Restores {
		if s.Restores[i].Name == name {
			return &s.Restores[i]
		}
	}
	return nil
}

// makes tells whether a backup of this name is one of the schedule's.
func (x Schedule) makes(name string) bool {
	for i := range x.Backups {
		if name == fmt.Sprintf("%s-%d", x.Name, i+1) {
			return true
		}
	}
	return false
}

// ScheduleOf is the schedule that has made a backup of Velero's name; nil: none has.
//
// Source: pkg/controller/schedule_controller.go, via TimestampedName of pkg/apis/velero/v1/schedule_types.go.
func (s *Scenario) ScheduleOf(backup string) *Schedule {
	for i := range s.Schedules {
		stamp, ok := strings.CutPrefix(backup, s.Schedules[i].Name+"-")
		if ok && len(stamp) == len("20060102150405") && strings.Trim(stamp, "0123456789") == "" {
			return &s.Schedules[i]
		}
	}
	return nil
}

// Expires tells whether the user has a backup kept for a shorter time than Velero does without being told, and the longest such time.
func (s *Scenario) Expires() (ttl time.Duration, expires bool) {
	specs := make([]BackupSpec, 0, len(s.Backups)+len(s.Schedules))
	for _, b := range s.Backups {
		specs = append(specs, b.BackupSpec)
	}
	for _, x := range s.Schedules {
		specs = append(specs, x.Template)
	}
	for _, b := range specs {
		if b.TTL.Duration < DefaultTTL {
			ttl, expires = max(ttl, b.TTL.Duration), true
		}
	}
	return ttl, expires
}

// Order is how the user creates what has no point of creation: each object when the one before has ended.
func (s *Scenario) Order() []string {
	var objects []string
	for _, b := range s.Backups {
		if b.At == nil {
			objects = append(objects, "backup/"+b.Name)
		}
	}
	for _, x := range s.Restores {
		if x.At == nil {
			objects = append(objects, "restore/"+x.Name)
		}
	}
	return objects
}

// Must reports whether the fault must strike, as nothing else shows what the scenario is about.
func (s *Scenario) Must(f Fault) bool {
	return s.Expect.Strikes == nil || slices.Contains(*s.Expect.Strikes, f.ID)
}

// Points are those at which something happens in a run, by what does.
func (s *Scenario) Points() map[string]Point {
	points := map[string]Point{}
	for _, f := range s.Faults {
		points["fault "+f.ID] = f.At
	}
	for _, b := range s.Backups {
		if b.At != nil {
			points["the creation of backup/"+b.Name] = *b.At
		}
	}
	for _, x := range s.Restores {
		if x.At != nil {
			points["the creation of restore/"+x.Name] = *x.At
		}
	}
	return points
}

// Naming translates the names of objects as a cluster has them, kind/name, into the scenario's, and back: a schedule's backups have
// others. It is safe for concurrent use.
type Naming struct {
	scenario *Scenario
	mu       sync.Mutex
	made     map[string][]string // by schedule, in the order of their creation
}

// NewNaming has seen no object yet.
func NewNaming(s *Scenario) *Naming { return &Naming{scenario: s, made: map[string][]string{}} }

// Of is the scenario's name of the object. It must see a schedule's backups in the order of their creation.
func (n *Naming) Of(object string) string { return n.name(object, true) }

// Next is the scenario's name of an object that may yet have to be created.
func (n *Naming) Next(object string) string { return n.name(object, false) }

// name is the scenario's name of the object; seen: it has been created.
func (n *Naming) name(object string, seen bool) string {
	name, ok := strings.CutPrefix(object, "backup/")
	if !ok {
		return object
	}
	schedule := n.scenario.ScheduleOf(name)
	if schedule == nil {
		return object
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	made := n.made[schedule.Name]
	i := slices.Index(made, name)
	if i < 0 {
		i = len(made)
		if seen {
			n.made[schedule.Name] = append(made, name)
		}
	}
	return fmt.Sprintf("backup/%s-%d", schedule.Name, i+1)
}

// In is the cluster's name of an object of the scenario. One that Of has not seen yet keeps the scenario's.
func (n *Naming) In(object string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for schedule, made := range n.made {
		for i, name := range made {
			if object == fmt.Sprintf("backup/%s-%d", schedule, i+1) {
				return "backup/" + name
			}
		}
	}
	return object
}
