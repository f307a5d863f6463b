package virtual_test

import (
	"context"
	"testing"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// TestReconcilesAbreast: two reconciles of a controller do the same at the same time, such as to list the namespaces, and the order in
// which they do is the seed's all the same. With these seeds they have met.
func TestReconcilesAbreast(t *testing.T) {
	s := parse(t, "abreast.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: abreast}
server: {concurrentBackups: 2}
backups:
- {name: backup-1}
- {name: backup-2, at: {phase: New, object: backup/backup-1}}
items: [configmaps/app/settings, configmaps/web/settings]
expect: {phase: Completed}
`)
	w := virtual.New()
	for _, seed := range []int64{63, 155, 163, 284} {
		end, err := w.Run(context.Background(), world.Job{Scenario: s, Seed: seed, Bound: verdict.Bound(s)}, func(trace.Event) error { return nil })
		if err != nil || end.Reason != trace.Settled {
			t.Errorf("seed %d: the run ended %+v, %v", seed, end, err)
		}
	}
}
