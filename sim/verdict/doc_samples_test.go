package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// sample is a finding of an oracle, for people to read.
type sample struct {
	source string // where the demand comes from
	about  string
	of     func() Verdict
}

// found is the verdict with one finding of the oracle alone.
func (s sample) found(t *testing.T, oracle string) string {
	t.Helper()
	v := s.of()
	i := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Oracle == oracle })
	if i < 0 {
		t.Fatalf("the sample of %s has no finding of it: %+v", oracle, briefs(v))
	}
	v.Findings = v.Findings[i : i+1]
	var b strings.Builder
	if err := v.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const api = "`pkg/apis/velero/v1`"

// samples are those of every oracle.
func samples() map[string]sample {
	completed := scenario.Outcome{Phase: "Completed"}
	playing := func(warnings int) trace.Trace {
		rest := trace.Rest{Copy: "api", Warnings: warnings, Ended: true}
		stored := rest
		stored.Copy = "store"
		return begin().completes().rest(rest).rest(stored).settles()
	}
	return map[string]sample{
		"expectation": {
			"the scenario, under `expect` ([scenario.md](scenario.md#expect)).",
			"The scenario expects Completed, and the operation has timed out:",
			func() Verdict { return unpredicted(expecting(completed), timesOut().rests(0, 1).settles()) },
		},
		"prediction": {
			"[sim/model](../sim/model/doc.go), which explores what the plugins and faults of the scenario can lead to in the machine of " +
				"[sim/phase](../sim/phase/doc.go).",
			"The backup waited, though the scenario's plugin starts no operation:",
			func() Verdict {
				return Judge(moving(func(s *scenario.Scenario) { s.Plugins[0].Operation = nil }), healthy().rests(1, 0).settles())
			},
		},
		"conformance": {
			"[sim/phase](../sim/phase/doc.go), which names the file and function of Velero's that makes each change of phase, and these invariants:",
			"A backup that was in the queue is InProgress without being ReadyToStart:",
			func() Verdict {
				return unpredicted(expecting(completed), begin().phases("Queued", "InProgress", "Failed").rest(trace.Rest{Copy: "api"}).settles())
			},
		},
		"liveness": {
			"`itemOperationTimeout` and the poll of Velero's `design/Implemented/general-progress-monitoring.md`. That calls have a deadline, and " +
				"that retries are bounded, is proposed by velosim. What is waited for: [bound.go](../sim/verdict/bound.go).",
			"A call of Progress never returns:",
			func() Verdict {
				return unpredicted(expecting(completed), waiting().wait(time.Hour).calling(progress, mover1).wait(2*time.Hour).
					rest(trace.Rest{Copy: "api", Attempted: 1}).ends(trace.Bound))
			},
		},
		"accounting": {
			"the comments of BackupStatus and RestoreStatus in Velero's " + api + ", and the invariants of sim/phase (see [conformance](#conformance)).",
			"The status counts two operations, and one was started:",
			func() Verdict {
				rest := trace.Rest{Copy: "api", Phase: "Completed", Attempted: 2, Completed: 1, Ended: true}
				stored := rest
				stored.Copy, stored.Operations = "store", []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Completed"}}
				return unpredicted(expecting(completed), healthy().rest(rest).rest(stored).settles())
			},
		},
		"contract": {
			"`design/Implemented/general-progress-monitoring.md` of Velero, and the comments of `pkg/plugin/velero/backupitemaction/v2` and " +
				"`restoreitemaction/v2`. The deadline of a call is proposed by velosim.",
			"Cancel was called twice by one server:",
			func() Verdict {
				return unpredicted(expecting(scenario.Outcome{Phase: "PartiallyFailed"}), waiting().wait(4*time.Hour).
					progress(mover1, trace.Progress{}).cancel(mover1).cancel(mover1).
					phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles())
			},
		},
		"panic": {
			"nobody asks for a panic. A panic of a plugin is none of this: Velero's plugin framework makes an error of it.",
			"A controller has panicked:",
			func() Verdict {
				return unpredicted(expecting(completed), healthy().add("backup/backup-1", trace.Body{Reconcile: &trace.Reconcile{
					Controller: "backup-finalizer", Error: "assignment to entry in nil map", Panic: true,
				}}).rests(1, 0).settles())
			},
		},
		"differential": {
			"velosim's own: a fault that Velero gets over leaves no trace of itself. `velosim sweep` judges by it.",
			"The same phases, but a warning more than in the run without the fault:",
			func() Verdict {
				s := expecting(scenario.Outcome{})
				s.Plugins = nil
				return Compare(s, playing(1), playing(0))
			},
		},
		"deviation": {
			"the rules of [sim/phase/rules.go](../sim/phase/rules.go), each with its source in Velero's code ([deviations.md](deviations.md)).",
			"The witness of a rule ends as users need it:",
			func() Verdict {
				s := expecting(completed)
				s.Expect.Deviation = deviation(hangs, scenario.Outcome{Phase: "WaitingForPluginOperations"})
				s.Metadata.Name = phase.Named(hangs).Witness
				fixed := healthy().rests(1, 0).settles()
				fixed.Header.Scenario = s.Metadata.Name
				return unpredicted(s, fixed)
			},
		},
		"completeness": {
			"velosim's own: a run that does not show what the scenario is about is no pass.",
			"A fault of the scenario never struck:",
			func() Verdict {
				s := expecting(completed)
				s.Faults = []scenario.Fault{{ID: "fault-1"}}
				return unpredicted(s, healthy().rests(1, 0).settles())
			},
		},
	}
}
