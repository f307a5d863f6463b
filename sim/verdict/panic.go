package verdict

import (
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// panics finds the panics of the server; those of plugins are recovered by Velero's plugin framework and are no finding.
func (r *run) panics(rules phase.Rules) []Finding {
	var found []Finding
	rule := phase.Named(phase.UnlistedNamespacesPanic)
	for i, e := range r.events {
		if e.Reconcile == nil || !e.Reconcile.Panic || unlisted(e) && rule.Deviates(rules) {
			continue
		}
		found = append(found, r.finding("panic", e.Object, i, "no panic in controller "+e.Reconcile.Controller, e.Reconcile.Error))
		if unlisted(e) {
			found[len(found)-1].Rules = []string{rule.Name}
		}
	}
	if r.trace.End.Reason == trace.Panicked {
		found = append(found, r.atEnd("panic", "", "no panic", r.trace.End.Detail))
	}
	return found
}

// unlisted reports whether a backup's run has panicked as it could not list the namespaces.
func unlisted(e trace.Event) bool {
	return e.Reconcile != nil && e.Reconcile.Panic && strings.HasSuffix(e.Reconcile.Error, ", in pkg/backup.(*itemCollector).collectNamespaces")
}
