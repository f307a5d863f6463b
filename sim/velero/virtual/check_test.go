package virtual_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
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

func TestTracesFitTheModel(t *testing.T) {
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range catalogue(t) {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			for seed := int64(1); seed <= seeds(t, 2); seed++ {
				tr := run(t, s, seed)
				passes := verdict.Judge(s, tr).Result == verdict.Pass
				for _, o := range s.Objects() {
					if m, err := model.Check(release, o, tr); m != nil || err != nil {
						t.Errorf("seed %d: v1.18: %+v, %v", seed, m, err)
					}
					m, err := model.Check(phase.Demanded(), o, tr)
					if err != nil || m != nil && passes || m == nil && rejected[name] {
						t.Errorf("seed %d: demanded: %+v, %v", seed, m, err)
					}
				}
			}
		})
	}
}

// TestPathsArePredicted: what Velero does, the model has foreseen from the scenario alone.
func TestPathsArePredicted(t *testing.T) {
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*scenario.Scenario{}
	for _, name := range catalogue(t) {
		all[name] = load(t, name)
	}
	for name, shape := range shapes {
		all[name] = parse(t, "test.yaml", "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}"+shape+"\nexpect: {phase: Completed}\n")
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			predictions := model.Predict(release, s)
			for seed := int64(1); seed <= seeds(t, 2); seed++ {
				tr := run(t, s, seed)
				if slices.Contains(verdict.Judge(s, tr).Deviations, phase.StaleReadActedUpon) {
					continue // what follows from one, nobody foresees
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
					if !p.Allows(path) {
						t.Errorf("seed %d: %s took %s; predicted are %v", seed, p.Object, path, p.Paths)
					}
				}
			}
		})
	}
}
