package verdict

import "github.com/velosim/velosim/sim/trace"

// panics finds the panics of the server; those of plugins are recovered by Velero's plugin framework and are no finding.
func (r *run) panics() []Finding {
	var found []Finding
	for i, e := range r.events {
		if e.Reconcile != nil && e.Reconcile.Panic {
			found = append(found, r.finding("panic", e.Object, i,
				"no panic in controller "+e.Reconcile.Controller, e.Reconcile.Error))
		}
	}
	if r.trace.End.Reason == trace.Panicked {
		found = append(found, r.atEnd("panic", "", "no panic", r.trace.End.Detail))
	}
	return found
}
