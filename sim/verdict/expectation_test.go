package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestExpectationBites(t *testing.T) {
	for _, j := range []judged{
		{
			name:   "wrong phase",
			expect: scenario.Outcome{Phase: "PartiallyFailed"},
			trace:  healthy().rests(1, 0).settles(),
			found:  []brief{{"expectation", "phase PartiallyFailed", "phase Completed"}},
		},
		{
			name:   "wrong path",
			expect: scenario.Outcome{Path: []string{"Queued", "InProgress", "Completed"}},
			trace:  healthy().rests(1, 0).settles(),
			found: []brief{{
				"expectation", "path Queued → InProgress → Completed",
				"path Queued → ReadyToStart → InProgress → WaitingForPluginOperations → Finalizing → Completed",
			}},
		},
		{
			name:   "wrong counts",
			expect: scenario.Outcome{Operations: &scenario.Operations{Attempted: 2, Completed: 1, Failed: 1}},
			trace:  healthy().rests(1, 0).settles(),
			found: []brief{{
				"expectation", "operations: 2 attempted, 1 completed, 1 failed", "operations: 1 attempted, 1 completed, 0 failed",
			}},
		},
		{
			name:   "cancelled though nothing should be",
			expect: scenario.Outcome{Cancelled: &[]string{}},
			trace:  timesOut().rests(0, 1).settles(),
			found:  []brief{{"expectation", "Cancel called on operations of none", mover}},
		},
		{
			name:   "not cancelled",
			expect: scenario.Outcome{Cancelled: &[]string{mover}},
			trace:  healthy().rests(1, 0).settles(),
			found:  []brief{{"expectation", "Cancel called on operations of " + mover, "none"}},
		},
		{
			name:   "cancelled one of two operations",
			expect: scenario.Outcome{Cancelled: &[]string{mover, mover}},
			trace:  timesOut().rests(0, 1).settles(),
			found:  []brief{{"expectation", "Cancel called on operations of " + mover + " (2 times)", mover}},
		},
		{
			name:   "cancelled two operations of a plugin instead of one",
			expect: scenario.Outcome{Cancelled: &[]string{mover}},
			trace:  many(2, 2, 0).rests(0, 2).settles(),
			found:  []brief{{"expectation", "Cancel called on operations of " + mover, mover + " (2 times)"}},
		},
		{
			name:   "item not updated",
			expect: scenario.Outcome{Updated: &[]scenario.Item{item}},
			trace:  healthy().rests(1, 0).settles(),
			found:  []brief{{"expectation", "backed up again: " + item, "none"}},
		},
		{
			name:   "too late",
			expect: scenario.Outcome{Within: scenario.Duration{Duration: time.Hour}},
			trace:  healthy().rests(1, 0).settles(),
			found:  []brief{{"expectation", "last phase within 1h0m0s of its creation", "1h0m10s"}},
		},
		{
			name:   "the backup failed, so that the restore was never created",
			expect: scenario.Outcome{Phase: "Completed"},
			change: withRestore,
			trace: begin().phases("Queued", "ReadyToStart", "InProgress", "Failed").
				rest(trace.Rest{Copy: "api"}).settles(),
			found: []brief{{"expectation", "phase Completed", "it was never created"}},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}

func TestWithinIsJudgedInVirtualTimeOnly(t *testing.T) {
	slow := healthy().rests(1, 0).settles()
	slow.Header.Scale = 0.01
	judged{name: "scaled", expect: scenario.Outcome{Within: scenario.Duration{Duration: time.Hour}}, trace: slow, result: Pass}.run(t)
}

// Velero 1.14 has no queue: a backup that waits for another is still new.
func TestWhatWaitsInNoQueueIsNew(t *testing.T) {
	for waiting, found := range map[bool]int{true: 0, false: 1} {
		b := begin()
		if !waiting {
			b.phases("InProgress")
		}
		s := expecting(scenario.Outcome{Phase: "Queued"})
		r := fold(s, b.rests(0, 0).settles())
		rules, err := phase.ForRelease("1.14.0")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.expectation("backup/backup-1", s.Expect.Outcome, rules); len(got) != found {
			t.Errorf("waiting %v: %v", waiting, got)
		}
	}
}
