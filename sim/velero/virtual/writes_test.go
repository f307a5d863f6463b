package virtual_test

import "testing"

// TestScheduledBackupIsMadeOnce: a schedule's backup that backup sync brings back has not been made again.
func TestScheduledBackupIsMadeOnce(t *testing.T) {
	s := parse(t, "test.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: test}
schedules: [{name: daily, every: 2h}]
faults:
- {at: {phase: Completed, object: backup/daily-1, delay: 1m}, do: {remove: backup/daily-1}}
expect: {phase: Completed}
`)
	made, ended := 0, 0
	for _, e := range run(t, s, 1).Events {
		if e.Created != nil {
			made++
		}
		if e.Phase != nil && e.Phase.To == "Completed" {
			ended++
		}
	}
	if made != 1 || ended != 2 {
		t.Errorf("made %d times, want once; Completed %d times, want twice: by its finalizer, and as it is back", made, ended)
	}
}
