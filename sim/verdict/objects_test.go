package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// two has a second backup.
func two(s *scenario.Scenario) {
	s.Backups = append(s.Backups, scenario.Backup{Name: "backup-2", BackupSpec: spec()})
}

// daily has a schedule that makes two backups, and nothing else.
func daily(s *scenario.Scenario) {
	s.Backups = nil
	s.Schedules = []scenario.Schedule{{Name: "daily", Every: scenario.Duration{Duration: time.Hour}, Backups: 2, Template: spec()}}
}

func faulty(do scenario.Do) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) { s.Faults = append(s.Faults, scenario.Fault{ID: "fault-1", Do: do}) }
}

// deleting is a backup that has completed and that the user asks Velero to delete.
func deleting() *script {
	return begin().completes().fault("fault-1").requested(`{"phase":"InProgress"}`).phases("Deleting")
}

func begins(object string) *script {
	s := begin()
	s.t.Events = s.t.Events[:1]
	s.object = ""
	return s.on(object)
}

func TestExpectationOfObjects(t *testing.T) {
	all := func(changes ...func(*scenario.Scenario)) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	expects := func(object string, o scenario.Outcome) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { s.Expect.Objects = map[string]scenario.Outcome{object: o} }
	}
	must := func(p scenario.Point) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { s.Expect.Must = []scenario.Point{p} }
	}
	both := func() trace.Trace {
		return healthy().rests(1, 0).create("backup/backup-2").completes().rests(0, 0).settles()
	}
	errors := trace.Rest{Copy: "api", Ended: true, Errors: 2, Warnings: 1}
	partially := func() *script {
		s := begin().phases("Queued", "ReadyToStart", "InProgress", "FinalizingPartiallyFailed", "PartiallyFailed").rest(errors)
		stored := errors
		stored.Copy = "store"
		return s.rest(stored)
	}
	for _, j := range []judged{
		{
			name: "another object's phase", change: all(two, expects("backup/backup-1", scenario.Outcome{Phase: "PartiallyFailed"})), trace: both(), result: Fail,
			found: []brief{{"expectation", "phase PartiallyFailed", "phase Completed"}},
		},
		{
			name:   "the last object is the one that is spoken of",
			expect: scenario.Outcome{Operations: &scenario.Operations{Attempted: 1, Completed: 1}},
			change: two, trace: both(), result: Fail,
			found: []brief{{"expectation", "operations: 1 attempted, 1 completed, 0 failed", "operations: 0 attempted, 0 completed, 0 failed"}},
		},
		{
			name:   "unless the scenario says which",
			expect: scenario.Outcome{Operations: &scenario.Operations{Attempted: 1, Completed: 1}},
			change: all(two, func(s *scenario.Scenario) { s.Expect.Object = "backup/backup-1" }), trace: both(), result: Pass,
		},
		{
			name: "errors and warnings", expect: scenario.Outcome{Errors: new(1), Warnings: new(0)}, trace: partially().settles(), result: Fail,
			found: []brief{{"expectation", "1 errors", "2 errors"}, {"expectation", "0 warnings", "1 warnings"}},
		},
		{name: "errors and warnings as expected", expect: scenario.Outcome{Errors: new(2), Warnings: new(1)}, trace: partially().settles(), result: Pass},
		{
			name: "it should be gone", expect: scenario.Outcome{Phase: scenario.Deleted}, trace: healthy().rests(1, 0).settles(), result: Fail,
			found: []brief{{"expectation", "phase Deleted (the object is gone)", "phase Completed"}},
		},
		{
			name: "it should not be gone", expect: scenario.Outcome{Phase: "Completed"}, change: faulty(scenario.Do{Remove: "backup/backup-1"}),
			trace: begin().completes().deleted().fault("fault-1").settles(), result: Fail,
			found: []brief{{"expectation", "phase Completed", "phase Deleted (the object is gone)"}},
		},
		{
			name: "it is gone, and has taken its path", change: faulty(scenario.Do{Remove: "backup/backup-1"}),
			expect: scenario.Outcome{Phase: scenario.Deleted, Path: []string{"Queued", "ReadyToStart", "InProgress", "Finalizing", "Completed"}},
			trace:  begin().completes().deleted().fault("fault-1").settles(), result: Pass,
		},
		{
			name: "it is removed, and brought back as it was", change: faulty(scenario.Do{Remove: "backup/backup-1"}),
			expect: scenario.Outcome{Phase: "Completed", Path: []string{"Queued", "ReadyToStart", "InProgress", "Finalizing", "Completed"}},
			trace:  begin().completes().deleted().fault("fault-1").wait(time.Minute).phases("Completed").rests(0, 0).settles(), result: Pass,
		},
		{
			name: "a phase that must come", change: all(two, must(scenario.Point{Phase: "WaitingForPluginOperations", Object: "backup/backup-2"})), trace: both(), result: Fail,
			found: []brief{{"expectation", "phase WaitingForPluginOperations of backup/backup-2 is passed, once or more", "it never was"}},
		},
		{name: "a phase that has come", change: all(two, must(scenario.Point{Phase: "WaitingForPluginOperations", Object: "backup/backup-1"})), trace: both(), result: Pass},
		{
			name: "an object that must be created twice", change: must(scenario.Point{Phase: "New", Object: "backup/backup-1", Nth: 2}), trace: healthy().rests(1, 0).settles(), result: Fail,
			found: []brief{{"expectation", "phase New of backup/backup-1 is passed, 2 times or more", "it was, once"}},
		},
		{
			name: "calls that must come", change: must(scenario.Point{Call: &scenario.Call{Plugin: mover, Method: "Progress"}, Nth: 4}), trace: healthy().rests(1, 0).settles(), result: Fail,
			found: []brief{{"expectation", "a call of example.io/mover Progress is passed, 4 times or more", "it was, 3 times"}},
		},
		{name: "calls that have come", change: must(scenario.Point{Call: &scenario.Call{Plugin: mover, Method: "Progress"}, Nth: 3}), trace: healthy().rests(1, 0).settles(), result: Pass},
		{
			name: "an access that must come", change: must(scenario.Point{Store: &scenario.Access{Verb: "get", Key: "backups/backup-1/backup-1.tar.gz"}}),
			trace: healthy().access("put", "backups/backup-1/backup-1.tar.gz", "").rests(1, 0).settles(), result: Fail,
			found: []brief{{"expectation", "store get backups/backup-1/backup-1.tar.gz is passed, once or more", "it never was"}},
		},
		{
			name:   "an access that has come, for a schedule's backup",
			change: all(daily, must(scenario.Point{Store: &scenario.Access{Verb: "put", Key: "backups/daily-2/daily-2.tar.gz"}})),
			trace: begins("").schedules("daily", "backup/daily-1", "daily-20260101010000").completes().rests(0, 0).
				schedules("daily", "backup/daily-2", "daily-20260101020000").access("put", "backups/daily-20260101020000/daily-20260101020000.tar.gz", "").
				completes().rests(0, 0).settles(),
			result: Pass,
		},
	} {
		j.run(t)
	}
}

