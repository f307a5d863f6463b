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

// overlooked is the rule by which a release leaves the object as it is, if the trace shows that, whatever has been predicted: a start
// that overlooks a backup, slots of the queue that others may keep, or a phase that its CRD lacks. The zero Rule: none.
func (r *run) overlooked(o *object) phase.Rule {
	if r.refusesPhase(o) {
		if o.phase() == phase.InProgress.String() {
			return phase.Named("run-patch-given-up")
		}
		return phase.Named(phase.RefusedPhaseRetriedForEver)
	}
	since := r.lastStart()
	switch o.phase() {
	case phase.ReadyToStart.String():
		if o.changes[len(o.changes)-1].event < since {
			return phase.Named("ready-backup-forgotten-by-restart")
		}
	case phase.Queued.String():
		running, leaked := 0, 0
		for _, other := range r.objects {
			switch {
			case other.kind != phase.Backup || other == o:
			case other.phase() == phase.ReadyToStart.String() || other.phase() == phase.InProgress.String():
				running++
			case other.leaks(since):
				leaked++
			}
		}
		if leaked > 0 && running+leaked >= r.scenario.Server.ConcurrentBackups {
			return phase.Named("queue-slot-leaked")
		}
	}
	return phase.Rule{}
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
