package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// conformance checks every phase change against the legal ones of the reading, and the object as it then was against the
// invariants of sim/phase. Accounting checks them again at rest, when the trace shows the counts of the status.
func (r *run) conformance(rd reading, contract []Finding) []Finding {
	var found []Finding
	for _, o := range r.objects {
		miss := func(event int, expected, seen string) {
			found = append(found, r.finding("conformance", o.name, event, expected, seen))
		}
		already := len(found)
		legal := r.legal(rd.rules, o)
		has := "" // the phase that the object has
		for _, c := range o.changes {
			if c.To == scenario.Deleted {
				if !r.mayGo(o) {
					miss(c.event, "the object is deleted as somebody asks for it", "it was gone in phase "+named(has))
				}
				has = ""
				continue
			}
			if c.From != has && !(has == "" && c.From == phase.New.String()) {
				miss(c.event, "a change from "+named(has)+", the phase it has", fmt.Sprintf("a change from %q", c.From))
			}
			has = c.To
			to, err := phase.Parse(c.To)
			if err != nil {
				miss(c.event, "a phase of sim/phase", err.Error())
				continue
			}
			from, err := phase.Parse(c.From)
			if err != nil {
				continue // found when it was written
			}
			if from != to && !c.synced && len(legal[phase.Edge{From: from, To: to}]) == 0 {
				miss(c.event, fmt.Sprintf("a change of phase that %s allows a %s", rd.rules.Name, o.kind), phase.Edge{From: from, To: to}.String())
				found[len(found)-1].Rules = r.allowing(rd.rules, o, phase.Edge{From: from, To: to})
			}
			view := o.view(c, from, to)
			view.Abandoned = r.abandoned(o, c.event)
			unknown := view
			unknown.Errors = 0
			for _, inv := range phase.Invariants() {
				// How many errors there are, no event shows: an invariant of the errors alone is accounting's.
				if rd.holds(inv.Name) && !inv.Holds(view) && !inv.Holds(unknown) {
					miss(c.event, inv.Name+": "+inv.Statement, fmt.Sprintf("%s; by the plugins' replies, %d operations attempted, %d completed, %d failed",
						phase.Edge{From: from, To: to}, view.Attempted, view.Completed, view.Failed))
				}
			}
		}
		if len(found) == already {
			found = append(found, r.misfit(o, rd.rules, contract)...)
		}
		if !rd.rules.UnfinishedBackupRestored {
			found = append(found, r.unfinished(o)...)
		}
		switch {
		case o.api == nil:
		case o.gone():
			miss(len(r.events), "no such object at rest, as it was deleted", "phase "+named(o.api.Phase))
		case o.api.Phase != has && !(has == "" && o.api.Phase == phase.New.String()):
			miss(len(r.events), "phase "+named(has)+" at rest, the last one written", "phase "+named(o.api.Phase))
		}
	}
	return found
}

// allowing is the rule by which a release makes a change of phase that the reading does not allow; none: nil. What a stale read explains,
// stale finds.
func (r *run) allowing(rules phase.Rules, o *object, e phase.Edge) []string {
	for _, rule := range append([]phase.Rule{phase.Named(overtaken)}, phase.All()...) { // others need faults of the API server for Deleting
		if rule.Name != phase.StaleReadActedUpon && len(r.legal(rules.With(rule), o)[e]) > 0 {
			return []string{rule.Name}
		}
	}
	return nil
}

// abandoned reports whether the operations of a restore were given up by that event: its backup, or the location, was gone when it was to
// be finalized.
//
// Source: pkg/controller/restore_operations_controller.go, Reconcile.
func (r *run) abandoned(o *object, event int) bool {
	if o.kind != phase.Restore || o.created == nil {
		return false
	}
	backup, since := r.find("backup/"+o.created.Backup), 0 // since when it has had its phase
	return backup != nil && slices.ContainsFunc(o.changes, func(c change) bool {
		gone := backup.phaseAt(c.event) == scenario.Deleted || backup.goneBetween(since, c.event)
		since = c.event
		return c.event <= event && strings.HasPrefix(c.To, finalizes) && (gone || r.homeless(o, c.event))
	})
}

