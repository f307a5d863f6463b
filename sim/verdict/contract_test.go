package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

const neverStarted = "Progress and Cancel of operations that Execute has started for the object"

func TestContractBites(t *testing.T) {
	for _, j := range []judged{
		{
			name: "no Cancel while the backup waits",
			trace: waiting().wait(4*time.Hour).progress(mover1, trace.Progress{}).wait(10*time.Second).progress(mover1, trace.Progress{}).
				wait(10*time.Second).progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{
				"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
				"no Cancel by 4h0m30s",
			}},
		},
		{
			name: "no Cancel long after the object store was out of reach", change: faulty(scenario.Do{Outage: scenario.Duration{Duration: 11 * time.Hour}}),
			trace: waiting().fault("fault-1").wait(12*time.Hour).progress(mover1, trace.Progress{}).wait(10*time.Second).progress(mover1, trace.Progress{}).
				wait(10*time.Second).progress(mover1, trace.Progress{}).wait(10*time.Second).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{
				"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
				"no Cancel by 12h0m40s",
			}},
		},
		{
			name: "no Cancel in the poll that gives the operation up",
			trace: waiting().wait(4*time.Hour).progress(mover1, trace.Progress{}).
				phases("FinalizingPartiallyFailed").ends(""),
			found: []brief{
				{
					"conformance", "nothing-finalizes-while-operations-run: Finalizing begins when every operation has completed or failed, unless they were abandoned.",
					"WaitingForPluginOperations → FinalizingPartiallyFailed; by the plugins' replies, 1 operations attempted, 0 completed, 0 failed",
				},
				{
					"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
					"no Cancel by 4h0m10s",
				},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
		{
			name:  "no Cancel, but stored as timed out",
			trace: waiting().progress(mover1, trace.Progress{Completed: true, Error: "no space"}).phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
			found: []brief{{
				"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, stored as timed out", "no Cancel",
			}},
		},
		{
			name: "two Cancels in an incarnation",
			trace: waiting().wait(4*time.Hour).progress(mover1, trace.Progress{}).cancel(mover1).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
			found: []brief{{
				"contract", "one Cancel of operation mover-1 of example.io/mover per server incarnation", "another in incarnation 1",
			}},
		},
		{
			name: "Cancel before the timeout",
			trace: waiting().wait(4*time.Hour-12*time.Second).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
			found: []brief{{
				"contract", "no Cancel of operation mover-1 of example.io/mover before it times out at 4h0m0s", "Cancel was called at 3h59m58s",
			}},
		},
		{
			name: "no Cancel in passes that follow each other at once",
			trace: waiting().wait(4*time.Hour).progress(mover1, trace.Progress{}).wait(time.Second).progress(mover1, trace.Progress{}).
				wait(time.Second).progress(mover1, trace.Progress{}).wait(time.Second).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
			found: []brief{{
				"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
				"no Cancel by 4h0m12s",
			}},
		},
		{
			name: "no Cancel, as Velero stops asking before the end of the pass",
			trace: waiting().wait(4*time.Hour-20*time.Second).progress(mover1, trace.Progress{}).wait(time.Hour).
				rest(trace.Rest{Copy: "api", Phase: "WaitingForPluginOperations", Attempted: 1}).ends(""),
			found: []brief{
				{
					"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
					"no Cancel by 4h59m50s",
				},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
		{
			name: "no Cancel of an operation whose Progress has errors at its timeout, and then says that it runs",
			trace: waiting().wait(4*time.Hour).progressErrs(mover1).wait(10*time.Second).progress(mover1, trace.Progress{}).wait(10*time.Second).
				progress(mover1, trace.Progress{}).wait(10*time.Second).progress(mover1, trace.Progress{}).wait(10*time.Second).
				progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{
				"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s",
				"no Cancel by 4h0m50s",
			}},
		},
		{
			name: "no Cancel of one plugin's operation, when another's has the same ID",
			trace: sameID().of(mover).wait(4*time.Hour+10*time.Second).progress(mover1, trace.Progress{}).cancel(mover1).
				of(other).progress(mover1, trace.Progress{}).phases("FinalizingPartiallyFailed").ends(""),
			found: []brief{
				{
					"conformance", "nothing-finalizes-while-operations-run: Finalizing begins when every operation has completed or failed, unless they were abandoned.",
					"WaitingForPluginOperations → FinalizingPartiallyFailed; by the plugins' replies, 2 operations attempted, 0 completed, 1 failed",
				},
				{
					"contract", "Cancel of operation mover-1 of example.io/other for configmaps/app/settings, which timed out at 4h0m0s",
					"no Cancel by 4h0m10s",
				},
				{"completeness", "a whole trace", "it is cut off: it has no end"},
			},
		},
		{
			name: "no Cancel of one plugin's operation that is stored as timed out, when another's has the same ID",
			trace: sameID().wait(4*time.Hour).cancel(mover1).of(mover).progress(mover1, trace.Progress{Completed: true, Error: "no space"}).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 2).settles(),
			found: []brief{{"contract", "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, stored as timed out", "no Cancel"}},
		},
		{
			name: "Cancel of a completed operation",
			trace: waiting().progress(mover1, trace.Progress{Completed: true}).restart(time.Second).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
			found: []brief{{"contract", "no Cancel of operation mover-1 of example.io/mover, which has ended", "Cancel was called"}},
		},
		{
			name:  "Cancel after the backup has ended, of which the store knows nothing",
			trace: healthy().restart(time.Second).cancel(mover1).rests(1, 0).settles(),
			found: []brief{{"contract", "no Cancel of operation mover-1 of example.io/mover, which has ended", "Cancel was called"}},
		},
		{
			name: "Progress after the end",
			trace: waiting().progress(mover1, trace.Progress{Completed: true}).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{
				"contract", "no Progress of operation mover-1 of example.io/mover after its end", "Progress was called again in incarnation 1",
			}},
		},
		{
			name: "Progress after Cancel",
			trace: timesOut().progress(mover1, trace.Progress{Completed: true, Error: "cancelled"}).
				rests(0, 1).settles(),
			found: []brief{{
				"contract", "no Progress of operation mover-1 of example.io/mover after its end", "Progress was called again in incarnation 1",
			}},
		},
		{
			name: "Progress and Cancel of an operation that nobody started, told once",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").progress("ghost", trace.Progress{Done: 1}).cancel("ghost").
				phases("Finalizing", "Completed").rests(0, 0).settles(),
			found: []brief{{"contract", neverStarted, "Progress of operation ghost of example.io/mover"}},
		},
		{
			name: "Cancel of another plugin's operation",
			trace: waiting().of(other).cancel(mover1).of(mover).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{"contract", neverStarted, "Cancel of operation mover-1 of example.io/other"}},
		},
		{
			name: "Progress before Execute has returned",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").progress(mover1, trace.Progress{}).execute(mover1).
				progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{"contract", neverStarted, "Progress of operation mover-1 of example.io/mover"}},
		},
		{
			name: "Progress of another object's operation", change: withRestore,
			trace: healthy().rests(1, 0).create("restore/restore-1").phases("InProgress").progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(0, 0).settles(),
			found: []brief{{"contract", neverStarted, "Progress of operation mover-1 of example.io/mover"}},
		},
		{
			name:  "a plugin process outlives a graceful stop",
			trace: healthy().process(mover, "started").server("stopped").rests(1, 0).settles(),
			found: []brief{{"contract", "the process of plugin example.io/mover ends when the server stops", "1 still running"}},
		},
		{
			name:  "a call outlives a graceful stop",
			trace: healthy().calling(execute, "").server("stopped").rests(1, 0).settles(),
			found: []brief{{
				"contract", "the process of plugin example.io/mover ends when the server stops",
				"still in example.io/mover Execute for configmaps/app/settings, called at 1h0m10s",
			}},
		},
		{
			name: "an operation of another backup", change: two,
			trace: waiting().create("backup/backup-2").phases("Queued", "ReadyToStart", "InProgress").progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(0, 0).on("backup/backup-1").progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
			found: []brief{{"contract", neverStarted, "Progress of operation mover-1 of example.io/mover"}},
		},
		{
			name:  "a call for no object outlives a graceful stop",
			trace: healthy().on("").calling("AppliesTo", "").server("stopped").on("backup/backup-1").rests(1, 0).settles(),
			found: []brief{{
				"contract", "the process of plugin example.io/mover ends when the server stops", "still in example.io/mover AppliesTo, called at 1h0m10s",
			}},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}

