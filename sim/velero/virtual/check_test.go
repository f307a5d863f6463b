package virtual_test

import (
	"testing"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
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
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			for seed := int64(1); seed <= seeds(t, 4); seed++ {
				tr := run(t, s, seed)
				objects := []string{"backup/" + s.Backup.Name}
				if s.Restore != nil {
					objects = append(objects, "restore/"+s.Restore.Name)
				}
				for _, o := range objects {
					if m, err := model.Check(release, o, tr.Events); m != nil || err != nil {
						t.Errorf("seed %d: v1.18: %+v, %v", seed, m, err)
					}
					m, err := model.Check(phase.Demanded(), o, tr.Events)
					if err != nil || (m != nil) != rejected[name] {
						t.Errorf("seed %d: demanded: %+v, %v", seed, m, err)
					}
				}
			}
		})
	}
}
