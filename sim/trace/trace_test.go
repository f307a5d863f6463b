package trace_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with the file testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the tests with -update to make it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, which -update rewrites (-want +got):\n%s", file, diff)
	}
}

const (
	mover  = "example.io/mover"
	backup = "backup/backup-1"
)

// script writes a trace down event by event.
type script struct {
	trace.Trace
	at          time.Duration
	incarnation int
	calls       int
}

func newScript(name string) *script {
	return &script{incarnation: 1, Trace: trace.Trace{Header: trace.Header{
		Schema: trace.Schema, Scenario: name, World: "virtual", Velero: "1.18.3", Seed: 1, Scale: 1,
	}}}
}

func (s *script) add(object string, b trace.Body) {
	s.Events = append(s.Events, trace.Event{
		Seq: len(s.Events) + 1, At: trace.Time(s.at), Incarnation: s.incarnation, Object: object, Body: b,
	})
}

func (s *script) server(state string) {
	s.add("", trace.Body{Process: &trace.Process{Name: "server", State: state}})
}

func (s *script) create(object string, timeout time.Duration, from string) {
	s.add(object, trace.Body{Created: &trace.Created{ItemOperationTimeout: trace.Time(timeout), Backup: from}})
}

func (s *script) phase(object, from, to string) {
	s.write("backup", `{"status":{"phase":"`+to+`"}}`)
	s.add(object, trace.Body{Phase: &trace.Phase{From: from, To: to}})
}

func (s *script) write(client, change string) {
	s.add(backup, trace.Body{Write: &trace.Write{
		Client: client, Verb: "patch", Resource: "backups", Name: "velero/backup-1", Change: change,
	}})
}

func (s *script) store(verb, key string) {
	s.add("", trace.Body{Store: &trace.Store{Verb: verb, Key: key, Controller: "backup", Size: 10}})
}

// call makes a call that does not return.
func (s *script) call(object string, c trace.Call) int {
	s.calls++
	c.ID, c.Plugin = s.calls, mover
	s.add(object, trace.Body{Call: &c})
	return c.ID
}

func (s *script) execute(object, item, operation string) {
	id := s.call(object, trace.Call{Method: "Execute", Item: item})
	s.add(object, trace.Body{Return: &trace.Return{ID: id, Operation: operation}})
}

func (s *script) poll(object, operation string, r trace.Return) {
	s.add("", trace.Body{Process: &trace.Process{Name: mover, State: "started"}})
	r.ID = s.call(object, trace.Call{Method: "Progress", Operation: operation})
	s.add(object, trace.Body{Return: &r})
	s.add("", trace.Body{Process: &trace.Process{Name: mover, State: "stopped"}})
}

func (s *script) cancel(object, operation string) {
	id := s.call(object, trace.Call{Method: "Cancel", Operation: operation})
	s.add(object, trace.Body{Return: &trace.Return{ID: id}})
}

func (s *script) end(reason, detail string) trace.Trace {
	s.End = trace.End{Reason: reason, At: trace.Time(s.at), Detail: detail}
	return s.Trace
}

func progress(done int64, updated time.Duration) trace.Return {
	return trace.Return{Progress: &trace.Progress{
		Done: done, Of: 10, Units: "GB", Description: "uploading",
		Started: trace.Time(time.Second), Updated: trace.Time(updated),
	}}
}

// deletes is a schedule's backup that is deleted.
func deletes() trace.Trace {
	s := newScript("backup-of-schedule-deleted")
	s.server("started")
	s.at = time.Minute
	s.add("backup/daily-1", trace.Body{Created: &trace.Created{Name: "daily-20260102030405", Schedule: "daily"}})
	s.phase("backup/daily-1", "", "InProgress")
	id := s.call("", trace.Call{Method: "AppliesTo"})
	s.add("", trace.Body{Return: &trace.Return{ID: id}})
	s.phase("backup/daily-1", "InProgress", "Completed")
	s.phase("backup/daily-1", "Completed", "Deleting")
	s.at = 2 * time.Minute
	s.add("backup/daily-1", trace.Body{Deleted: &trace.Deleted{}})
	return s.end(trace.Settled, "")
}

// removes is a backup that the user removes and backup sync brings back.
func removes() trace.Trace {
	s := newScript("backup-removed")
	s.server("started")
	s.create(backup, 4*time.Hour, "")
	s.phase(backup, "", "Completed")
	s.at = time.Minute
	s.add(backup, trace.Body{Deleted: &trace.Deleted{}})
	s.at = 2 * time.Minute
	s.phase(backup, "", "Completed")
	return s.end(trace.Settled, "")
}

