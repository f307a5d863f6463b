package verdict

import (
	"testing"

	"github.com/velosim/velosim/sim/trace"
)

func TestAccountingBites(t *testing.T) {
	rests := func(change func(api, store *trace.Rest)) trace.Trace {
		api := trace.Rest{Copy: "api", Phase: "Completed", Attempted: 1, Completed: 1, Ended: true}
		store := api
		store.Copy, store.Operations = "store", []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Completed"}}
		change(&api, &store)
		s := healthy().rest(api)
		if store.Copy != "" {
			s.rest(store)
		}
		return s.settles()
	}
	both := func(change func(*trace.Rest)) trace.Trace {
		return rests(func(api, store *trace.Rest) { change(api); change(store) })
	}
	stored := "operations-stay-known: stored item operations that agree with the status: operations: "
	for _, j := range []judged{
		{
			name:  "no completionTimestamp",
			trace: both(func(r *trace.Rest) { r.Ended = false }),
			found: []brief{{"accounting", "a completionTimestamp, as it was finalized", "none"}},
		},
		{
			name: "a restore without completionTimestamp", change: withRestore,
			trace: healthy().rests(1, 0).create("restore/restore-1").phases("InProgress", "Finalizing", "Completed").rest(trace.Rest{Copy: "api"}).settles(),
			found: []brief{{"accounting", "a completionTimestamp, as it was finalized", "none"}},
		},
		{
			name:  "the status knows nothing of the operation, nor does the store",
			trace: both(func(r *trace.Rest) { r.Attempted, r.Completed, r.Operations = 0, 0, nil }),
			found: []brief{
				{"accounting", "1 operations attempted, as Execute started", "0"},
				{"accounting", "operations-stay-known: operation mover-1 of example.io/mover for configmaps/app/settings, which Execute started, is stored", "it is not"},
			},
		},
		{
			name:  "the status counts an operation that nobody started",
			trace: both(func(r *trace.Rest) { r.Attempted, r.Completed = 2, 2 }),
			found: []brief{
				{"accounting", stored + "2 attempted, 2 completed, 0 failed", "operations: 1 attempted, 1 completed, 0 failed"},
				{"accounting", "1 operations attempted, as Execute started", "2"},
			},
		},
		{
			name:  "counts do not add up",
			trace: both(func(r *trace.Rest) { r.Attempted = 2 }),
			found: []brief{
				{
					"accounting", "finalized-counts-add-up: After the finalizer, attempted = completed + failed, unless operations were abandoned.",
					"phase Completed, 0 errors, 0 warnings, operations: 2 attempted, 1 completed, 0 failed, a completionTimestamp",
				},
				{"accounting", stored + "2 attempted, 1 completed, 0 failed", "operations: 1 attempted, 1 completed, 0 failed"},
				{"accounting", "1 operations attempted, as Execute started", "2"},
			},
		},
		{
			name: "Completed with a failed operation",
			trace: both(func(r *trace.Rest) {
				r.Completed, r.Failed = 0, 1
				if r.Operations != nil {
					r.Operations[0].Phase = "Failed"
				}
			}),
			found: []brief{
				{
					"accounting", "failed-operation-means-not-completed: An object with a failed operation is not Completed.",
					"phase Completed, 0 errors, 0 warnings, operations: 1 attempted, 0 completed, 1 failed, a completionTimestamp",
				},
				{
					"accounting", "errors-cover-failed-operations: After the finalizer there are at least as many errors as failed operations.",
					"phase Completed, 0 errors, 0 warnings, operations: 1 attempted, 0 completed, 1 failed, a completionTimestamp",
				},
				{"accounting", ofMover + " is stored as its plugin's calls say: completed", "phase Failed"},
			},
		},
		{
			name:  "Completed with errors",
			trace: both(func(r *trace.Rest) { r.Errors = 1 }),
			found: []brief{{
				"accounting", "completed-without-errors: A Completed object has no errors.",
				"phase Completed, 1 errors, 0 warnings, operations: 1 attempted, 1 completed, 0 failed, a completionTimestamp",
			}},
		},
		{
			name:  "the stored copy was left behind",
			trace: rests(func(_, store *trace.Rest) { store.Phase, store.Ended = "Finalizing", false }),
			found: []brief{{
				"accounting", "stored-copy-agrees: the stored copy agrees with the resource: phase Completed, 0 errors, 0 warnings, operations: 1 attempted, 1 completed, 0 failed, a completionTimestamp",
				"phase Finalizing, 0 errors, 0 warnings, operations: 1 attempted, 1 completed, 0 failed, no completionTimestamp",
			}},
		},
		{
			name:  "no stored copy",
			trace: rests(func(_, store *trace.Rest) { store.Copy = "" }),
			found: []brief{{"accounting", "a stored copy (velero-backup.json)", "none"}},
		},
		{
			name:  "a stored operation still runs",
			trace: rests(func(_, store *trace.Rest) { store.Operations[0].Phase = "InProgress" }),
			found: []brief{
				{"accounting", stored + "1 attempted, 1 completed, 0 failed", "operations: 1 attempted, 0 completed, 0 failed"},
				{"accounting", ofMover + " is stored as its plugin's calls say: completed", "phase InProgress"},
			},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}
