package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestDeletion(t *testing.T) {
	byUser := faulty(scenario.Do{Delete: "backup/backup-1"})
	removing := faulty(scenario.Do{Remove: "backup/backup-1"})
	processed := `{"phase":"Processed"}`
	stored := trace.Rest{Copy: "store", Phase: "Completed", Ended: true}
	still := []brief{{"accounting", "nothing of it in the object store, as it was deleted", "it is still there"}}
	deletingRest := trace.Rest{Copy: "api", Ended: true}
	withRestores := func(do scenario.Do) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { withRestore(s); faulty(do)(s); s.Expect.Object = "backup/backup-1" }
	}
	restored := func() *script {
		return begin().completes().create("restore/restore-1").phases("InProgress").execute(mover1).
			progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed")
	}
	ofRestore := trace.Rest{Copy: "store", Operations: []trace.Operation{storedAs("Completed")}}
	for _, j := range []judged{
		{name: "a deleted backup is gone", change: byUser, trace: deleting().requested(processed).deleted().settles(), result: Pass},
		{
			name: "it is still in the object store", change: byUser, trace: deleting().requested(processed).deleted().rest(stored).settles(), result: Fail, found: still,
		},
		{
			name: "what goes on stores it again", change: byUser, result: KnownDeviation,
			trace: deleting().requested(processed).deleted().access("put", "backups/backup-1/velero-backup.json", "").rest(stored).settles(),
		},
		{
			name: "what goes on until its finalizer lets it go stores it again", change: byUser, result: KnownDeviation,
			trace: deleting().access("delete", "backups/backup-1/velero-backup.json", "").access("put", "backups/backup-1/velero-backup.json", "").
				requested(processed).deleted().rest(stored).settles(),
		},
		{
			name: "what was stored before is still there", change: byUser, result: Fail, found: still,
			trace: deleting().access("put", "backups/backup-1/velero-backup.json", "").access("delete", "backups/backup-1/backup-1-logs.gz", "").
				requested(processed).deleted().rest(stored).settles(),
		},
		{
			name: "what is removed stays in the object store", change: removing, trace: begin().completes().deleted().fault("fault-1").rest(stored).settles(), result: Pass,
		},
		{
			name: "what is brought back must be stored", change: removing,
			trace: begin().completes().deleted().fault("fault-1").phases("Completed").rest(trace.Rest{Copy: "api", Ended: true}).settles(), result: Fail,
			found: []brief{{"accounting", "a stored copy (velero-backup.json)", "none"}},
		},
		{
			name: "it stays Deleting, though its deletion had no errors", change: byUser,
			trace: deleting().rest(deletingRest).ends(trace.Bound), result: Fail,
			found: []brief{{"liveness", itsLeft, "phase Deleting, waiting for the server to delete it, since 0s"}},
		},
		{
			name: "it stays Deleting, as a restart has forgotten it", change: byUser,
			trace: deleting().restart(time.Second).wait(time.Hour).rest(deletingRest).ends(trace.Bound), result: KnownDeviation,
		},
		{
			name: "the restart was before", change: byUser,
			trace: begin().completes().restart(time.Second).fault("fault-1").phases("Deleting").rest(deletingRest).ends(trace.Bound), result: Fail,
			found: []brief{{"liveness", itsLeft, "phase Deleting, waiting for the server to delete it, since 1s"}},
		},
		{
			name: "it stays Deleting, as its deletion had errors", change: byUser,
			trace: deleting().requested(`{"phase":"Processed","errors":["no"]}`).rest(deletingRest).settles(), result: Pass,
		},
		{
			name: "the errors are those of an earlier request", change: byUser,
			trace: func() trace.Trace {
				s := begin().phases("Queued", "ReadyToStart", "InProgress").requested(`{"phase":"Processed","errors":["backup is still in progress"]}`)
				return s.phases("Finalizing", "Completed").fault("fault-1").phases("Deleting").rest(deletingRest).settles()
			}(),
			result: Fail, found: []brief{{"liveness", itsLeft, "phase Deleting, waiting for the server to delete it, since 0s"}},
		},
		{
			name: "the errors are those of another backup's request", change: func(s *scenario.Scenario) { byUser(s); two(s); s.Expect.Object = "backup/backup-1" },
			trace: deleting().rest(deletingRest).create("backup/backup-2").completes().rests(0, 0).
				add("", trace.Body{Write: &trace.Write{
					Verb: "patch", Resource: "deletebackuprequests", Name: "velero/backup-2-abcde", Change: `{"status":{"phase":"Processed","errors":["no"]}}`,
				}}).settles(),
			result: Fail, found: []brief{{"liveness", itsLeft, "phase Deleting, waiting for the server to delete it, since 0s"}},
		},
		{
			name: "a backup is deleted while it waits for operations, and nobody cancels them", change: byUser,
			trace: waiting().restart(time.Second).fault("fault-1").requested(`{"phase":"InProgress"}`).phases("Deleting").requested(processed).deleted().
				wait(5 * time.Hour).settles(),
			result: Pass,
		},
		{
			name:  "it is gone, and nobody has asked",
			trace: begin().completes().deleted().settles(), result: Fail,
			found: []brief{{"conformance", "the object is deleted as somebody asks for it", "it was gone in phase Completed"}},
		},
		{
			name: "it is gone, and at rest", change: removing, result: Fail,
			trace: begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").deleted().fault("fault-1").rest(trace.Rest{Copy: "api", Phase: "Failed"}).settles(),
			found: []brief{{"conformance", "no such object at rest, as it was deleted", "phase Failed"}},
		},
		{
			name: "the user deletes a restore", change: withRestores(scenario.Do{Delete: "restore/restore-1"}),
			trace: restored().fault("fault-1").deleted().on("backup/backup-1").rests(0, 0).settles(), result: Pass,
		},
		{
			name: "a deleted restore's operations are still in the object store", change: withRestores(scenario.Do{Delete: "restore/restore-1"}),
			trace: restored().fault("fault-1").deleted().rest(ofRestore).on("backup/backup-1").rests(0, 0).settles(), result: Fail, found: still,
		},
		{
			name: "a restore is gone, and nobody has asked", change: withRestore, trace: restored().deleted().on("backup/backup-1").rests(0, 0).settles(), result: Fail,
			found: []brief{{"conformance", "the object is deleted as somebody asks for it", "it was gone in phase Completed"}},
		},
		{
			name: "a backup is deleted, and its restore with it", change: withRestores(scenario.Do{Delete: "backup/backup-1"}),
			trace:  restored().on("backup/backup-1").fault("fault-1").phases("Deleting").on("restore/restore-1").deleted().on("backup/backup-1").deleted().settles(),
			result: Pass,
		},
		{
			name: "a restore gives its operations up, as its backup is gone", change: withRestores(scenario.Do{Remove: "backup/backup-1"}),
			trace: abandons(true, false), result: Pass,
		},
		{
			name: "and is back when that shows", change: withRestores(scenario.Do{Remove: "backup/backup-1"}),
			trace: abandons(true, true), result: Pass,
		},
		{
			name: "a restore gives its operations up, and its backup is there", change: withRestores(scenario.Do{Remove: "backup/backup-1"}),
			trace: abandons(false, false), result: Fail,
			found: []brief{
				{
					"conformance", "nothing-finalizes-while-operations-run: Finalizing begins when every operation has completed or failed, unless they were abandoned.",
					"WaitingForPluginOperations → FinalizingPartiallyFailed; by the plugins' replies, 1 operations attempted, 0 completed, 0 failed",
				},
				{
					"conformance", "finalized-counts-add-up: After the finalizer, attempted = completed + failed, unless operations were abandoned.",
					"FinalizingPartiallyFailed → PartiallyFailed; by the plugins' replies, 1 operations attempted, 0 completed, 0 failed",
				},
				{
					"accounting", "finalized-counts-add-up: After the finalizer, attempted = completed + failed, unless operations were abandoned.",
					"phase PartiallyFailed, 1 errors, 0 warnings, operations: 1 attempted, 0 completed, 0 failed, a completionTimestamp",
				},
			},
		},
		{
			name: "a deletion is granted when the run has begun, which goes on and stores its backup", change: byUser,
			trace:  begin().phases("Queued", "ReadyToStart", "InProgress").fault("fault-1").phases("Deleting").requested(processed).deleted().rest(stored).settles(),
			result: KnownDeviation,
		},
		{
			name: "a schedule's backup, whose upload the store refused", change: func(s *scenario.Scenario) { daily(s); s.Schedules[0].Backups = 1 },
			trace: begins("").schedules("daily", "backup/daily-1", "daily-20260101010000").phases("Queued", "ReadyToStart", "InProgress", "Finalizing").
				access("put", "backups/daily-20260101010000/daily-20260101010000.tar.gz", "full").phases("Completed").rests(0, 0).settles(),
			result: KnownDeviation,
		},
	} {
		j.run(t)
	}
}