// timesOut is a backup of two items: the operation of one completes, that of the other times out after 4 h.
func timesOut() trace.Trace {
	s := newScript("backup-operation-times-out")
	s.server("started")
	s.add(backup, trace.Body{Write: &trace.Write{Client: "user", Verb: "create", Resource: "backups", Name: "velero/backup-1", ResourceVersion: "1"}})
	s.create(backup, 4*time.Hour, "")
	s.phase(backup, "", "Queued")
	s.at = time.Second
	s.phase(backup, "Queued", "ReadyToStart")
	s.phase(backup, "ReadyToStart", "InProgress")
	s.store("exists", "velero/backups/backup-1/velero-backup.json")
	s.execute(backup, "configmaps/app/settings", "mover-1")
	s.execute(backup, "configmaps/app/other", "mover-2")
	s.write("backup", `{"status":{"progress":{"totalItems":2}}}`)
	s.write("backup", `{}`)
	s.store("put", "velero/backups/backup-1/backup-1.tar.gz")
	s.store("put", "velero/backups/backup-1/velero-backup.json")
	s.phase(backup, "InProgress", "WaitingForPluginOperations")
	for i := range 4*360 + 1 {
		s.at = time.Second + time.Duration(i)*10*time.Second
		switch {
		case s.at < 2*time.Hour:
			s.poll(backup, "mover-1", progress(1, time.Second))
		default:
			s.poll(backup, "mover-1", progress(5, 2*time.Hour))
		}
		switch {
		case s.at < time.Hour:
			s.poll(backup, "mover-2", progress(0, time.Second))
		case s.at < time.Hour+10*time.Second:
			r := progress(10, time.Hour)
			r.Progress.Completed = true
			s.poll(backup, "mover-2", r)
			s.write("backup-operations", `{"status":{"backupItemOperationsCompleted":1}}`)
		}
	}
	s.cancel(backup, "mover-1")
	s.phase(backup, "WaitingForPluginOperations", "FinalizingPartiallyFailed")
	s.phase(backup, "FinalizingPartiallyFailed", "PartiallyFailed")
	s.add(backup, trace.Body{Rest: &trace.Rest{Copy: "api", Phase: "PartiallyFailed", Errors: 1, Attempted: 2, Completed: 1, Failed: 1, Ended: true}})
	s.at += 20 * time.Second
	return s.end(trace.Settled, "")
}

// hangs is a backup whose server is killed while it waits, and whose plugin then hangs.
func hangs() trace.Trace {
	s := newScript("backup-progress-hangs")
	s.server("started")
	s.create(backup, time.Hour, "")
	s.at = time.Second
	s.phase(backup, "", "InProgress")
	s.execute(backup, "configmaps/app/settings", "mover-1")
	s.phase(backup, "InProgress", "WaitingForPluginOperations")
	s.poll(backup, "mover-1", progress(1, time.Second))
	s.at = time.Minute
	s.call(backup, trace.Call{Method: "Progress", Operation: "mover-1"})
	s.at += 5 * time.Second
	s.add("", trace.Body{Fault: &trace.Fault{ID: "fault-1", What: "killed the server, to be restarted after 10s"}})
	s.add("", trace.Body{Process: &trace.Process{Name: mover, State: "killed"}})
	s.server("killed")
	s.at += 10 * time.Second
	s.incarnation = 2
	s.server("started")
	s.add("", trace.Body{Store: &trace.Store{Verb: "get", Key: "velero/backups/backup-1/backup-1-itemoperations.json.gz", Controller: "backup-operations", Error: "no such object"}})
	s.add("", trace.Body{Reconcile: &trace.Reconcile{Controller: "backup-operations", Error: "error getting backup operations: no such object"}})
	s.at += 10 * time.Second
	s.call(backup, trace.Call{Method: "Progress", Operation: "mover-1"})
	s.at = 30 * time.Hour
	return s.end(trace.Bound, "")
}

// restores is a backup of a failed operation, then a restore whose operation's Progress fails and whose plugin panics.
func restores() trace.Trace {
	const restore = "restore/restore-1"
	s := newScript("restore-operation-fails")
	s.server("started")
	s.create(backup, 4*time.Hour, "")
	s.phase(backup, "", "InProgress")
	s.execute(backup, "configmaps/app/settings", "")
	s.phase(backup, "InProgress", "Finalizing")
	s.phase(backup, "Finalizing", "Completed")
	s.at = time.Minute
	s.create(restore, 2*time.Hour, "backup-1")
	s.phase(restore, "", "InProgress")
	s.execute(restore, "configmaps/app/settings", "mover-1")
	id := s.call(restore, trace.Call{Method: "Execute", Item: "configmaps/app/other"})
	s.at += time.Minute
	s.add(restore, trace.Body{Return: &trace.Return{ID: id, Operation: "mover-2"}})
	s.phase(restore, "InProgress", "WaitingForPluginOperations")
	s.poll(restore, "mover-1", trace.Return{Error: "connection refused"})
	failed := progress(3, 2*time.Minute)
	failed.Progress.Completed, failed.Progress.Error = true, "disk full"
	s.poll(restore, "mover-2", failed)
	id = s.call(restore, trace.Call{Method: "Execute", Item: "configmaps/app/last"})
	s.add(restore, trace.Body{Return: &trace.Return{ID: id, Error: "nil map", Panic: true}})
	s.phase(restore, "WaitingForPluginOperations", "FinalizingPartiallyFailed")
	s.add(restore, trace.Body{Reconcile: &trace.Reconcile{Controller: "restore-finalizer", Error: "nil pointer", Panic: true}})
	return s.end(trace.Panicked, "panic: nil pointer\n\ngoroutine 1 [running]:\n\tmain.main()\n")
}
