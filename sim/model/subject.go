package model

import (
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// subject is the object of a scenario whose run is predicted, beside the others.
type subject struct {
	*scenario.Scenario
	object string // backup/NAME or restore/NAME
	kind   phase.Kind
	// backup that it is, or that it restores; spec is what the scenario says of that, nil if there is none.
	backup string
	spec   *scenario.BackupSpec
	// timeout of its operations.
	timeout time.Duration
	// at is the point at which it is created; nil: it has none.
	at *scenario.Point
	// found: which backup a restore is of, Velero finds. overlaid: its spec, or that of its backup, says more than the model knows of.
	found, overlaid bool
}

// subjectOf is the object as the scenario has it; one that it does not have, as a verdict leaves out what was never created, has no more than
// its name.
func subjectOf(s *scenario.Scenario, object string) subject {
	it := subject{Scenario: s, object: object, kind: kindOf(object), backup: object}
	if it.kind == phase.Restore {
		x := s.RestoreNamed(strings.TrimPrefix(object, "restore/"))
		if x == nil {
			return it
		}
		it.backup, it.timeout, it.at = "backup/"+x.Backup, x.ItemOperationTimeout.Duration, x.At
		it.found, it.overlaid = x.Schedule != "", len(x.Spec) > 0
	}
	it.spec = s.BackupNamed(strings.TrimPrefix(it.backup, "backup/"))
	it.overlaid = it.overlaid || it.spec != nil && len(it.spec.Spec) > 0
	if it.kind == phase.Restore || it.spec == nil {
		return it
	}
	it.timeout = it.spec.ItemOperationTimeout.Duration
	for _, b := range s.Backups {
		if "backup/"+b.Name == object {
			it.at = b.At
		}
	}
	return it
}

func kindOf(object string) phase.Kind {
	if strings.HasPrefix(object, "restore/") {
		return phase.Restore
	}
	return phase.Backup
}

// precedes reports whether a has ended when b is created.
func (s subject) precedes(a, b string) bool {
	order := s.Order()
	if i, j := slices.Index(order, a), slices.Index(order, b); i >= 0 && i < j {
		return true
	}
	for range s.Objects() { // b is created in the run of another, and that perhaps too
		at := subjectOf(s.Scenario, b).at
		switch {
		case at == nil || at.Phase == "":
			return false
		case at.Object == a && phaseNamed(at.Phase).Final():
			return true
		}
		b = at.Object
		if i, j := slices.Index(order, a), slices.Index(order, b); i >= 0 && i < j {
			return true
		}
	}
	return false
}

// beside reports whether the other may run while the subject does.
func (s subject) beside(other string) bool {
	return other != s.object && !s.precedes(other, s.object) && !s.precedes(s.object, other)
}

// others are the objects of the subject's kind that may run while it does.
func (s subject) others() []string {
	return slices.DeleteFunc(s.Objects(), func(o string) bool { return kindOf(o) != s.kind || !s.beside(o) })
}

// first reports whether none of the object's kind can have run before it has.
func (s subject) first(object string) bool {
	return !slices.ContainsFunc(s.Objects(), func(o string) bool {
		return o != object && kindOf(o) == kindOf(object) && !s.precedes(object, o)
	})
}

// deletable reports whether Velero may be asked to delete the object: by the user, or as it has expired.
func (s subject) deletable(object string) bool {
	ttl, expires := s.Expires()
	spec := s.BackupNamed(strings.TrimPrefix(object, "backup/"))
	return expires && kindOf(object) == phase.Backup && spec != nil && spec.TTL.Duration <= ttl ||
		slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Delete == object })
}

// removable reports whether the user may remove the object from the cluster.
func (s subject) removable(object string) bool {
	return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Remove == object })
}

func (s subject) vanishes(object string) bool { return s.deletable(object) || s.removable(object) }

// described reports whether the user may ask for what is stored of the subject, for which Velero stores it.
func (s subject) described() bool {
	return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Describe == s.object })
}

// unsure reports whether a restore may have deleted the items before the backup has them all.
func (s subject) unsure(backup string) bool {
	return slices.ContainsFunc(s.Restores, func(x scenario.Restore) bool {
		later := x.At != nil && x.At.Object == backup && phaseNamed(x.At.Phase) > phase.InProgress
		return !later && !s.precedes(backup, "restore/"+x.Name)
	})
}

// shares reports whether two backups have a namespace in common.
func shares(a, b *scenario.BackupSpec) bool {
	all := len(a.IncludedNamespaces) == 0 || len(b.IncludedNamespaces) == 0
	return all || slices.ContainsFunc(a.IncludedNamespaces, func(n string) bool { return slices.Contains(b.IncludedNamespaces, n) })
}

