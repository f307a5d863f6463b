package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// rested are both copies of an object at rest, with these operations stored.
func rested(s *script, operations ...trace.Operation) trace.Trace {
	r := trace.Rest{Copy: "api", Ended: true, Attempted: len(s.operations)}
	for _, op := range operations {
		switch op.Phase {
		case "Completed":
			r.Completed++
		case "Failed":
			r.Failed++
		}
	}
	r.Errors = r.Failed
	s.rest(r)
	r.Copy, r.Operations = "store", operations
	return s.rest(r).settles()
}

func storedAs(phase string) trace.Operation {
	return trace.Operation{ID: mover1, Plugin: mover, Item: item, Phase: phase}
}

const (
	ofMover = "operation mover-1 of example.io/mover for configmaps/app/settings"
	lost    = "operations-stay-known: " + ofMover + ", which Execute started, is stored"
	strange = "stored operations that Execute started"
)

func TestStoredOperations(t *testing.T) {
	done := trace.Progress{Done: 10, Of: 10, Completed: true}
	broke := trace.Progress{Completed: true, Error: "boom"}
	partially := func(s *script) *script { return s.phases("FinalizingPartiallyFailed", "PartiallyFailed") }
	other1 := trace.Operation{ID: mover1, Plugin: other, Item: item, Phase: "Completed"}
	with := func(change func(*trace.Operation)) trace.Operation {
		op := storedAs("Completed")
		change(&op)
		return op
	}
	for _, j := range []judged{
		{
			name:  "another ID",
			trace: rested(healthy(), with(func(op *trace.Operation) { op.ID = "mover-2" })),
			found: []brief{
				{"accounting", strange, "operation mover-2 of example.io/mover for configmaps/app/settings"},
				{"accounting", lost, "it is not"},
			},
		},
		{
			name:  "another plugin",
			trace: rested(healthy(), other1),
			found: []brief{
				{"accounting", strange, "operation mover-1 of example.io/other for configmaps/app/settings"},
				{"accounting", lost, "it is not"},
			},
		},
		{
			name:  "another item",
			trace: rested(healthy(), with(func(op *trace.Operation) { op.Item = "secrets/x/y" })),
			found: []brief{
				{"accounting", strange, "operation mover-1 of example.io/mover for secrets/x/y"},
				{"accounting", lost, "it is not"},
			},
		},
		{
			name:  "one is stored twice, and another not at all",
			trace: rested(sameID().progress(mover1, done).of(mover).progress(mover1, done).phases("Finalizing", "Completed"), storedAs("Completed"), storedAs("Completed")),
			found: []brief{
				{"accounting", strange, ofMover},
				{"accounting", "operations-stay-known: operation mover-1 of example.io/other for configmaps/app/settings, which Execute started, is stored", "it is not"},
			},
		},
		{
			name: "of a restore, which has no stored copy else", change: withRestore,
			trace: func() trace.Trace {
				s := healthy().rests(1, 0).create("restore/restore-1").phases("InProgress").execute(mover1).progress(mover1, done)
				return s.phases("Finalizing", "Completed").rest(trace.Rest{Copy: "api", Attempted: 1, Completed: 1, Ended: true}).settles()
			}(),
			found: []brief{{"accounting", lost, "it is not"}},
		},
		{
			name: "a strange one of a backup that failed",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").rest(trace.Rest{Copy: "api"}).
				rest(trace.Rest{Copy: "store", Operations: []trace.Operation{storedAs("New")}}).settles(),
			found: []brief{{"accounting", strange, ofMover}},
		},
		{
			name: "the completed one is stored as failed, and the failed one as completed",
			trace: rested(partially(sameID().progress(mover1, broke).of(mover).progress(mover1, done)),
				storedAs("Failed"), other1),
			found: []brief{
				{"accounting", ofMover + " is stored as its plugin's calls say: completed", "phase Failed"},
				{"accounting", "operation mover-1 of example.io/other for configmaps/app/settings is stored as its plugin's calls say: failed", "phase Completed"},
			},
		},
		{
			name:  "stored as completed, when Progress has errors",
			trace: rested(partially(waiting().progress(mover1, trace.Progress{Completed: true, Error: "no space"})), storedAs("Completed")),
			found: []brief{{"accounting", ofMover + " is stored as its plugin's calls say: failed", "phase Completed"}},
		},
		{
			name:  "stored as completed, when it was cancelled",
			trace: rested(timesOut(), storedAs("Completed")),
			found: []brief{{"accounting", ofMover + " is stored as its plugin's calls say: cancelled", "phase Completed"}},
		},
		{
			name:  "stored as running, when it has completed",
			trace: rested(healthy(), storedAs("InProgress")),
			found: []brief{
				{
					"accounting", "finalized-counts-add-up: After the finalizer, attempted = completed + failed, unless operations were abandoned.",
					"phase Completed, 0 errors, 0 warnings, operations: 1 attempted, 0 completed, 0 failed, a completionTimestamp",
				},
				{"accounting", ofMover + " is stored as its plugin's calls say: completed", "phase InProgress"},
			},
		},
	} {
		j.result = Fail
		j.run(t)
	}
	for _, j := range []judged{
		{name: "its plugin says that it failed", trace: rested(partially(waiting().progress(mover1, broke)), storedAs("Failed"))},
		{name: "it was cancelled, and Cancel had an error", trace: rested(partially(waiting().wait(4*time.Hour).calling(cancel, mover1).returns(trace.Return{Error: "no"})), storedAs("Failed"))},
		{
			name:  "a kill lost that it completed, and its plugin forgot it",
			trace: rested(partially(waiting().progress(mover1, done).restart(time.Second).progress(mover1, trace.Progress{Completed: true, Error: "forgotten"})), storedAs("Failed")),
		},
		{
			name:  "a kill lost the call of Cancel, and then it completed",
			trace: rested(waiting().wait(4*time.Hour).calling(cancel, mover1).restart(time.Second).progress(mover1, done).phases("Finalizing", "Completed"), storedAs("Completed")),
		},
		{
			name: "the second server has run the backup",
			trace: rested(begin().phases("Queued", "ReadyToStart").restart(time.Second).phases("InProgress").execute(mover1).
				progress(mover1, done).phases("Finalizing", "Completed"), storedAs("Completed")),
		},
	} {
		j.result = Pass
		j.run(t)
	}
}

// TestLostOperationsFile: only the deviation that loses operations excuses that they are lost.
func TestLostOperationsFile(t *testing.T) {
	s := expecting(scenario.Outcome{Phase: "PartiallyFailed"})
	s.Expect.Deviation = deviation(phaseLosing, scenario.Outcome{Phase: "Completed"})
	if v := unpredicted(s, rested(waiting().fault("lost").phases("Finalizing", "Completed"))); v.Result != KnownDeviation {
		t.Errorf("lost: %s, findings %v", v.Summary(), briefs(v))
	}
	strange := storedAs("Completed")
	strange.ID = "someone-elses"
	if v := unpredicted(s, rested(waiting().fault("lost").phases("Finalizing", "Completed"), strange)); v.Result != Fail {
		t.Errorf("another instead: %s, findings %v", v.Summary(), briefs(v))
	}
}

const phaseLosing = "missing-operations-read-as-none"
