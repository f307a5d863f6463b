package verdict

import (
	"fmt"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// script writes a trace, event by event, about one object at a time.
type script struct {
	others      map[string]state // of the objects that it is not about just now
	t           trace.Trace
	at          trace.Time
	incarnation int
	object      string
	phase       string
	plugin      string
	call        int
	method      string            // of the latest call
	operations  []trace.Operation // that Execute has started for the object
}

// state is what a script knows of an object.
type state struct {
	phase      string
	operations []trace.Operation
}

const (
	other  = "example.io/other"
	mover  = "example.io/mover"
	mover1 = "mover-1"
	item   = "configmaps/app/settings"
)

// begin opens a trace of scenario "s" with a server that has started and a backup that the user has created.
func begin() *script {
	s := &script{incarnation: 1, plugin: mover, others: map[string]state{}}
	s.t.Header = trace.Header{Schema: trace.Schema, Scenario: "s", World: "virtual", Velero: "1.18.3", Seed: 1, Scale: 1}
	return s.server("started").create("backup/backup-1")
}

func (s *script) add(object string, b trace.Body) *script {
	s.t.Events = append(s.t.Events, trace.Event{
		Seq: len(s.t.Events) + 1, At: s.at, Incarnation: s.incarnation, Object: object, Body: b,
	})
	return s
}

func (s *script) wait(d time.Duration) *script { s.at += trace.Time(d); return s }

func (s *script) server(state string) *script { return s.process("server", state) }

func (s *script) process(name, state string) *script {
	return s.add("", trace.Body{Process: &trace.Process{Name: name, State: state}})
}

// restart kills the server and starts its next incarnation.
func (s *script) restart(down time.Duration) *script {
	s.server("killed").wait(down)
	s.incarnation++
	return s.server("started")
}

func (s *script) create(object string) *script {
	return s.on(object).add(object, trace.Body{Created: &trace.Created{ItemOperationTimeout: trace.Time(4 * time.Hour)}})
}

// on lets the trace go on with another object.
func (s *script) on(object string) *script {
	s.others[s.object] = state{s.phase, s.operations}
	s.object, s.phase, s.operations = object, s.others[object].phase, s.others[object].operations
	return s
}

// schedules lets a schedule create a backup, NAME-1 or so in the scenario, with that name in the cluster.
func (s *script) schedules(schedule, object, name string) *script {
	return s.on(object).add(object, trace.Body{Created: &trace.Created{Name: name, Schedule: schedule, ItemOperationTimeout: trace.Time(4 * time.Hour)}})
}

func (s *script) deleted() *script {
	s.phase = ""
	return s.add(s.object, trace.Body{Deleted: &trace.Deleted{}})
}

// requested is what becomes of a request to delete backup-1.
func (s *script) requested(status string) *script {
	return s.add("deletebackuprequest/backup-1-x7k2p", trace.Body{Write: &trace.Write{
		Client: "backup-deletion", Verb: "patch", Resource: "deletebackuprequests", Name: "velero/backup-1-x7k2p", Change: `{"status":` + status + `}`,
	}})
}

// access is one to the object store.
func (s *script) access(verb, key, err string) *script {
	return s.add("", trace.Body{Store: &trace.Store{Verb: verb, Key: "velosim/" + key, Error: err}})
}

// completes takes a backup that was just created, or a restore, to its end, without operations.
func (s *script) completes() *script {
	if s.object[0] == 'b' {
		s.phases("Queued", "ReadyToStart")
	}
	return s.phases("InProgress", "Finalizing", "Completed")
}

func (s *script) phases(to ...string) *script {
	for _, p := range to {
		s.add(s.object, trace.Body{Phase: &trace.Phase{From: s.phase, To: p}})
		s.phase = p
	}
	return s
}

// of lets another plugin be called from here on.
func (s *script) of(plugin string) *script { s.plugin = plugin; return s }

// calling calls a method that does not return yet.
func (s *script) calling(method, operation string) *script {
	s.call++
	s.method = method
	c := &trace.Call{ID: s.call, Plugin: s.plugin, Method: method, Phase: s.phase}
	if method == execute {
		c.Item = item
	} else {
		c.Operation = operation
	}
	return s.add(s.object, trace.Body{Call: c})
}

func (s *script) returns(r trace.Return) *script {
	r.ID = s.call
	if s.method == execute && r.Operation != "" {
		s.operations = append(s.operations, trace.Operation{ID: r.Operation, Plugin: s.plugin, Item: item})
	}
	return s.add(s.object, trace.Body{Return: &r})
}

func (s *script) execute(operation string) *script {
	return s.calling(execute, "").returns(trace.Return{Operation: operation})
}

func (s *script) progress(operation string, p trace.Progress) *script {
	return s.calling(progress, operation).returns(trace.Return{Progress: &p})
}

func (s *script) progressErrs(operation string) *script {
	return s.calling(progress, operation).returns(trace.Return{Error: "rpc error: mover is away"})
}

func (s *script) cancel(operation string) *script {
	return s.calling(cancel, operation).returns(trace.Return{})
}

func (s *script) fault(id string) *script {
	return s.add("", trace.Body{Fault: &trace.Fault{ID: id, What: "killed the server"}})
}

func (s *script) missed(id, why string) *script {
	return s.add("", trace.Body{Fault: &trace.Fault{ID: id, Missed: why}})
}

func (s *script) rest(r trace.Rest) *script {
	if r.Phase == "" {
		r.Phase = s.phase
	}
	return s.add(s.object, trace.Body{Rest: &r})
}

// rests adds both copies as a faithful Velero leaves them: of the operations that were started, so many have completed, and
// the others have timed out. A restore has no stored copy but its operations.
func (s *script) rests(completed, failed int) *script {
	r := trace.Rest{Copy: "api", Errors: failed, Attempted: completed + failed, Completed: completed, Failed: failed, Ended: true}
	s.rest(r)
	if s.object[0] == 'r' {
		r = trace.Rest{}
	}
	r.Copy = "store"
	for n, op := range s.operations {
		op.Phase = "Completed"
		if n >= completed {
			op.Phase, op.Error = "Failed", "Asynchronous action timed out"
		}
		r.Operations = append(r.Operations, op)
	}
	return s.rest(r)
}

func (s *script) ends(reason string) trace.Trace {
	s.t.End = trace.End{Reason: reason, At: s.at}
	return s.t
}

func (s *script) settles() trace.Trace { return s.wait(20 * time.Second).ends(trace.Settled) }

// waiting is the start of most traces: an operation runs and the backup waits for it.
func waiting() *script {
	return begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).
		progress(mover1, trace.Progress{Done: 1, Of: 10}).phases("WaitingForPluginOperations").wait(10 * time.Second)
}