// abandons is a restore that is finalized while its operation runs. Its backup is gone then, or only afterwards; or it is back then.
func abandons(gone, back bool) trace.Trace {
	s := begin().completes().on("restore/restore-1").add("restore/restore-1", trace.Body{Created: &trace.Created{Backup: "backup-1", ItemOperationTimeout: trace.Time(4 * time.Hour)}}).
		phases("InProgress").execute(mover1).progress(mover1, trace.Progress{}).phases("WaitingForPluginOperations")
	if gone {
		s.on("backup/backup-1").fault("fault-1").deleted()
		if back {
			s.phases("Completed").rests(0, 0)
		}
		s.on("restore/restore-1")
	}
	s.phases("FinalizingPartiallyFailed", "PartiallyFailed")
	if !gone {
		s.on("backup/backup-1").fault("fault-1").deleted().on("restore/restore-1")
	}
	running := trace.Operation{ID: mover1, Plugin: mover, Item: item, Phase: "InProgress"}
	return s.rest(trace.Rest{Copy: "api", Attempted: 1, Errors: 1, Ended: true}).rest(trace.Rest{Copy: "store", Operations: []trace.Operation{running}}).settles()
}

// TestHeldByAnother: the call that holds an object may be for another, whose worker it needs.
func TestHeldByAnother(t *testing.T) {
	apart := func(concurrent int) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) {
			two(s)
			s.Server.ConcurrentBackups = concurrent
			s.Backups[0].IncludedNamespaces, s.Backups[1].IncludedNamespaces = []string{"a"}, []string{"b"}
		}
	}
	const call = "a reply to example.io/mover Execute for configmaps/app/settings, called at 0s, 1h0m0s before the end"
	hung := brief{"contract", "example.io/mover Execute for configmaps/app/settings is given up by 10m0s", "it was called at 0s and went on until 1h0m0s"}
	own := brief{"liveness", anEnd, "phase InProgress, waiting for " + call}
	queued := func() trace.Trace {
		return begin().phases("Queued", "ReadyToStart", "InProgress").calling(execute, "").create("backup/backup-2").phases("Queued").wait(time.Hour).
			rest(trace.Rest{Copy: "api"}).on("backup/backup-1").rest(trace.Rest{Copy: "api"}).ends(trace.Bound)
	}
	polled := func() trace.Trace {
		return sameIDs().calling(progress, mover1).wait(time.Hour).rest(trace.Rest{Copy: "api", Attempted: 1}).
			on("backup/backup-1").rest(trace.Rest{Copy: "api", Attempted: 1}).ends(trace.Bound)
	}
	const ofPoll = "a reply to example.io/mover Progress of operation mover-1 for configmaps/app/settings, called at 10s, 1h0m0s before the end"
	for _, j := range []judged{
		{
			name: "one is queued behind the other", change: two, trace: queued(), result: KnownDeviation,
		},
		{
			name: "both may run, and are not in the same namespace", change: apart(2), trace: queued(), result: Fail,
			found: []brief{own, {"liveness", anEnd, "phase Queued, waiting for its turn in the queue, since 0s"}, hung},
		},
		{
			name: "both may run, and are in the same namespace", change: func(s *scenario.Scenario) { two(s); s.Server.ConcurrentBackups = 2 },
			trace: queued(), result: KnownDeviation,
		},
		{
			name: "another controller is held", change: two,
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).wait(2*time.Minute).phases("WaitingForPluginOperations").calling(progress, mover1).create("backup/backup-2").phases("Queued").wait(time.Hour).
				rest(trace.Rest{Copy: "api"}).on("backup/backup-1").rest(trace.Rest{Copy: "api", Attempted: 1}).ends(trace.Bound),
			result: Fail,
			found: []brief{
				{"liveness", anEnd, "phase WaitingForPluginOperations, waiting for " + strings.Replace(ofPoll, "10s", "2m0s", 1)},
				{"liveness", anEnd, "phase Queued, waiting for its turn in the queue, since 2m0s"},
				{
					"contract", "example.io/mover Progress of operation mover-1 for configmaps/app/settings is given up by 12m0s",
					"it was called at 2m0s and went on until 1h2m0s",
				},
			},
		},
		{name: "one may run, in whatever namespace", change: apart(1), trace: queued(), result: KnownDeviation},
		{
			name: "the operations controller is held", change: two, trace: polled(), result: KnownDeviation,
		},
		{
			name: "the reading has it so", change: func(s *scenario.Scenario) {
				two(s)
				s.Expect.Phase = "Completed"
				s.Expect.Deviation = deviation(hangs, scenario.Outcome{Phase: "WaitingForPluginOperations"})
			}, trace: polled(), result: KnownDeviation,
		},
		{
			name: "it says by which", expect: scenario.Outcome{Phase: "Completed", Errors: new(1)}, change: two, trace: polled(), result: Fail,
			found: []brief{
				{"expectation", "phase Completed", "phase WaitingForPluginOperations"},
				{"expectation", "1 errors", "0 errors"},
				{
					"liveness", anEnd, "phase WaitingForPluginOperations, waiting for operation mover-1 of example.io/mover on configmaps/app/settings, since 0s, until 4h0m0s; " +
						"held by backup/backup-2, which waits for " + ofPoll,
				},
				{"liveness", anEnd, "phase WaitingForPluginOperations, waiting for " + ofPoll},
				{
					"contract", "example.io/mover Progress of operation mover-1 for configmaps/app/settings is given up by 10m10s",
					"it was called at 10s and went on until 1h0m10s",
				},
			},
		},
		{
			name: "it is held by what plugins are asked for no object", trace: begin().phases("Queued", "ReadyToStart", "InProgress").on("").calling("AppliesTo", "").
				wait(time.Hour).on("backup/backup-1").rest(trace.Rest{Copy: "api"}).ends(trace.Bound), result: KnownDeviation,
		},
	} {
		j.run(t)
	}
}

