package model

import (
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// vanish adds the paths of an object that is gone before its end, and of one that has come back, and may be deleted then.
func (p *predictor) vanish() {
	deletable := slices.ContainsFunc(p.faults, func(f consequence) bool { return slices.Contains(f.inputs, phase.DeletionRequested) })
	for _, f := range p.faults {
		if !f.ends {
			continue
		}
		then := []string{""}
		ends := stored()
		if p.cast.prepares != [phase.MaxActions]chances{} {
			ends = append(ends, phase.FailedPreBackupActions)
		}
		for _, end := range ends {
			if f.syncs {
				then = append(then, string([]byte{byte(end)}))
			}
			if f.syncs && deletable {
				then = append(then, string([]byte{byte(end), byte(phase.Deleting)}))
			}
		}
		for path := range maps.Clone(p.paths) {
			for i := range len(path) + 1 {
				for _, more := range then {
					if f.reached(path[:i]) {
						p.gone(path[:i] + more)
					}
				}
			}
		}
	}
}

// gone adds the path of an object that may be gone at its end. It holds no others then, but where the finalizer works on it: the last
// patch of a backup that is not found is tried again and again (Reconcile in pkg/controller/backup_finalizer_controller.go, to which
// its constructor leaves no timeout).
func (p *predictor) gone(path string) {
	p.paths[path] = true
	if end := Path(phases(path)).End(); p.holdsGone && slices.Contains(finalizing(), end) {
		p.stays[end] = true
	}
}

// back adds the paths of a backup that is gone while its run goes on, which stores it again: sync brings it back, as PartiallyFailed if it
// has not ended and has expired (pkg/controller/backup_sync_controller.go), and it may be deleted again.
func (p *predictor) back(n node) {
	came := n.path
	switch n.Object.Phase {
	case phase.Completed, phase.PartiallyFailed, phase.FailedPreBackupActions:
	case phase.Failed, phase.FailedValidation, phase.New, phase.Queued, phase.ReadyToStart: // none of these is stored
		return
	default:
		came += string([]byte{byte(phase.PartiallyFailed)})
	}
	p.gone(came)
	p.gone(came + string([]byte{byte(phase.Deleting)}))
}

// stored are the phases of backups that pkg/controller/backup_sync_controller.go creates.
func stored() []phase.Phase {
	return []phase.Phase{phase.Completed, phase.PartiallyFailed, phase.Failed}
}

// hold adds the paths of objects that wait for ever for others: for their turn in the queue, or for a controller that is held by a call.
// A controller has one worker, other than that of backups.
func hold(rules phase.Rules, s *scenario.Scenario, all predictions) {
	for grown := true; grown; {
		grown = false
		for i := range all {
			it := subjectOf(s, all[i].Object)
			for _, path := range slices.Clone(all[i].Paths) {
				for n := range path {
					held := Path(path[:n])
					if all[i].Allows(held) && all[i].staysIn(held.End()) || !it.held(rules, held.End(), all) {
						continue
					}
					all[i].Stays = append(all[i].Stays, held.End())
					if !all[i].Allows(held) {
						all[i].Paths = append(all[i].Paths, held)
					}
					grown = true
				}
			}
		}
	}
	for i := range all {
		all[i].sort()
	}
}

// held reports whether the subject may stay in the phase for ever, as another stays where it is.
func (s subject) held(rules phase.Rules, p phase.Phase, all predictions) bool {
	others := s.others()
	var by []phase.Phase // the phases in which another holds it
	switch {
	case s.kind == phase.Backup && p == phase.Queued:
		return s.heldInQueue(rules, all)
	case (s.kind == phase.Restore || rules.Unqueued) && p == phase.New:
		by = []phase.Phase{phase.InProgress}
	case slices.Contains(waiting(), p):
		by = waiting()
	case slices.Contains(finalizing(), p):
		by = finalizing()
		for _, o := range s.Objects() { // the finalizer may go on for one that is gone
			if kindOf(o) == s.kind && s.precedes(o, s.object) && s.vanishes(o) {
				others = append(others, o)
			}
		}
	}
	return slices.ContainsFunc(others, func(o string) bool { return all.of(o).staysIn(by...) })
}

// heldInQueue reports whether the subject may stay Queued: another of its namespaces stays before it or in its run, or as many as may
// run at a time.
func (s subject) heldInQueue(rules phase.Rules, all predictions) bool {
	running := 0
	for _, o := range s.others() {
		other := subjectOf(s.Scenario, o)
		if at := other.at; at != nil && at.Object == s.object && phaseNamed(at.Phase) > phase.Queued { // it has left the queue by then
			continue
		}
		stays := all.of(o).staysIn(phase.ReadyToStart, phase.InProgress)
		if shares(s.spec, other.spec) && (stays || all.of(o).staysIn(phase.Queued)) {
			return true
		}
		if stays || rules.QueueSlotLeaked && all.of(o).passes(phase.ReadyToStart) {
			running++
		}
	}
	if rules.QueueSlotLeaked { // also by those that have ended before
		for _, o := range s.Objects() {
			if kindOf(o) == phase.Backup && s.precedes(o, s.object) {
				running++
			}
		}
	}
	return running > 0 && running >= s.Server.ConcurrentBackups
}

// staysIn reports whether the object may be in one of the phases for ever.
func (p Prediction) staysIn(in ...phase.Phase) bool {
	return p.Unknown != "" && len(in) > 0 || slices.ContainsFunc(p.Stays, func(q phase.Phase) bool { return slices.Contains(in, q) })
}

// passes reports whether the object may come to one of the phases, whatever becomes of it then.
func (p Prediction) passes(in ...phase.Phase) bool {
	return p.Unknown != "" || slices.ContainsFunc(p.Paths, func(path Path) bool {
		return slices.ContainsFunc(path, func(p phase.Phase) bool { return slices.Contains(in, p) })
	})
}

// create takes the paths of objects away that are never created.
func create(s *scenario.Scenario, all predictions) {
	ended := true
	for _, object := range s.Order() {
		i := slices.IndexFunc(all, func(p Prediction) bool { return p.Object == object })
		it := subjectOf(s, object)
		if it.kind == phase.Restore && !all.of(it.backup).passes(phase.Completed, phase.PartiallyFailed) || !ended {
			all[i] = Prediction{Object: object}
			continue
		}
		ended = all[i].Unknown != "" || it.vanishes(object) || slices.ContainsFunc(all[i].Ends(), phase.Phase.Final)
	}
	for i, p := range all {
		it := subjectOf(s, p.Object)
		if it.at == nil || it.at.Phase == "" || it.at.Phase == phase.New.String() {
			continue
		}
		if !all.of(it.at.Object).passes(phaseNamed(it.at.Phase)) {
			all[i] = Prediction{Object: p.Object}
		}
	}
}
