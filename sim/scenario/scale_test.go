package scenario_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
)

func TestScaled(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
backup: {itemOperationTimeout: 4h}
restore: {itemOperationTimeout: 2s}
plugins:
- name: example.io/mover
  execute: {delay: 1s}
  operation: {progress: [{at: 0s, of: 10}, {at: 90m, done: 5}, {at: 2h, completed: true}]}
faults:
- {at: {phase: WaitingForPluginOperations, object: backup/backup-1, delay: 90m}, do: {kill: {restartAfter: 5s}}}
expect: {phase: Completed, within: 4h}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	before := *s.Plugins[0].Operation
	scaled := s.Scaled(3*time.Second, 15*time.Second)
	got := map[string]time.Duration{
		"backup": scaled.Backups[0].ItemOperationTimeout.Duration, "restore": scaled.Restores[0].ItemOperationTimeout.Duration,
		"execute": scaled.Plugins[0].Execute.Delay.Duration,
		"first":   scaled.Plugins[0].Operation.Progress[0].At.Duration, "second": scaled.Plugins[0].Operation.Progress[1].At.Duration,
		"third": scaled.Plugins[0].Operation.Progress[2].At.Duration,
		"kill":  scaled.Faults[0].At.Delay.Duration, "restart": scaled.Faults[0].Do.Kill.RestartAfter.Duration,
		"within": scaled.Expect.Within.Duration,
	}
	want := map[string]time.Duration{
		"execute": time.Second, "restore": 2 * time.Second, "second": 5 * time.Second, "kill": 5 * time.Second, "restart": 3 * time.Second,
		"third": 11 * time.Second, "backup": 15 * time.Second, "first": 0, "within": 4 * time.Hour,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, *s.Plugins[0].Operation); diff != "" {
		t.Errorf("the original has changed:\n%s", diff)
	}
}

// TestRealTimeKeepsTheDeadline: a call that takes longer than it may, does so in real time, and one that does not, does not.
func TestRealTimeKeepsTheDeadline(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
plugins:
- {name: example.io/slow, execute: {delay: 15m}, progress: {delay: 9m}, operation: {progress: [{at: 10m, completed: true}]}}
expect: {phase: Completed}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	p := s.RealTime().Plugins[0]
	deadline := time.Duration(scenario.RealTimeScale * float64(10*time.Minute))
	if p.Execute.Delay.Duration <= deadline || p.Progress.Delay.Duration >= deadline {
		t.Errorf("delays %v and %v, of a deadline of %v", p.Execute.Delay, p.Progress.Delay, deadline)
	}
}

// TestRealTimeKeepsTheOrderOfRestarts: a server that is back before a timeout is so in real time.
func TestRealTimeKeepsTheOrderOfRestarts(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
backup: {itemOperationTimeout: 3m}
plugins: [{name: example.io/mover, operation: {progress: [{at: 0s}, {at: 20s, done: 1}, {at: 40s, done: 2}, {at: 4m, completed: true}]}}]
faults: [{at: {phase: WaitingForPluginOperations, delay: 1m}, do: {kill: {restartAfter: 90s}}}]
expect: {phase: PartiallyFailed}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	r := s.RealTime()
	back := r.Faults[0].At.Delay.Duration + r.Faults[0].Do.Kill.RestartAfter.Duration
	timeout, completes := r.Backups[0].ItemOperationTimeout.Duration, r.Plugins[0].Operation.Progress[3].At.Duration
	if back+10*time.Second > timeout || timeout+10*time.Second > completes {
		t.Errorf("back at %v, timeout at %v, completes at %v", back, timeout, completes)
	}
}