// goneBetween reports whether the object was deleted between the two events, even if sync has brought it back.
func (o *object) goneBetween(from, to int) bool {
	return slices.ContainsFunc(o.changes, func(c change) bool { return c.To == scenario.Deleted && from < c.event && c.event < to })
}

// unfinished finds a restore that has begun though its backup, until then, has been neither Completed nor PartiallyFailed.
func (r *run) unfinished(o *object) []Finding {
	if o.kind != phase.Restore || o.created == nil {
		return nil
	}
	backup := r.find("backup/" + o.created.Backup)
	for _, c := range o.changes {
		if c.To != phase.InProgress.String() || backup == nil || backup.restorable(c.event) {
			continue
		}
		f := r.finding("conformance", o.name, c.event, "FailedValidation, as its backup is neither Completed nor PartiallyFailed",
			fmt.Sprintf("%s, with %s in phase %s", c.To, backup.name, named(backup.phaseAt(c.event))))
		f.Rules = []string{restoresUnfinished}
		return []Finding{f}
	}
	return nil
}

// restoresUnfinished is the rule by which a release does so.
const restoresUnfinished = "unfinished-backup-restored"

// restorable reports whether the backup has been Completed or PartiallyFailed by that event: what Velero reads may lag behind.
func (o *object) restorable(event int) bool {
	return slices.ContainsFunc(o.changes, func(c change) bool {
		return c.event < event && (c.To == phase.Completed.String() || c.To == phase.PartiallyFailed.String())
	})
}

// misfit follows the object through the machine, and finds the first event that does not fit: a change of phase that its state
// does not allow, though its phase would; or a call, while the object lives, with which the contract finds nothing wrong. The rules
// are those by which the release allows it.
func (r *run) misfit(o *object, rules phase.Rules, contract []Finding) []Finding {
	m, err := r.check(rules, o.name)
	judged := slices.ContainsFunc(contract, func(f Finding) bool { return f.Object == o.name })
	if err != nil || r.fits(o, m) || r.events[m.Event].Phase == nil && judged {
		return nil // too many states fit; or they do
	}
	expected := "what " + rules.Name + " allows"
	if len(m.Allowed) > 0 {
		expected = fmt.Sprintf("%s: to %s", expected, strings.Join(m.Allowed, " or "))
	}
	f := r.finding("conformance", o.name, m.Event, expected, m.Seen)
	for _, rule := range phase.All() {
		if m, err := r.check(rules.With(rule), o.name); err == nil && r.fits(o, m) && f.Rules == nil {
			f.Rules = []string{rule.Name}
		}
	}
	if release, err := phase.ForRelease(r.trace.Header.Velero); err == nil && f.Rules == nil {
		f.Rules = r.needed(o.name, release)
	}
	return []Finding{f}
}

// fits reports whether the object fits, but for calls of item actions when it has ended, with which the contract deals.
func (r *run) fits(o *object, m *model.Misfit) bool {
	return m == nil || r.events[m.Event].Phase == nil && final(o.phaseAt(m.Event)) && !r.ofAction(o, m.Event)
}

// view is what the trace shows of the object at a change of phase. What Velero knows of operations is what their plugins
// have replied by then. Every failed operation is an error; how many more there are, no event shows.
func (o *object) view(c change, from, to phase.Phase) phase.View {
	v := phase.View{Kind: o.kind, From: from, Phase: to, Finalized: o.finalizing(c.event)}
	for _, op := range o.operations {
		if op.event > c.event {
			continue
		}
		v.Attempted++
		switch op.outcome(c.event) {
		case completed:
			v.Completed++
		case failed, cancelled:
			v.Failed++
		}
	}
	v.Errors = v.Failed
	return v
}
