package scenario_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
)

const acting = head + `
backups: [{}, {annotations: {example.io/quiesce.prebackup: skip, example.io/job.postbackup: other}}]
restores: [{backup: backup-1}]
plugins:
- {name: example.io/quiesce, action: PreBackupAction, execute: {delay: 9m}}
- {name: example.io/quiesce, action: PostBackupAction, execute: {delay: 11m}}
- {name: example.io/quiesce, action: PostRestoreAction}
- {name: example.io/job, action: PostBackupAction, deadline: 1h}
- {name: example.io/mover}
expect: {phase: Completed}
`

// TestActionsOf: which are called for an object, in which order.
func TestActionsOf(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(acting))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for object, want := range map[string][]string{
		"backup/backup-1":   {"example.io/job PostBackupAction", "example.io/quiesce PreBackupAction", "example.io/quiesce PostBackupAction"},
		"backup/backup-2":   {"example.io/job PostBackupAction", "example.io/quiesce PostBackupAction"},
		"restore/restore-1": {"example.io/quiesce PostRestoreAction"},
	} {
		var got []string
		for _, p := range s.ActionsOf(object) {
			got = append(got, p.Name+" "+string(p.Action))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object, diff)
		}
	}
}

// TestDeadlines: an action has one, by default of 10 minutes, and what outlasts it does so in real time.
func TestDeadlines(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(acting))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for i, want := range []time.Duration{10 * time.Minute, 10 * time.Minute, 10 * time.Minute, time.Hour, 0} {
		if got := s.Plugins[i].Deadline.Duration; got != want {
			t.Errorf("%s: %s, want %s", s.Plugins[i].Action, got, want)
		}
	}
	p := s.RealTime().Plugins
	short, long, deadline := p[0].Execute.Delay.Duration, p[1].Execute.Delay.Duration, p[0].Deadline.Duration
	if short+3*time.Second > deadline || deadline+3*time.Second > long || p[3].Deadline.Duration >= time.Hour {
		t.Errorf("%s and %s, with a deadline of %s; and one of %s", short, long, deadline, p[3].Deadline)
	}
	if s.Plugins[0].Deadline.Duration != 10*time.Minute {
		t.Error("the original has changed")
	}
}