// sameIDs are two backups that wait for an operation each, of the same ID.
func sameIDs() *script {
	s := begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).progress(mover1, trace.Progress{}).phases("WaitingForPluginOperations")
	return s.create("backup/backup-2").phases("Queued", "ReadyToStart", "InProgress").execute(mover1).progress(mover1, trace.Progress{}).
		phases("WaitingForPluginOperations").wait(10 * time.Second)
}

// TestPollsOfOthers: an operation need not be cancelled while Velero asks after another object's.
func TestPollsOfOthers(t *testing.T) {
	cancelled := func(after time.Duration) trace.Trace {
		s := sameIDs().wait(4*time.Hour-20*time.Second).on("backup/backup-1").progress(mover1, trace.Progress{}).wait(5 * time.Second)
		s.on("backup/backup-2").calling(progress, mover1).wait(5 * time.Minute).returns(trace.Return{Progress: &trace.Progress{Completed: true}})
		s.phases("Finalizing", "Completed").rests(1, 0).wait(after)
		return s.on("backup/backup-1").progress(mover1, trace.Progress{}).cancel(mover1).phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles()
	}
	for _, j := range []judged{
		{name: "soon after", trace: cancelled(5 * time.Second), result: Pass},
		{
			name: "long after", trace: cancelled(time.Minute), result: Fail,
			found: []brief{{
				"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s", "no Cancel by 4h5m55s",
			}},
		},
	} {
		j.change = two
		j.run(t)
	}
}

