package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// accounting checks objects at rest: the counts of the status against the invariants of sim/phase, the stored operations
// against the plugins' calls, and, of those that a finalizer has ended, that the time of the end is known, that every operation
// that was started counts, and that the resource and its stored copy agree. Failed and FailedValidation demand no more, and
// neither does a backup that went to PartiallyFailed without a finalizer.
func (r *run) accounting(rd reading) []Finding {
	var found []Finding
	for _, o := range r.objects {
		if o.api == nil {
			found = append(found, r.undeleted(o)...)
			continue
		}
		miss := func(expected, seen string) {
			found = append(found, r.atEnd("accounting", o.name, expected, seen))
		}
		api := status(o.api)
		counted, bare, ok := r.atRest(o)
		for _, inv := range phase.Invariants() {
			if ok && rd.holds(inv.Name) && !inv.Holds(counted) && inv.Holds(bare) {
				miss(inv.Name+": "+inv.Statement, api)
			}
		}
		if !o.finalized() {
			found = append(found, r.storedOperations(o, rd)...)
			continue
		}
		if !o.api.Ended {
			miss("a completionTimestamp, as it was finalized", "none")
		}
		switch {
		case o.kind == phase.Restore: // has no stored copy
		case o.store == nil:
			miss("a stored copy (velero-backup.json)", "none")
		case status(o.store) != api && rd.holds("stored-copy-agrees"):
			miss("stored-copy-agrees: the stored copy agrees with the resource: "+api, status(o.store))
			if o.leftBehind() && r.refused(o, "velero-backup.json") != "" {
				found[len(found)-1].Rules = []string{finalUpload}
			}
		}
		if err := r.refused(o, o.id()+".tar.gz"); err != "" && rd.holds("stored-copy-agrees") {
			miss("stored-copy-agrees: the object store has the contents as the finalizer made them", "it refused them: "+err)
			found[len(found)-1].Rules = []string{finalUpload}
		}
		if stored, ok := storedCounts(o); ok && rd.holds("operations-stay-known") && stored != countsOf(o.api) {
			miss("operations-stay-known: stored item operations that agree with the status: "+counts(countsOf(o.api)), counts(stored))
		}
		if ops, ok := o.begun(); ok && len(ops) != o.api.Attempted {
			miss(fmt.Sprintf("%d operations attempted, as Execute started", len(ops)), fmt.Sprint(o.api.Attempted))
		}
		found = append(found, r.storedOperations(o, rd)...)
	}
	return found
}

// atRest is the object as the API has it at rest, and the same without its counts: an invariant that breaks without them
// is none of accounting's business.
func (r *run) atRest(o *object) (counted, bare phase.View, ok bool) {
	p, err := phase.Parse(o.api.Phase)
	bare = phase.View{Kind: o.kind, From: p, Phase: p, Finalized: o.finalizing(len(r.events))}
	bare.Abandoned = r.abandoned(o, len(r.events))
	counted = bare
	counted.Attempted, counted.Completed, counted.Failed = o.api.Attempted, o.api.Completed, o.api.Failed
	counted.Errors = o.api.Errors
	return counted, bare, err == nil
}

// finalUpload is the rule by which a release does not care that the object store refuses what the finalizer uploads.
const finalUpload = "final-upload-failure-ignored"

// leftBehind reports whether the stored copy is what was uploaded when the finalizer began.
func (o *object) leftBehind() bool {
	return strings.HasPrefix(o.store.Phase, finalizes) && !o.store.Ended && countsOf(o.store) == countsOf(o.api)
}

// refused is the error of the last time that a file of a backup was to be put into the object store, if its finalizer did so.
func (r *run) refused(o *object, file string) string {
	for i, e := range slices.Backward(r.events) {
		if o.kind == phase.Backup && o.stores(e, file) && e.Store.Verb == "put" && o.finalizing(i) {
			return e.Store.Error
		}
	}
	return ""
}

// storedCounts counts the item operations in the object store.
func storedCounts(o *object) (n scenario.Operations, ok bool) {
	if o.store == nil {
		return n, false
	}
	for _, op := range o.store.Operations {
		n.Attempted++
		switch op.Phase {
		case "Completed":
			n.Completed++
		case "Failed":
			n.Failed++
		}
	}
	return n, true
}

func countsOf(r *trace.Rest) scenario.Operations {
	return scenario.Operations{Attempted: r.Attempted, Completed: r.Completed, Failed: r.Failed}
}

// status is what both copies must agree in.
func status(r *trace.Rest) string {
	ended := "no completionTimestamp"
	if r.Ended {
		ended = "a completionTimestamp"
	}
	return fmt.Sprintf("phase %s, %d errors, %d warnings, %s, %s", named(r.Phase), r.Errors, r.Warnings, counts(countsOf(r)), ended)
}
