package virtual_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
)

// rejected are the witnesses whose traces the demanded reading does not allow. Others show in what does not happen, or in
// what no phase says.
var rejected = map[string]bool{
	"backup-progress-errors-once":                  true,
	"backup-operation-id-unknown":                  true, // it looks like an error of Progress
	"backup-operations-file-lost":                  true,
	"backup-server-killed-after-upload-of-failure": true,
}

func release(t *testing.T) phase.Rules {
	t.Helper()
	release, err := phase.ForRelease(virtual.Velero)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// fits follows the trace through the model, as the release does it and as is demanded.
func fits(t *testing.T, s *scenario.Scenario, tr trace.Trace, v verdict.Verdict) {
	t.Helper()
	for _, o := range s.Objects() {
		if m, err := model.Check(release(t), o, tr, s.ActionsOf(o)...); m != nil || err != nil {
			t.Errorf("seed %d: v1.18: %+v, %v", tr.Header.Seed, m, err)
		}
		m, err := model.Check(phase.Demanded(), o, tr, s.ActionsOf(o)...)
		if err != nil || m != nil && v.Result == verdict.Pass || m == nil && rejected[s.Metadata.Name] {
			t.Errorf("seed %d: demanded: %+v, %v", tr.Header.Seed, m, err)
		}
	}
}

// foreseen compares what Velero did with what the model has foreseen from the scenario alone.
func foreseen(t *testing.T, predictions []model.Prediction, tr trace.Trace, v verdict.Verdict) {
	t.Helper()
	if slices.Contains(v.Deviations, phase.StaleReadActedUpon) {
		return // what follows from one, nobody foresees
	}
	for _, p := range predictions {
		if strings.HasPrefix(p.Unknown, "the model does not explore") {
			continue
		}
		var path model.Path
		for _, e := range tr.Events {
			if e.Object == p.Object && e.Phase != nil {
				to, err := phase.Parse(e.Phase.To)
				if err != nil {
					t.Fatal(err)
				}
				path = append(path, to)
			}
		}
		created := slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Object == p.Object && e.Created != nil })
		if !p.Allows(path) && created {
			t.Errorf("seed %d: %s took %s; predicted are %v", tr.Header.Seed, p.Object, path, p.Paths)
		}
	}
}

// TestPathsArePredicted: of shapes that the catalogue does not have, too.
func TestPathsArePredicted(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "test.yaml", "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}"+shape+"\nexpect: {phase: Completed}\n")
			predictions := model.Predict(release(t), s)
			for seed := int64(1); seed <= seeds(t, 2); seed++ {
				tr := run(t, s, seed)
				foreseen(t, predictions, tr, verdict.Judge(s, tr))
			}
		})
	}
}
