package verdict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestStuckWithoutAllFaults: a backup that the release leaves as it is, in a run in which not all that the scenario is about has come.
func TestStuckWithoutAllFaults(t *testing.T) {
	stays := func(s *script) trace.Trace {
		return s.wait(8 * time.Hour).rest(trace.Rest{Copy: "api"}).ends(trace.Bound)
	}
	never := func(s *scenario.Scenario) {
		s.Faults = append(s.Faults, scenario.Fault{
			ID: "fault-9", At: scenario.Point{Phase: "InProgress", Object: "backup/backup-1"}, Do: scenario.Do{Delete: "backup/backup-1"},
		})
	}
	kill := func(at string) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{
				ID: "fault-1", At: scenario.Point{Phase: at, Object: "backup/backup-1"}, Do: scenario.Do{Kill: &scenario.Kill{}},
			}}
			never(s)
		}
	}
	neverStruck := brief{"completeness", "fault fault-9 strikes", "it never did"}
	removed := func(s *scenario.Scenario) {
		two(s)
		withRestore(s)
		s.Restores[0].At = &scenario.Point{Store: &scenario.Access{Verb: "put", Key: "backups/backup-1/velero-backup.json"}}
		s.Faults = []scenario.Fault{{
			ID: "fault-1", At: scenario.Point{Phase: "ReadyToStart", Object: "backup/backup-1"}, Do: scenario.Do{Remove: "backup/backup-1"},
		}}
	}
	neverRestored := brief{
		"completeness", "its creation", "its point of creation was never passed: store put backups/backup-1/velero-backup.json, once",
	}
	refused := func(client, change, err string) trace.Trace {
		write := trace.Write{Client: client, Verb: "patch", Resource: "backups", Name: "velero/backup-1", Change: `{"status":{` + change + `}}`, Error: err}
		return stays(begin().phases("Queued", "ReadyToStart", "InProgress").fault("fault-1").add("backup/backup-1", trace.Body{Write: &write}))
	}
	outage := faulty(scenario.Do{APIOutage: scenario.Duration{Duration: time.Minute}})
	incomplete := brief{"expectation", "phase Completed", "phase InProgress"}
	running := brief{"liveness", anEnd, "phase InProgress, waiting for the server to go through the items, since 0s"}
	queued := brief{"liveness", anEnd, "phase Queued, waiting for its turn in the queue, since 0s"}
	for _, test := range []struct {
		name    string
		change  func(*scenario.Scenario)
		trace   trace.Trace
		unknown bool // nothing is predicted
		result  Result
		found   []brief
	}{
		{
			name: "ready when the server starts", change: kill("ReadyToStart"), unknown: true, result: Inconclusive, found: []brief{neverStruck},
			trace: stays(begin().phases("Queued", "ReadyToStart").fault("fault-1").restart(time.Minute)),
		},
		{
			name: "ready soon after the server starts, as is predicted without the fault that never struck", change: kill("Queued"),
			trace:  stays(begin().phases("Queued").fault("fault-1").restart(time.Minute).phases("ReadyToStart")),
			result: Inconclusive, found: []brief{neverStruck},
		},
		{
			name: "ready, and the server has not started since", change: never, result: Fail,
			trace: stays(begin().phases("Queued", "ReadyToStart")),
			found: []brief{{"liveness", anEnd, "phase ReadyToStart, waiting for the server to start it, since 0s"}, neverStruck},
		},
		{
			name: "behind one that was removed when it was ready", change: removed, unknown: true, result: Inconclusive, found: []brief{neverRestored},
			trace: stays(begin().phases("Queued", "ReadyToStart").fault("fault-1").deleted().create("backup/backup-2").phases("Queued")),
		},
		{
			name: "behind one that had run before the queue said that it is ready", unknown: true, result: Inconclusive, found: []brief{neverStruck},
			change: func(s *scenario.Scenario) { two(s); s.Plugins = nil; never(s) },
			trace:  stays(begin().completes().rests(0, 0).create("backup/backup-2").phases("Queued")),
		},
		{
			name: "the patch that ends its run was refused", change: outage, trace: refused("backup", `"phase":"Failed"`, "connection refused"),
			unknown: true, result: KnownDeviation, found: []brief{},
		},
		{
			name: "it has landed", change: outage, trace: refused("backup", `"phase":"Failed"`, ""),
			unknown: true, result: Fail, found: []brief{incomplete, running},
		},
		{
			name: "that of its progress was refused", change: outage, trace: refused("backup", `"progress":{"totalItems":2}`, "connection refused"),
			unknown: true, result: Fail, found: []brief{incomplete, running},
		},
		{
			name: "another's was refused", change: outage, trace: refused("backup-queue", `"phase":"ReadyToStart"`, "connection refused"),
			unknown: true, result: Fail, found: []brief{incomplete, running},
		},
		{
			name: "with a slot left", change: func(s *scenario.Scenario) { removed(s); s.Server.ConcurrentBackups = 2 }, unknown: true, result: Fail,
			trace: stays(begin().phases("Queued", "ReadyToStart").fault("fault-1").deleted().create("backup/backup-2").phases("Queued")),
			found: []brief{queued, neverRestored},
		},
		{
			name: "behind one that was removed when it was Queued", change: removed, unknown: true, result: Fail,
			trace: stays(begin().phases("Queued").fault("fault-1").deleted().create("backup/backup-2").phases("Queued")),
			found: []brief{queued, neverRestored},
		},
		{
			name: "behind one that was removed before the server started", change: removed, unknown: true, result: Fail,
			trace: stays(begin().phases("Queued", "ReadyToStart").fault("fault-1").deleted().restart(0).create("backup/backup-2").phases("Queued")),
			found: []brief{queued, neverRestored},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			judge := Judge
			if test.unknown {
				judge = unpredicted
			}
			v := judge(moving(test.change), test.trace)
			if diff := cmp.Diff(test.found, briefs(v)); diff != "" || v.Result != test.result {
				t.Errorf("%s, want %s; findings (-want +got):\n%s", v.Result, test.result, diff)
			}
		})
	}
}

// TestOverlookedIsReleased: what a release overlooks is no finding in its own reading.
func TestOverlookedIsReleased(t *testing.T) {
	r := fold(moving(nil), begin().phases("Queued", "ReadyToStart").restart(time.Minute).wait(8*time.Hour).ends(trace.Bound))
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	if found := r.liveness(reading{rules: release}); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := r.liveness(reading{rules: phase.Demanded()}); len(found) != 1 {
		t.Errorf("demanded: %+v", found)
	}
}