// sameID is a backup that waits for an operation of each of two plugins, which have chosen the same ID. The other plugin is called
// from here on.
func sameID() *script {
	return begin().phases("Queued", "ReadyToStart", "InProgress").execute(mover1).of(other).execute(mover1).
		of(mover).progress(mover1, trace.Progress{}).of(other).progress(mover1, trace.Progress{}).
		phases("WaitingForPluginOperations")
}

// healthy is a backup whose operation completes after an hour, up to its last phase.
func healthy() *script {
	return waiting().progress(mover1, trace.Progress{Done: 1, Of: 10}).wait(time.Hour).
		progress(mover1, trace.Progress{Done: 10, Of: 10, Completed: true}).phases("Finalizing", "Completed")
}

// timesOut is a backup whose operation is cancelled at its timeout, up to its last phase.
func timesOut() *script {
	return waiting().wait(4*time.Hour).progress(mover1, trace.Progress{Done: 1, Of: 10}).
		cancel(mover1).phases("FinalizingPartiallyFailed", "PartiallyFailed")
}

// many is a backup with n operations that time out after as many passes over them, up to its last phase. In a pass, each call
// comes a moment after the one before. The last pass but one begins just before the timeout, which the first operation of the
// pass has not reached.
func many(n, passes int, moment time.Duration) *script {
	s := begin().phases("Queued", "ReadyToStart", "InProgress")
	operation := func(i int) string { return fmt.Sprintf("mover-%d", i+1) }
	for i := range n {
		s.execute(operation(i))
	}
	for i := range n {
		s.progress(operation(i), trace.Progress{Done: 1, Of: 10})
	}
	s.phases("WaitingForPluginOperations")
	due := 4*time.Hour - time.Second
	for range passes - 1 {
		s.wait(10 * time.Second)
		for i := range n {
			s.wait(moment).progress(operation(i), trace.Progress{Done: 2, Of: 10})
		}
	}
	s.wait(due-time.Duration(s.at)).progress(operation(0), trace.Progress{Done: 2, Of: 10}).wait(2 * time.Second)
	for i := 1; i < n; i++ {
		s.wait(moment).progress(operation(i), trace.Progress{Done: 2, Of: 10}).cancel(operation(i))
	}
	return s.wait(10*time.Second).progress(operation(0), trace.Progress{Done: 2, Of: 10}).cancel(operation(0)).
		phases("FinalizingPartiallyFailed", "PartiallyFailed")
}

// expecting is the scenario of the traces.
func expecting(o scenario.Outcome) *scenario.Scenario {
	d := func(d time.Duration) scenario.Duration { return scenario.Duration{Duration: d} }
	return &scenario.Scenario{
		Metadata: scenario.Metadata{Name: "s"},
		Server: scenario.Server{
			ConcurrentBackups: 1, ItemOperationSyncFrequency: d(10 * time.Second), ResourceTimeout: d(10 * time.Minute),
			GarbageCollectionFrequency: d(time.Hour), BackupSyncPeriod: d(time.Minute),
		},
		Backups: []scenario.Backup{{Name: "backup-1", BackupSpec: spec()}},
		Items:   []scenario.Item{item},
		Plugins: []scenario.Plugin{{Name: mover, Action: scenario.BackupItemAction}},
		Expect:  scenario.Expect{Outcomes: scenario.Outcomes{Outcome: o}},
	}
}

// spec is that of every backup of the traces.
func spec() scenario.BackupSpec {
	return scenario.BackupSpec{
		ItemOperationTimeout: scenario.Duration{Duration: 4 * time.Hour}, TTL: scenario.Duration{Duration: 720 * time.Hour}, StorageLocation: "default",
	}
}

func deviation(rule string, o scenario.Outcome) *scenario.Deviation {
	return &scenario.Deviation{Rule: rule, Outcomes: scenario.Outcomes{Outcome: o}}
}