// knownLocation is the only storage location of a scenario.
const knownLocation = "default"

// beginning is how an object's run may begin.
type beginning struct {
	// validated and rejected: how its validation may end. unfinished: it may find that a restore's backup has not ended.
	validated, rejected, unfinished bool
	// runs: the run may go on. fails: it may fail, as the contents of a restore's backup are not stored.
	runs, fails bool
}

// beginning of the subject; source is what is predicted for the backup that it restores.
//
// Source: validateAndComplete and runValidatedRestore in pkg/controller/restore_controller.go, which look for the backup, its location
// and its contents, and not at its phase.
func (s subject) beginning(rules phase.Rules, source Prediction) beginning {
	switch {
	case s.spec == nil, s.spec.StorageLocation != knownLocation && s.spec.StorageLocation != "":
		return beginning{rejected: true}
	case s.kind == phase.Backup:
		return beginning{validated: true, runs: true, rejected: s.doubtful()}
	case s.at == nil:
		gone := s.vanishes(s.backup)
		return beginning{validated: true, runs: true, rejected: gone || s.doubtful(), fails: gone, unfinished: gone}
	}
	// The phases that the backup may have when the restore is created, and from then on.
	own := s.at.Phase != "" && s.at.Object == s.backup
	ended := s.at.Phase != "" && s.precedes(s.backup, s.at.Object)
	gone := s.vanishes(s.backup) || !own && !ended
	unknown := source.Unknown != ""
	b := beginning{rejected: gone || s.doubtful(), fails: gone || unknown, validated: unknown, unfinished: unknown, runs: unknown}
	waits := own && slices.Contains(waiting(), phaseNamed(s.at.Phase)) && longer(s.at.Delay.Duration, time.Minute, 1) < s.waits(rules)
	for _, path := range source.Paths {
		path = append(Path{phase.New}, path...)
		switch at := slices.Index(path, phaseNamed(s.at.Phase)); {
		case own && at < 0:
			continue
		case waits:
			path = slices.DeleteFunc(path[at:], func(p phase.Phase) bool { return !slices.Contains(waiting(), p) })
		case own:
			path = path[at:]
		case ended:
			path = path[len(path)-1:]
		}
		b.validated = b.validated || slices.ContainsFunc(path, restorable)
		b.unfinished = b.unfinished || slices.ContainsFunc(path, func(p phase.Phase) bool { return !restorable(p) })
		// The contents of a backup that is Deleting go last, after its DeleteItemActions.
		b.runs = b.runs || slices.ContainsFunc(path, hasContents) || slices.Contains(path, phase.Deleting) || path.End() == phase.Failed && s.kills()
		b.fails = b.fails || slices.ContainsFunc(path, func(p phase.Phase) bool { return !hasContents(p) })
	}
	return b
}

// doubtful reports whether nobody knows here how the subject's validation ends.
func (s subject) doubtful() bool {
	location := func(m scenario.Manifest) bool { return m["kind"] == "VolumeSnapshotLocation" }
	return s.homeless() || s.found || s.overlaid || slices.ContainsFunc(s.Manifests, location)
}

// hooked reports whether a restore may run hooks, whose errors its finalizer counts: Velero finds them in the spec, and at pods.
func (s subject) hooked() bool {
	pod := func(m scenario.Manifest) bool { return m["kind"] == "Pod" }
	return s.kind == phase.Restore && (s.overlaid || slices.ContainsFunc(s.Manifests, pod))
}

// waits is how long the backup that the subject restores waits for its operations, at least.
func (s subject) waits(rules phase.Rules) time.Duration {
	casts, err := castsOf(rules, subjectOf(s.Scenario, s.backup))
	if err != nil {
		return 0
	}
	shortest := longest
	for _, c := range casts {
		last := time.Duration(0)
		for _, r := range c.roles {
			if r.errors.from == 0 && r.forgotten.from == 0 {
				last = max(last, r.due)
			}
		}
		shortest = min(shortest, last)
	}
	return shortest
}

// restorable reports whether a backup of this phase is fit to be restored.
func restorable(p phase.Phase) bool { return p == phase.Completed || p == phase.PartiallyFailed }

// hasContents reports whether the contents of a backup are stored when it has this phase.
func hasContents(p phase.Phase) bool {
	return waitsOrFinalizes(p) || restorable(p)
}

// kills reports whether the server is killed.
func (s subject) kills() bool {
	return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Kill != nil })
}

// phaseNamed is New where there is no such phase.
func phaseNamed(name string) phase.Phase {
	p, _ := phase.Parse(name)
	return p
}
