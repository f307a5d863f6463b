package verdict

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestStaleReads: what follows one is explained, and nothing else.
func TestStaleReads(t *testing.T) {
	restored := func(s *script) *script {
		return s.on("restore/restore-1").add("restore/restore-1", trace.Body{Created: &trace.Created{Backup: "backup-1", ItemOperationTimeout: trace.Time(4 * time.Hour)}})
	}
	backedUp := func() *script { return restored(begin().completes().rests(0, 0).wait(time.Second)) }
	fails := func() *script {
		return waiting().progress(mover1, trace.Progress{Completed: true, Error: "boom"}).phases("FinalizingPartiallyFailed")
	}
	rests := func(s *script) *script {
		r := trace.Rest{Copy: "api", Errors: 1, Attempted: 1, Failed: 1, Ended: true}
		s.rest(r)
		r.Copy, r.Operations = "store", []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Failed", Error: "boom"}}
		return s.rest(r)
	}
	again := func() *script {
		return backedUp().phases("InProgress").execute(mover1).progress(mover1, trace.Progress{}).phases("WaitingForPluginOperations").
			wait(time.Second).phases("InProgress", "Finalizing", "Completed").rest(trace.Rest{Copy: "api", Ended: true}).rest(trace.Rest{Copy: "store"})
	}
	twoErrors := func(counted int) trace.Trace {
		s := begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).execute("mover-2").phases("WaitingForPluginOperations")
		r := trace.Rest{Copy: "api", Errors: 1, Attempted: 2, Failed: 2, Ended: true}
		stored := r
		stored.Copy = "store"
		for i, id := range []string{mover1, "mover-2"} {
			s.wait(10*time.Second).progress(id, trace.Progress{Completed: true, Error: "boom"})
			change := fmt.Sprintf(`{"status":{"errors":%d}}`, []int{1, counted}[i])
			s.add(s.object, trace.Body{Write: &trace.Write{Client: "backup-operations", Verb: "patch", Resource: "backups", Name: "velero/backup-1", Change: change}})
			s.phases([]string{"WaitingForPluginOperationsPartiallyFailed", "FinalizingPartiallyFailed"}[i])
			stored.Operations = append(stored.Operations, trace.Operation{ID: id, Plugin: mover, Item: item, Phase: "Failed", Error: "boom"})
		}
		return s.phases("PartiallyFailed").rest(r).rest(stored).settles()
	}
	refused := func(t trace.Trace) trace.Trace {
		for _, e := range t.Events {
			if e.Write != nil && e.Write.Change == `{"status":{"errors":2}}` {
				e.Write.Error = "the server is currently unable to handle the request"
			}
		}
		return t
	}
	orphan := func(verb string) *script {
		s := begin().completes().access(verb, "backups/backup-1/velero-backup.json", "")
		s.add(s.object, trace.Body{Write: &trace.Write{Client: "backup-sync", Verb: "delete", Resource: "backups", Name: "velero/backup-1"}})
		return s.deleted().wait(time.Minute)
	}
	restores := func(o scenario.Outcome) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { withRestore(s); s.Expect.Outcome = o }
	}
	kept := func(from, to string) brief {
		return brief{
			"conformance", "final-phase-is-kept: A final phase is not left, other than by a backup that is deleted.",
			from + " → " + to + "; by the plugins' replies, 0 operations attempted, 0 completed, 0 failed",
		}
	}
	both := []string{phase.StaleReadActedUpon, restoresUnfinished}
	for _, test := range []struct {
		judged
		deviations []string
	}{
		{judged: judged{
			name: "a restore is run again, and loses an operation", change: restores(scenario.Outcome{Phase: "Completed", Operations: &scenario.Operations{Attempted: 1, Completed: 1}}),
			trace: again().settles(), result: KnownDeviation,
		}},
		{judged: judged{
			name: "it has failed twice", change: restores(scenario.Outcome{Phase: "Failed", Path: []string{"InProgress", "Failed"}}), result: KnownDeviation,
			trace: backedUp().phases("InProgress", "Failed", "InProgress", "Failed").rest(trace.Rest{Copy: "api"}).settles(),
		}},
		{judged: judged{
			name: "it was rejected, and is run then", change: restores(scenario.Outcome{Phase: "FailedValidation"}), result: KnownDeviation,
			trace: backedUp().phases("FailedValidation", "InProgress", "Finalizing", "Completed").rests(0, 0).settles(),
		}},
		{judged: judged{
			name: "it never ends", change: restores(scenario.Outcome{Phase: "Completed"}), result: KnownDeviation,
			trace: backedUp().phases("InProgress", "Finalizing", "InProgress").wait(5 * time.Hour).rest(trace.Rest{Copy: "api"}).ends(trace.Bound),
		}},
		{judged: judged{
			name: "a failed operation, and the backup is Completed", expect: scenario.Outcome{Phase: "PartiallyFailed"}, result: KnownDeviation,
			trace: rests(fails().phases("Finalizing", "Completed")).settles(),
		}},
		{judged: judged{
			name: "both finalizers go on", expect: scenario.Outcome{Phase: "PartiallyFailed"}, result: KnownDeviation,
			trace: rests(fails().phases("Finalizing", "PartiallyFailed", "Completed")).settles(),
		}},
		{judged: judged{
			name: "of the backup that is restored", change: restores(scenario.Outcome{Phase: "Completed", Errors: new(1)}), result: KnownDeviation,
			trace: restored(rests(fails().phases("Finalizing", "Completed"))).completes().rests(0, 0).settles(),
		}},
		{
			deviations: both,
			judged: judged{
				name: "of the restore of a backup that has not ended", change: restores(scenario.Outcome{Phase: "FailedValidation"}), result: KnownDeviation,
				trace: restored(waiting()).phases("InProgress", "Finalizing").wait(time.Second).phases("InProgress", "Finalizing", "Completed").rests(0, 0).
					on("backup/backup-1").progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).settles(),
			},
		},
		{judged: judged{
			name: "an error is counted over another", expect: scenario.Outcome{Phase: "PartiallyFailed"}, result: KnownDeviation,
			trace: twoErrors(1),
		}},
		{deviations: []string{failureForgotten}, judged: judged{
			name: "an error whose patch was refused is forgotten", expect: scenario.Outcome{Phase: "PartiallyFailed"}, result: KnownDeviation,
			trace: refused(twoErrors(2)),
		}},
		{judged: judged{
			name: "an error is not counted", expect: scenario.Outcome{Phase: "PartiallyFailed"}, result: Fail,
			trace: twoErrors(2),
			found: []brief{{
				"accounting", "errors-cover-failed-operations: After the finalizer there are at least as many errors as failed operations.",
				"phase PartiallyFailed, 1 errors, 0 warnings, operations: 2 attempted, 0 completed, 2 failed, a completionTimestamp",
			}},
		}},
		{judged: judged{
			name: "a sync takes it for an orphan", expect: scenario.Outcome{Phase: "Completed"}, result: KnownDeviation,
			trace: orphan("put").phases("Completed").rests(0, 0).settles(),
		}},
		{judged: judged{
			name: "an orphan", expect: scenario.Outcome{Phase: "Completed"}, result: Fail,
			trace: orphan("delete").phases("Completed").rests(0, 0).settles(),
			found: []brief{{"conformance", "the object is deleted as somebody asks for it", "it was gone in phase Completed"}},
		}},
		{judged: judged{
			name: "what no stale read explains", expect: scenario.Outcome{Phase: "Completed"}, result: Fail,
			trace: begin().completes().phases("Queued").rest(trace.Rest{Copy: "api"}).settles(),
			found: []brief{
				{"expectation", "phase Completed", "phase Queued"},
				{"conformance", "a change of phase that demanded allows a backup", "Completed → Queued"},
				kept("Completed", "Queued"),
				{"liveness", anEnd, "phase Queued, waiting for its turn in the queue, since 0s"},
			},
		}},
		{judged: judged{
			name: "a backup is not run again", result: Fail,
			trace: begin().completes().phases("InProgress", "Finalizing", "Completed").rests(0, 0).settles(),
			found: []brief{{"conformance", "a change of phase that demanded allows a backup", "Completed → InProgress"}, kept("Completed", "InProgress")},
		}},
		{judged: judged{
			name: "what came before", result: Fail, change: restores(scenario.Outcome{Path: []string{"InProgress", "FinalizingPartiallyFailed", "PartiallyFailed"}}),
			trace: backedUp().phases("InProgress", "Finalizing").wait(time.Second).phases("InProgress", "Finalizing", "Completed").rests(0, 0).settles(),
			found: []brief{{
				"expectation", "path InProgress → FinalizingPartiallyFailed → PartiallyFailed",
				"path InProgress → Finalizing → InProgress → Finalizing → Completed",
			}},
		}},
		{judged: judged{
			name: "another object", result: Fail,
			change: func(s *scenario.Scenario) {
				restores(scenario.Outcome{Phase: "Completed"})(s)
				s.Expect.Objects = map[string]scenario.Outcome{"backup/backup-1": {Errors: new(1)}}
			},
			trace: again().settles(),
			found: []brief{{"expectation", "1 errors", "0 errors"}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := expecting(test.expect)
			if test.change != nil {
				test.change(s)
			}
			v := unpredicted(s, test.trace)
			var unexplained []brief
			for _, f := range v.Findings {
				if len(f.Rules) == 0 {
					unexplained = append(unexplained, brief{f.Oracle, f.Expected, f.Seen})
				}
			}
			if test.deviations == nil && test.result == KnownDeviation {
				test.deviations = []string{phase.StaleReadActedUpon}
			}
			if v.Result != test.result || !slices.Equal(v.Deviations, test.deviations) {
				t.Errorf("%s %v, want %s %v", v.Result, v.Deviations, test.result, test.deviations)
			}
			if diff := cmp.Diff(test.found, unexplained); diff != "" {
				t.Errorf("findings that no rule explains (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPathUntilAStaleRead: the way of an object up to a stale read is explained by what is predicted.
func TestPathUntilAStaleRead(t *testing.T) {
	r := fold(moving(nil), begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").settles())
	r.stale = map[string]int{"backup/backup-1": r.find("backup/backup-1").changes[3].event}
	for _, test := range []struct {
		path    model.Path
		follows bool
	}{
		{model.Path{phase.Queued, phase.ReadyToStart, phase.InProgress, phase.Finalizing, phase.Completed}, true},
		{model.Path{phase.Queued, phase.ReadyToStart, phase.FailedValidation}, false},
		{model.Path{phase.Queued}, false},
	} {
		p := &model.Prediction{Paths: []model.Path{test.path}}
		if got := r.followsPath(r.find("backup/backup-1"), p); got != test.follows {
			t.Errorf("%s: %t", test.path, got)
		}
	}
}
