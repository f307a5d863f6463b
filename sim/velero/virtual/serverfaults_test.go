package virtual_test

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// A server that is paused does nothing more until it goes on. What it was doing just then is done: its plugins and the API server go on.
func TestPausedServerDoesNothing(t *testing.T) {
	const pause = 30 * time.Minute
	for name, test := range map[string]struct {
		at string
		// still is what is recorded of the server after the fault, before it goes on.
		still func(trace.Event) bool
	}{
		"at a phase":      {"{phase: InProgress}", nil},
		"at a call":       {"{call: {plugin: example.io/mover, method: Execute}}", func(e trace.Event) bool { return e.Return != nil }},
		"at its reply":    {"{call: {plugin: example.io/mover, method: Execute}, after: true}", func(e trace.Event) bool { return e.Return != nil }},
		"at an access":    {"{store: {verb: put, key: backups/backup-1/velero-backup.json}}", func(e trace.Event) bool { return e.Store != nil }},
		"after an access": {"{store: {verb: put, key: backups/backup-1/velero-backup.json}, after: true}", nil},
		"at a write":      {"{write: {phase: Finalizing}}", func(e trace.Event) bool { return e.Write != nil || e.Phase != nil && e.Phase.To == "Finalizing" }},
		"after a write":   {"{write: {phase: Finalizing}, after: true}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "test.yaml", scenarioOf(t, mover+"\nfaults: [{at: "+test.at+", do: {pause: 30m}}]", "Completed"))
			for seed := int64(1); seed <= seeds(t, 6); seed++ {
				struck, went, phase := trace.Time(-1), false, ""
				for _, e := range run(t, s, seed).Events {
					switch {
					case e.Fault != nil:
						struck = e.At
					case e.Phase != nil && e.Object == "backup/backup-1":
						phase = e.Phase.To
					}
					if struck < 0 || e.Incarnation == 0 {
						continue
					}
					paused := e.At < struck+trace.Time(pause)
					went = went || !paused
					if paused && (test.still == nil || !test.still(e)) {
						t.Fatalf("seed %d: paused at %s, the server has %+v", seed, struck, e)
					}
				}
				if !went || phase != "Completed" {
					t.Errorf("seed %d: paused at %s, the server goes on: %t, and the backup is %s", seed, struck, went, phase)
				}
			}
		})
	}
}

// Of two servers, both poll, and the old one does nothing after its end.
func TestReplacedServer(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, mover+"\nfaults: [{at: {phase: WaitingForPluginOperations, delay: 10m}, do: {rollout: {overlap: 5m}}}]", "Completed"))
	for seed := int64(1); seed <= seeds(t, 6); seed++ {
		polled, killed, last := map[int]int{}, trace.Time(0), ""
		for _, e := range run(t, s, seed).Events {
			switch p := e.Process; {
			case p != nil && p.Name == "server" && p.State == "killed":
				killed = e.At
			case p != nil && p.Name == "server":
				last = p.State
			case e.Incarnation == 1 && killed > 0:
				t.Fatalf("seed %d: killed at %s, the old server has %+v", seed, killed, e)
			case e.Call != nil && e.Call.Method == "Progress" && killed == 0 && e.At > trace.Time(11*time.Minute):
				polled[e.Incarnation]++
			}
		}
		if polled[1] < 20 || polled[2] < 20 || killed == 0 || last != "stopped" {
			t.Errorf("seed %d: polls by server: %v; the old one killed at %s, the other %s", seed, polled, killed, last)
		}
	}
}