// TestScaledSeveralObjects: the durations of all objects are shortened, in their order, and the original keeps its own.
func TestScaledSeveralObjects(t *testing.T) {
	const text = `
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
backups:
- {ttl: 2h}
- {itemOperationTimeout: 30m, at: {phase: InProgress, object: backup/backup-1, delay: 10m}}
restores:
- {backup: backup-1, itemOperationTimeout: 40m}
- {backup: backup-2, at: {phase: InProgress, object: backup/backup-2, delay: 20m}}
schedules: [{name: daily, every: 3h, template: {ttl: 4h, itemOperationTimeout: 50m}}]
plugins:
- {name: example.io/mover, appliesTo: {delay: 1m}, operation: {progress: [{at: 5m, completed: true}]}}
- name: example.io/waits
  action: RestoreItemAction
  execute: {waitForAdditionalItems: true, additionalItems: [configmaps/app/settings]}
  areAdditionalItemsReady: {after: 15m}
expect: {phase: Completed}
`
	s, errs := scenario.Parse("s.yaml", []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	order := func(s *scenario.Scenario) []time.Duration {
		return []time.Duration{
			s.Plugins[0].AppliesTo.Delay.Duration, s.Plugins[0].Operation.Progress[0].At.Duration, s.Backups[1].At.Delay.Duration,
			s.Plugins[1].AreAdditionalItemsReady.After.Duration, s.Restores[1].At.Delay.Duration, s.Backups[1].ItemOperationTimeout.Duration,
			s.Restores[0].ItemOperationTimeout.Duration, s.Schedules[0].Template.ItemOperationTimeout.Duration,
			s.Server.GarbageCollectionFrequency.Duration, s.Backups[0].TTL.Duration, s.Schedules[0].Every.Duration, s.Schedules[0].Template.TTL.Duration,
		}
	}
	scaled := order(s.Scaled(3*time.Second, 0))
	var want []time.Duration
	for i := range scaled {
		want = append(want, time.Duration(3*(i+1))*time.Second)
	}
	if diff := cmp.Diff(want, scaled); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, _ := scenario.Parse("s.yaml", []byte(text))
	if diff := cmp.Diff(again, s); diff != "" {
		t.Errorf("the original has changed:\n%s", diff)
	}
	kept := s.Scaled(3*time.Second, 0)
	if got := kept.Backups[1].TTL.Duration; got != 720*time.Hour {
		t.Errorf("a ttl that nobody set has become %v", got)
	}
}

// TestRealTimeOfWriteFaults: how long writes are refused is scaled as the time is for which they are tried again, and latency keeps its order.
func TestRealTimeOfWriteFaults(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
backup: {itemOperationTimeout: 1h}
server: {resourceTimeout: 20m}
faults:
- {at: {write: {phase: Completed}}, do: {refuse: Timeout}, for: 10m}
- {at: {write: {phase: Finalizing}}, do: {latency: 10m}}
expect: {phase: Completed}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	r := s.RealTime()
	got := []time.Duration{r.Faults[0].For.Duration, r.Server.ResourceTimeout.Duration, r.Faults[1].Do.Latency.Duration, r.Backups[0].ItemOperationTimeout.Duration}
	if diff := cmp.Diff([]time.Duration{30 * time.Second, time.Minute, 3 * time.Second, 6 * time.Second}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Faults[0].For.Duration != 10*time.Minute {
		t.Errorf("the original has changed: %+v", s.Faults[0])
	}
}

// TestRealTimeOfOutages: one of the API server that Velero's tries outlast is scaled as they are, another among the instants that keep
// their order, as stale caches are.
func TestRealTimeOfOutages(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
faults:
- {at: {phase: InProgress}, do: {apiOutage: 20s}}
- {at: {phase: Finalizing}, do: {apiOutage: 10m}}
- {at: {phase: Finalizing, delay: 1m}, do: {staleCache: 2m}}
expect: {phase: Completed}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	r := s.RealTime()
	got := []time.Duration{
		r.Faults[0].Do.APIOutage.Duration, r.Faults[2].At.Delay.Duration, r.Faults[2].Do.StaleCache.Duration, r.Faults[1].Do.APIOutage.Duration,
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 30 * time.Second, 45 * time.Second, time.Minute}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRealTimeOfManyItems: the longest length comes when all items have been backed up.
func TestRealTimeOfManyItems(t *testing.T) {
	text := "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n" +
		"plugins: [{name: example.io/mover, operation: {progress: [{at: 10m, completed: true}]}}]\nexpect: {phase: Completed}\nitems:\n"
	for i := range 500 {
		text += fmt.Sprintf("- configmaps/app/item-%d\n", i)
	}
	s, errs := scenario.Parse("s.yaml", []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if at := s.RealTime().Plugins[0].Operation.Progress[0].At.Duration; at < 20*time.Second {
		t.Errorf("the operations end after %v", at)
	}
}

// TestRealTimeKeepsWhatLasts: a pause or an overlap that outlasts a timeout, counted from its delay, does so in real time, and one that does
// not, does not.
func TestRealTimeKeepsWhatLasts(t *testing.T) {
	for _, test := range []struct {
		do       string
		outlasts bool
	}{
		{"pause: 40m", false},
		{"pause: 50m", true},
		{"rollout: {overlap: 40m}", false},
		{"rollout: {overlap: 50m}", true},
	} {
		s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
backup: {itemOperationTimeout: 1h}
plugins: [{name: example.io/mover, operation: {progress: [{at: 0s}]}}]
faults: [{at: {phase: WaitingForPluginOperations, delay: 15m}, do: {`+test.do+`}}]
expect: {phase: PartiallyFailed}
`))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		real := s.RealTime()
		x, timeout := real.Faults[0], real.Backups[0].ItemOperationTimeout.Duration
		lasts := x.Do.Pause.Duration
		if x.Do.Rollout != nil {
			lasts = x.Do.Rollout.Overlap.Duration
		}
		if over := x.At.Delay.Duration+lasts > timeout; over != test.outlasts || lasts < 3*time.Second {
			t.Errorf("%s: %s after %s, of a timeout of %s", test.do, lasts, x.At.Delay, timeout)
		}
		if do := s.Faults[0].Do; do.Pause.Duration+lasts == lasts && do.Rollout.Overlap.Duration < time.Minute {
			t.Errorf("%s: the original has changed", test.do)
		}
	}
}

// TestRealTimeOfActions: a deadline that a call reaches comes soon, and one that none is meant to reach leaves room for processes to start.
func TestRealTimeOfActions(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
backup: {}
plugins:
- {name: example.io/hangs, action: PreBackupAction, execute: {hang: true}}
- {name: example.io/slow, action: PreBackupAction, execute: {delay: 11m}}
- {name: example.io/quick, action: PreBackupAction, execute: {delay: 1m}}
expect: {phase: FailedPreBackupActions}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []time.Duration
	for _, p := range s.RealTime().Plugins {
		got = append(got, p.Deadline.Duration)
	}
	if diff := cmp.Diff([]time.Duration{6 * time.Second, 6 * time.Second, 30 * time.Second}, got); diff != "" {
		t.Errorf("deadlines (-want +got):\n%s", diff)
	}
}