func TestContractForgives(t *testing.T) {
	for _, j := range []judged{
		{
			name: "the plugin's own error, in Velero's words",
			trace: waiting().progress(mover1, trace.Progress{Completed: true, Error: timedOut}).phases("FinalizingPartiallyFailed", "PartiallyFailed").
				rest(trace.Rest{Copy: "api", Errors: 1, Attempted: 1, Failed: 1, Ended: true}).
				rest(trace.Rest{
					Copy: "store", Errors: 1, Attempted: 1, Failed: 1, Ended: true,
					Operations: []trace.Operation{{ID: mover1, Plugin: mover, Item: item, Phase: "Failed", Error: timedOut}},
				}).settles(),
		},
		{
			name: "the server was down at the timeout",
			trace: waiting().wait(4*time.Hour-5*time.Minute).restart(10*time.Minute).wait(10*time.Second).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
		},
		{
			name: "the object store was out of reach at the timeout", change: faulty(scenario.Do{Outage: scenario.Duration{Duration: 11 * time.Hour}}),
			trace: waiting().fault("fault-1").wait(12*time.Hour).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
		},
		{
			name: "the server was killed soon after the timeout, and again",
			trace: waiting().wait(4*time.Hour+5*time.Second).restart(time.Second).wait(15*time.Second).restart(time.Second).
				wait(10*time.Second).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
		},
		{
			name: "Cancel comes less than a second before the timeout, as Velero stores whole seconds",
			trace: waiting().wait(4*time.Hour-11*time.Second).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
		},
		{
			name:  "a pass takes longer than two polls",
			trace: many(250, 2, 200*time.Millisecond).rests(0, 250).settles(),
		},
		{
			name: "two plugins have operations of the same ID",
			trace: sameID().progress(mover1, trace.Progress{Completed: true}).wait(10*time.Second).
				of(mover).progress(mover1, trace.Progress{}).wait(10*time.Second).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(2, 0).settles(),
		},
		{
			name: "two plugins have operations of the same ID, and both are cancelled",
			trace: sameID().wait(4*time.Hour).cancel(mover1).of(mover).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 2).settles(),
		},
		{
			name: "an operation completes in the poll after its timeout",
			trace: waiting().wait(4*time.Hour).progress(mover1, trace.Progress{Completed: true}).
				phases("Finalizing", "Completed").rests(1, 0).settles(),
		},
		{
			name: "Progress again after a restart that lost the end",
			trace: waiting().progress(mover1, trace.Progress{Completed: true}).restart(time.Second).
				progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).settles(),
		},
		{
			name:  "a plugin process ended before the graceful stop",
			trace: healthy().process(mover, "started").process(mover, "killed").server("stopped").rests(1, 0).settles(),
		},
		{
			name: "a hung plugin process was killed before the graceful stop",
			trace: healthy().process(mover, "started").calling(execute, "").process(mover, "killed").server("stopped").
				rests(1, 0).settles(),
		},
		{
			name:  "a plugin process died with the server",
			trace: healthy().process(mover, "started").calling(execute, "").server("killed").rests(1, 0).settles(),
		},
		{
			name: "two backups have operations of the same ID, of which one is cancelled", change: two,
			trace: sameIDs().on("backup/backup-1").progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).
				on("backup/backup-2").wait(4*time.Hour).progress(mover1, trace.Progress{}).cancel(mover1).
				phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles(),
		},
		{
			name: "calls of methods that know no operation",
			trace: begin().phases("Queued", "ReadyToStart", "InProgress").on("").calling("AppliesTo", "").returns(trace.Return{}).
				on("backup/backup-1").execute("").calling("AreAdditionalItemsReady", "").returns(trace.Return{}).
				phases("Finalizing", "Completed").rests(0, 0).settles(),
		},
	} {
		j.result = Pass
		j.run(t)
	}
}