// TestEvidenceOfObjects: what must have been created, and what need not.
func TestEvidenceOfObjects(t *testing.T) {
	restoring := func(x ...scenario.Restore) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) {
			two(s)
			s.Restores = x
			s.Expect.Object = "backup/backup-1"
		}
	}
	first := scenario.Restore{Name: "restore-1", Backup: "backup-1"}
	second := scenario.Restore{Name: "restore-2", Backup: "backup-2"}
	at := func(p scenario.Point) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) {
			two(s)
			s.Backups[1].At = &p
			s.Expect.Object = "backup/backup-1"
		}
	}
	failed := func(s *script) *script {
		return s.phases("Queued", "ReadyToStart", "InProgress", "Failed").rest(trace.Rest{Copy: "api"})
	}
	healthy := func() *script { return begin().completes().rests(0, 0) }
	creation := brief{"completeness", "its creation", "the trace has none"}
	for _, j := range []judged{
		{name: "the second backup is missing", change: restoring(), trace: healthy().settles(), result: Inconclusive, found: []brief{creation}},
		{
			name: "the second backup is missing, as the first has not ended", change: restoring(),
			trace: begin().phases("Queued").wait(time.Hour).rest(trace.Rest{Copy: "api"}).ends(trace.Bound), result: Fail,
			found: []brief{{"liveness", anEnd, "phase Queued, waiting for its turn in the queue, since 0s"}},
		},
		{
			name: "the restores of failed backups are passed over", change: restoring(first, second),
			trace: failed(failed(begin()).create("backup/backup-2")).settles(), result: Pass,
		},
		{
			name: "one is passed over, and the next is missing", change: restoring(first, second),
			trace: failed(begin()).create("backup/backup-2").completes().rests(0, 0).settles(), result: Inconclusive, found: []brief{creation},
		},
		{
			name: "both restores are missing: the second waits for the first", change: restoring(first, second),
			trace: healthy().create("backup/backup-2").completes().rests(0, 0).settles(), result: Inconclusive, found: []brief{creation, creation},
		},
		{
			name: "the restores' point of creation was never passed", change: at(scenario.Point{Phase: "WaitingForPluginOperations", Object: "backup/backup-1", Nth: 1}),
			trace: healthy().settles(), result: Inconclusive,
			found: []brief{{"completeness", "its creation", "its point of creation was never passed: phase WaitingForPluginOperations of backup/backup-1, once"}},
		},
		{
			name: "a point of creation was passed", change: at(scenario.Point{Phase: "InProgress", Object: "backup/backup-1", Nth: 1}),
			trace: healthy().settles(), result: Inconclusive, found: []brief{creation},
		},
		{
			name: "it was created at its point", change: at(scenario.Point{Phase: "InProgress", Object: "backup/backup-1", Nth: 1}),
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").create("backup/backup-2").on("backup/backup-1").phases("Finalizing", "Completed").rests(0, 0).
				on("backup/backup-2").completes().rests(0, 0).settles(),
			result: Pass,
		},
		{
			name: "a schedule has made one backup of two", change: daily,
			trace:  begins("").schedules("daily", "backup/daily-1", "daily-20260101010000").completes().rests(0, 0).settles(),
			result: Inconclusive, found: []brief{creation},
		},
		{
			name: "a gone backup is nowhere at rest", change: faulty(scenario.Do{Delete: "backup/backup-1"}),
			trace: begin().completes().fault("fault-1").requested(`{"phase":"InProgress"}`).phases("Deleting").requested(`{"phase":"Processed"}`).deleted().settles(), result: Pass,
		},
	} {
		j.run(t)
	}
}
