package verdict

import (
	"testing"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestConformanceBites(t *testing.T) {
	_, unknown := phase.Parse("Paused")
	for _, j := range []judged{
		{
			name:  "an illegal edge",
			trace: begin().phases("Queued", "InProgress", "Failed").rest(trace.Rest{Copy: "api"}).settles(),
			found: []brief{{"conformance", "a change of phase that demanded allows a backup", "Queued → InProgress"}},
		},
		{
			name:  "a final phase is left",
			trace: healthy().phases("Failed").rest(trace.Rest{Copy: "api", Attempted: 1, Completed: 1}).settles(),
			found: []brief{
				{"conformance", "a change of phase that demanded allows a backup", "Completed → Failed"},
				{
					"conformance", "final-phase-is-kept: A final phase is not left, other than by a backup that is deleted.",
					"Completed → Failed; by the plugins' replies, 1 operations attempted, 1 completed, 0 failed",
				},
			},
		},
		{
			name:  "an unknown phase",
			trace: begin().phases("Queued", "Paused").rest(trace.Rest{Copy: "api"}).ends(trace.Bound),
			found: []brief{
				{"conformance", "a phase of sim/phase", unknown.Error()},
				{"liveness", "a final phase", "phase Paused, waiting for nothing"},
			},
		},
		{
			name:   "a phase that a restore never has, told once",
			change: withRestore,
			trace: healthy().rests(1, 0).create("restore/restore-1").phases("Queued").
				rest(trace.Rest{Copy: "api"}).settles(),
			found: []brief{
				{"conformance", "a change of phase that demanded allows a restore", "New → Queued"},
				{
					"conformance", "phase-belongs-to-kind: A restore is never Queued, ReadyToStart or Deleting.",
					"New → Queued; by the plugins' replies, 0 operations attempted, 0 completed, 0 failed",
				},
				{"liveness", "a final phase", "phase Queued, waiting for its turn in the queue, since 1h0m10s"},
			},
		},
		{
			name: "a change that nobody saw",
			trace: func() trace.Trace {
				s := begin().phases("Queued", "ReadyToStart")
				s.phase = "InProgress"
				return s.phases("Failed").rest(trace.Rest{Copy: "api"}).settles()
			}(),
			found: []brief{{"conformance", "a change from ReadyToStart, the phase it has", `a change from "InProgress"`}},
		},
		{
			name:  "finalized while an operation runs",
			trace: waiting().phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{
				{
					"conformance", "nothing-finalizes-while-operations-run: Finalizing begins when every operation has completed or failed, unless they were abandoned.",
					"WaitingForPluginOperations → Finalizing; by the plugins' replies, 1 operations attempted, 0 completed, 0 failed",
				},
				{
					"conformance", "finalized-counts-add-up: After the finalizer, attempted = completed + failed, unless operations were abandoned.",
					"Finalizing → Completed; by the plugins' replies, 1 operations attempted, 0 completed, 0 failed",
				},
				{"accounting", ofMover + " is stored as its plugin's calls say: running", "phase Completed"},
			},
		},
		{
			name:  "Completed with a failed operation, of whose error no event tells",
			trace: waiting().progress(mover1, trace.Progress{Completed: true, Error: "boom"}).phases("Finalizing", "Completed").ends(""),
			found: []brief{
				{
					"conformance", "finalizing-without-errors: An object with errors or failed operations is FinalizingPartiallyFailed, not Finalizing.",
					"WaitingForPluginOperations → Finalizing; by the plugins' replies, 1 operations attempted, 0 completed, 1 failed",
				},
				{
					"conformance", "failed-operation-means-not-completed: An object with a failed operation is not Completed.",
					"Finalizing → Completed; by the plugins' replies, 1 operations attempted, 0 completed, 1 failed",
				},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
		{
			name:  "the API rests in a phase that nobody wrote",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").rest(trace.Rest{Copy: "api", Phase: "Completed"}).settles(),
			found: []brief{{"conformance", "phase Failed at rest, the last one written", "phase Completed"}},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}

// TestStatesAreFollowed: each change of phase is one that the edges allow, and the state does not.
func TestStatesAreFollowed(t *testing.T) {
	for _, j := range []judged{
		{
			name:  "PartiallyFailed, though nothing that could be looked up is gone",
			trace: waiting().phases("PartiallyFailed").ends(""),
			found: []brief{
				{"conformance", "what demanded allows", "WaitingForPluginOperations → PartiallyFailed"},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
		{
			name:  "queued again without a restart",
			trace: begin().phases("Queued", "ReadyToStart", "Queued").ends(""),
			found: []brief{
				{"conformance", "what demanded allows: to Deleting or FailedValidation or InProgress", "ReadyToStart → Queued"},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
		{
			name:  "a failed Execute without an error",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").calling(execute, "").returns(trace.Return{Error: "no snapshot"}).phases("Finalizing").ends(""),
			found: []brief{
				{"conformance", "what demanded allows: to Failed or FinalizingPartiallyFailed", "InProgress → Finalizing"},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}

// TestUnfinishedBackups: a restore begins when its backup has ended.
func TestUnfinishedBackups(t *testing.T) {
	restoring := func(s *scenario.Scenario) {
		withRestore(s)
		s.Restores[0].At = &scenario.Point{Phase: "New", Object: "restore/restore-1"}
		s.Expect.Phase = "FailedValidation"
	}
	created := func(s *script) *script {
		return s.on("restore/restore-1").add("restore/restore-1", trace.Body{Created: &trace.Created{Backup: "backup-1"}})
	}
	restored := func(s *script) trace.Trace {
		return created(s).completes().rests(0, 0).on("backup/backup-1").deleted().settles()
	}
	before := func() *script {
		return created(waiting()).completes().rests(0, 0).on("backup/backup-1").progress(mover1, trace.Progress{Completed: true})
	}
	for _, j := range []judged{
		{name: "it waits", trace: before().phases("Finalizing", "Completed").rests(1, 0).settles(), result: KnownDeviation},
		{
			name: "it waits, and more is wrong", trace: before().phases("Finalizing", "Completed").rests(1, 0).deleted().settles(), result: Fail,
			found: []brief{
				{"expectation", "phase FailedValidation", "phase Completed"},
				{"conformance", "the object is deleted as somebody asks for it", "it was gone in phase Completed"},
				{"conformance", "no such object at rest, as it was deleted", "phase Completed"},
				{
					"conformance", "FailedValidation, as its backup is neither Completed nor PartiallyFailed",
					"InProgress, with backup/backup-1 in phase WaitingForPluginOperations",
				},
			},
		},
		{
			name:   "it has failed",
			trace:  created(begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").rest(trace.Rest{Copy: "api"})).completes().rests(0, 0).settles(),
			result: KnownDeviation,
		},
		{
			name: "it has ended, and is Deleting by now", change: faulty(scenario.Do{Delete: "backup/backup-1"}),
			trace: restored(begin().completes().fault("fault-1").phases("Deleting")), result: Fail,
			found: []brief{{"expectation", "phase FailedValidation", "phase Completed"}},
		},
	} {
		change := j.change
		j.change = func(s *scenario.Scenario) {
			restoring(s)
			if change != nil {
				change(s)
			}
		}
		j.run(t)
	}
}
