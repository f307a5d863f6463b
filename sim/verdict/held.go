package verdict

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// worker is who takes an object on from a phase. Each controller has one, other than that of backups (SetupWithManager in
// pkg/controller), so that objects of a kind with the same one wait for each other.
type worker int

const (
	runs worker = iota
	polls
	finishes
	deletes
)

func workerOf(p string) worker {
	switch {
	case strings.HasPrefix(p, waits):
		return polls
	case strings.HasPrefix(p, finalizes):
		return finishes
	case p == phase.Deleting.String():
		return deletes
	}
	return runs
}

// holder is a call that keeps an object from going on: one that goes on, and should have been given up, for the object itself or for
// another whose worker it needs. Nil: there is none.
func (r *run) holder(o *object) *call {
	if o == nil || final(o.phase()) && o.phase() != phase.Deleting.String() {
		return nil
	}
	for _, c := range r.open {
		if r.hung(c) && (c.object == o || c.object == r.nobody) {
			return c
		}
	}
	need := workerOf(o.phase())
	held := map[*object]bool{}
	for _, c := range r.open {
		if !r.hung(c) || c.object == r.nobody || c.object.kind != o.kind || workerOf(c.object.phaseAt(c.event)) != need {
			continue
		}
		held[c.object] = true
		if need != runs || o.kind == phase.Restore || len(held) >= r.scenario.Server.ConcurrentBackups || r.conflict(o, c.object) {
			return c
		}
	}
	return nil
}

// hung reports whether the call goes on, and should have been given up.
func (r *run) hung(c *call) bool { return c.inFlight() && r.at-c.at > r.deadline() }

// overlooked is the rule by which a release leaves the object as it is, if the trace shows that, whatever has been predicted: a patch
// that was given up, a panic, a start that overlooks a backup, slots of the queue that others may keep, or a phase that its CRD lacks. The zero
// Rule: none.
func (r *run) overlooked(o *object) phase.Rule {
	if r.refusesPhase(o) {
		if o.phase() == phase.InProgress.String() {
			return phase.Named("run-patch-given-up")
		}
		return phase.Named(phase.RefusedPhaseRetriedForEver)
	}
	since := r.lastStart()
	switch o.phase() {
	case phase.InProgress.String():
		switch {
		case r.gaveUp(o, since):
			return phase.Named("run-patch-given-up")
		case slices.ContainsFunc(r.events[since:], func(e trace.Event) bool { return e.Object == o.name && unlisted(e) }):
			return phase.Named(phase.UnlistedNamespacesPanic)
		}
	case phase.ReadyToStart.String():
		if o.changes[len(o.changes)-1].event < since {
			return phase.Named("ready-backup-forgotten-by-restart")
		}
	case phase.Queued.String():
		return r.blocked(o, since)
	}
	return phase.Rule{}
}

// blocked is the rule by which a backup stays in the queue: slots are leaked, or one before it, that has a namespace of it or a slot that it
// needs, is overlooked.
func (r *run) blocked(o *object, since int) (by phase.Rule) {
	running, leaked, before := 0, 0, true
	var holds []*object
	for _, other := range r.objects {
		before = before && other != o
		stays := other.phase() == phase.ReadyToStart.String() || other.phase() == phase.InProgress.String()
		switch {
		case other.kind != phase.Backup || other == o:
		case stays:
			running++
			holds = append(holds, other)
		case before && other.phase() == phase.Queued.String() && r.conflict(o, other):
			holds = append(holds, other)
		case other.leaks(since):
			leaked++
		}
	}
	full := running+leaked >= r.scenario.Server.ConcurrentBackups
	if leaked > 0 && full {
		return phase.Named("queue-slot-leaked")
	}
	for _, other := range holds {
		if by.Name == "" && (full || r.conflict(o, other)) {
			by = r.overlooked(other)
		}
	}
	return by
}

// refusesPhase reports whether the last write to the object was refused, as its CRD does not have the phase.
func (r *run) refusesPhase(o *object) bool {
	if !r.scenario.CRDs.Lack() {
		return false
	}
	for _, e := range slices.Backward(r.events) {
		if e.Write != nil && e.Object == o.name {
			return strings.Contains(e.Write.Error, "status.phase: Unsupported value")
		}
	}
	return false
}

// gaveUp reports whether the last of the patches since that event that were to end the object's run did not land.
func (r *run) gaveUp(o *object, since int) bool {
	for i, e := range slices.Backward(r.events) {
		if i > since && e.Write != nil && e.Object == o.name && e.Write.Client == o.kind.String() && strings.Contains(e.Write.Change, `"phase":`) {
			return e.Write.Error != ""
		}
	}
	return false
}

// lastStart is the event of the server's last start.
func (r *run) lastStart() (event int) {
	for i, e := range r.events {
		if e.Process != nil && e.Process.Name == server && e.Process.State == started {
			event = i
		}
	}
	return event
}

// leaks reports whether the tracker may have been told that the backup is ready when it no longer was, since that event: it was rejected or
// deleted when it was ready, or has run in less time than the queue takes to look again.
func (o *object) leaks(since int) bool {
	ready := false
	at := trace.Time(0)
	for _, c := range o.changes {
		switch {
		case c.event < since:
		case c.To == phase.ReadyToStart.String():
			ready, at = true, c.at
		case !ready, c.To == phase.InProgress.String():
		case c.From == phase.ReadyToStart.String(), c.From == phase.InProgress.String() && c.at-at <= trace.Time(recheck):
			return true
		}
	}
	return false
}

// conflict reports whether two backups have a namespace in common: Velero runs but one of them at a time (detectNSConflictsInternal,
// pkg/controller/backup_queue_controller.go).
func (r *run) conflict(a, b *object) bool {
	included := r.namespaces(b)
	return slices.ContainsFunc(r.namespaces(a), func(namespace string) bool { return slices.Contains(included, namespace) })
}

func (r *run) namespaces(o *object) []string {
	_, name, _ := strings.Cut(o.name, "/")
	if spec := r.scenario.BackupNamed(name); spec != nil && len(spec.IncludedNamespaces) > 0 {
		return spec.IncludedNamespaces
	}
	var all []string
	for _, item := range r.scenario.Items {
		all = append(all, item.Namespace())
	}
	return all
}