// TestDeletionRequest: one that is InProgress in the end has been passed over, since a write of it failed or its server died.
func TestDeletionRequest(t *testing.T) {
	to := func(s *script, p string) *script {
		return s.add("deletebackuprequest/backup-1-x7k2p", trace.Body{Phase: &trace.Phase{To: p}})
	}
	begun := func() *script { return to(deleting(), "InProgress").deleted() }
	for _, test := range []struct {
		name  string
		trace trace.Trace
		rules []string
	}{
		{"it is processed", to(begun(), "Processed").settles(), nil},
		{"it is removed", begun().add("deletebackuprequest/backup-1-x7k2p", trace.Body{Deleted: &trace.Deleted{}}).settles(), nil},
		{"it stays InProgress", begun().ends(trace.Bound), []string{phase.DeletionRequestPassedOver}},
		{"the server has died", begun().restart(time.Second).ends(trace.Bound), []string{phase.DeletionForgottenByRestart}},
		{"the server had died before", to(deleting().restart(time.Second), "InProgress").deleted().ends(trace.Bound), []string{phase.DeletionRequestPassedOver}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := expecting(scenario.Outcome{Phase: scenario.Deleted})
			faulty(scenario.Do{Delete: "backup/backup-1"})(s)
			v := unpredicted(s, test.trace)
			if diff := cmp.Diff(test.rules, v.Deviations); diff != "" || test.rules == nil && v.Result != Pass {
				t.Errorf("%s, %v; deviations (-want +got):\n%s", v.Result, v.Findings, diff)
			}
		})
	}
}
