package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/world"
)

// TestDeepRaceIsFound counts the seeds that run into velero#10519: the queue controller's patch to ReadyToStart is applied, and
// the backup controller rejects the backup before the queue controller has seen the reply. The tracker then counts a backup that
// is over, and the next one stays Queued. Between patch and reply lie some ten steps of others, or many more if the backup
// is not rejected but runs to its end. The first backup also makes the server start the informers that it starts late, for
// which it waits 100 ms: too long for a reply.
func TestDeepRaceIsFound(t *testing.T) {
	s := parse(t, "race.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: race}
backups:
- {name: first}
- {name: rejected, storageLocation: missing}
- {name: next, at: {object: backup/rejected, phase: New}}
expect: {phase: Completed}
`)
	w, found, n := virtual.New(), map[int64]int{}, seeds(t, 80)
	for seed := int64(1); seed <= n; seed++ {
		phases := map[string]string{}
		// The queue looks again at what is Queued every minute.
		_, err := w.Run(context.Background(), world.Job{Scenario: s, Seed: seed, Bound: trace.Time(5 * time.Minute)}, func(e trace.Event) error {
			if e.Phase != nil {
				phases[e.Object] = e.Phase.To
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		switch phases["backup/next"] {
		case "Queued":
			found[seed%4]++
		case "Completed":
		default:
			t.Errorf("seed %d: phases are %v", seed, phases)
		}
	}
	all := int64(found[0] + found[1] + found[2] + found[3])
	t.Logf("found by %d of 1,000 seeds; of %d seeds, by the remainder that stands for their policy: %v", all*1000/n, n, found)
	if all*1000 < 50*n {
		t.Error("want 50 of 1,000")
	}
}

// TestCheapWaitingLeavesTheSameTrace compares the traces of servers that wait cheaply with those of servers that do not.
func TestCheapWaitingLeavesTheSameTrace(t *testing.T) {
	for _, name := range []string{"backup-operation-times-out", "restore-operation-completes", "backup-server-killed-while-waiting"} {
		s := load(t, name)
		for seed := int64(1); seed <= seeds(t, 4); seed++ {
			dear := virtual.New()
			dear.BeDear()
			if d := differ(ndjson(t, runOn(t, dear, s, seed)), ndjson(t, run(t, s, seed))); d != "" {
				t.Errorf("%s, seed %d: %s", name, seed, d)
			}
		}
	}
}
