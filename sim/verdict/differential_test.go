package verdict

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// patch is a write of the server that makes a version.
func (s *script) patch(object, change string, version int) *script {
	return s.add(object, trace.Body{Write: &trace.Write{
		Client: "backup", Verb: "patch", Resource: "backups", Name: "velero/backup-1", Change: change, ResourceVersion: fmt.Sprint(version),
	}})
}

// TestDifferences: a run is the one without the fault, but for some of it.
func TestDifferences(t *testing.T) {
	const (
		contents = "backups/backup-1/backup-1.tar.gz"
		counted  = `{"status":{"backupItemOperationsCompleted":1}}`
	)
	type parts struct {
		then     func(*script) // before it completes
		finished func(*script) // after it has
		path     []string
		rest     trace.Rest
	}
	play := func(p parts) trace.Trace {
		s := begin().patch("backup/backup-1", `{"status":{"phase":"Queued"}}`, 1).phases("Queued", "ReadyToStart", "InProgress").access("put", contents, "").
			patch("backup/backup-1", counted, 2)
		if p.then != nil {
			p.then(s)
		}
		if p.path == nil {
			p.path = []string{"Finalizing", "Completed"}
		}
		s.phases(p.path...)
		if p.finished != nil {
			p.finished(s)
		}
		p.rest.Copy = "api"
		return s.rest(p.rest).settles()
	}
	failedPre := []string{"FailedPreBackupActions"}
	for _, test := range []struct {
		name string
		run  parts
		want []string
	}{
		{"nothing", parts{}, nil},
		{"the path", parts{path: []string{"FinalizingPartiallyFailed", "PartiallyFailed"}, rest: trace.Rest{Errors: 1}}, nil},
		{"its warnings", parts{rest: trace.Rest{Warnings: 1}}, []string{
			"backup/backup-1: status as without the fault: {Copy:api Phase:Completed Errors:0 Warnings:0 Attempted:0 Completed:0 Failed:0 Ended:false Operations:[]}" +
				" | {Copy:api Phase:Completed Errors:0 Warnings:1 Attempted:0 Completed:0 Failed:0 Ended:false Operations:[]}",
		}},
		{"an object too many in the store", parts{then: func(s *script) { s.access("put", "backups/backup-1/extra", "") }}, []string{
			"backup/backup-1: stored objects as without the fault: none | velosim/backups/backup-1/extra",
		}},
		{"an object that is missing there", parts{then: func(s *script) { s.access("delete", contents, "") }}, []string{
			"backup/backup-1: stored objects as without the fault: velosim/" + contents + " | none",
		}},
		{"one that the fault kept out", parts{then: func(s *script) { s.access("put", contents, "no space").access("delete", contents, "") }}, nil},
		{"a failed pre-action, and a warning", parts{path: failedPre, rest: trace.Rest{Warnings: 1}}, []string{
			"backup/backup-1: status as without the fault: {Copy:api Phase:FailedPreBackupActions Errors:0 Warnings:0 Attempted:0 Completed:0 Failed:0 Ended:false Operations:[]}" +
				" | {Copy:api Phase:FailedPreBackupActions Errors:0 Warnings:1 Attempted:0 Completed:0 Failed:0 Ended:false Operations:[]}",
		}},
		{"a failed pre-action, and what could not be stored then", parts{path: failedPre, rest: trace.Rest{Errors: 1}, then: func(s *script) {
			s.access("put", "backups/backup-1/backup-1-results.gz", "no space").access("delete", contents, "")
		}}, nil},
		{"the log of post-actions, which ends with its server", parts{then: func(s *script) {
			s.access("put", "backups/backup-1/backup-1-post-actions-logs.gz", "").restart(time.Minute)
		}}, nil},
		{"what is stored of another", parts{then: func(s *script) { s.access("put", "backups/backup-12/x", "") }}, nil},
		{"a write too many", parts{then: func(s *script) { s.patch("backup/backup-1", counted, 3) }}, []string{
			"backup/backup-1: writes as without the fault: none | patch status.backupItemOperationsCompleted",
		}},
		{"one that changes nothing", parts{then: func(s *script) { s.patch("backup/backup-1", counted, 2) }}, nil},
		{"one of progress", parts{then: func(s *script) { s.patch("backup/backup-1", `{"status":{"progress":{"totalItems":1}}}`, 3) }}, nil},
		{"one after its end", parts{finished: func(s *script) { s.patch("backup/backup-1", counted, 3) }}, nil},
		{"one that the fault struck", parts{then: func(s *script) { s.patch("backup/backup-1", counted, 3).fault("planned") }}, nil},
		{"an item too many", parts{then: func(s *script) {
			s.add(item, trace.Body{Write: &trace.Write{Client: "restore", Verb: "create", Resource: "configmaps", Name: "app/settings"}})
			s.add("leases/velero/post-actions-1", trace.Body{Write: &trace.Write{Client: "server", Verb: "create", Resource: "leases"}})
		}}, []string{": restored items as without the fault: none | " + item}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := expecting(scenario.Outcome{})
			var got []string
			free := parts{}
			if slices.Equal(test.run.path, failedPre) {
				free.path = failedPre
			}
			for _, f := range fold(s, play(test.run)).differences(fold(s, play(free))) {
				if f.Oracle != "differential" {
					t.Errorf("oracle %s", f.Oracle)
				}
				got = append(got, fmt.Sprintf("%s: %s | %s", f.Object, f.Expected, f.Seen))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDifferencesInRealTime: how many polls see operations end is chance there.
func TestDifferencesInRealTime(t *testing.T) {
	play := func(counted ...string) trace.Trace {
		s := begin().phases("Queued", "ReadyToStart", "InProgress", "WaitingForPluginOperations")
		for i, c := range counted {
			s.patch("backup/backup-1", c, i+1)
		}
		tr := s.phases("Finalizing", "Completed").rest(trace.Rest{Copy: "api"}).settles()
		tr.Header.Scale = 0.01
		return tr
	}
	s, once := expecting(scenario.Outcome{}), `{"status":{"backupItemOperationsCompleted":1}}`
	if found := fold(s, play(once, once)).differences(fold(s, play(once))); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

// TestCompare: only a run that passes is compared, and only with one that has come to its end.
func TestCompare(t *testing.T) {
	few := 1
	s := expecting(scenario.Outcome{Warnings: &few})
	s.Plugins = nil
	play := func(warnings int) trace.Trace {
		return begin().completes().rest(trace.Rest{Copy: "api", Warnings: warnings, Ended: true}).rest(trace.Rest{Copy: "store", Warnings: warnings, Ended: true}).settles()
	}
	unsettled := play(0)
	unsettled.End.Reason = trace.Bound
	for _, test := range []struct {
		name       string
		t, without trace.Trace
		want       Result
		oracle     string
	}{
		{"alike", play(1), play(1), Pass, ""},
		{"another status", play(1), play(0), Fail, "differential"},
		{"without an end", play(1), unsettled, Pass, ""},
		{"it fails anyway", play(2), play(0), Fail, "expectation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Compare(s, test.t, test.without)
			oracle := ""
			if len(v.Findings) > 0 {
				oracle = v.Findings[0].Oracle
			}
			if v.Result != test.want || oracle != test.oracle {
				t.Errorf("%s by %s, want %s by %s: %v", v.Result, oracle, test.want, test.oracle, briefs(v))
			}
		})
	}
}

// TestDeletedWhileWaiting: a new server grants a deletion, and the poll that follows finds no operations file any more.
func TestDeletedWhileWaiting(t *testing.T) {
	asked := func(s *scenario.Scenario) {
		s.Expect.Phase = scenario.Deleted
		deletes := scenario.Fault{ID: "fault-1", At: scenario.Point{Phase: "New", Object: "backup/backup-1"}, Do: scenario.Do{Delete: "backup/backup-1"}}
		s.Faults = []scenario.Fault{deletes}
		s.Expect.Strikes = &[]string{}
	}
	const file = "backups/backup-1/backup-1-itemoperations.json.gz"
	for _, test := range []struct {
		name string
		poll func(*script) *script
		want Result
	}{
		{"the file is gone", func(s *script) *script { return s.access("exists", file, "") }, KnownDeviation},
		{"the file is there", func(s *script) *script { return s.access("exists", file, "").access("get", file, "") }, Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := waiting().wait(10 * time.Second).restart(10 * time.Second).phases("Deleting")
			tr := test.poll(s).phases("Finalizing", "Completed").deleted().settles()
			v := unpredicted(moving(asked), tr)
			if v.Result != test.want {
				t.Errorf("%s %v, want %s: %v", v.Result, v.Deviations, test.want, briefs(v))
			}
		})
	}
}
