package contract_test

import (
	"time"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

const (
	mover = "example.io/mover"
	itemA = "configmaps/app/a"
	itemB = "configmaps/app/b"

	backupAction  = "BackupItemActionV2"
	restoreAction = "RestoreItemActionV2"
	deleteAction  = "DeleteItemAction"
)

// script writes a trace of a plugin's calls, event by event, as they are made directly: each process starts, is called, and ends.
type script struct {
	t      trace.Trace
	at     trace.Time
	object string
	phase  string
	plugin string
	call   int
	open   bool // a process has started that has not ended
}

// calls opens a trace of an executable that registers mover as these kinds of plugin.
func calls(kinds ...string) *script {
	s := &script{plugin: mover, at: trace.Time(10 * time.Second)}
	s.t.Header = trace.Header{Schema: trace.Schema, Scenario: "plugin-called-directly", World: "envtest", Velero: "1.18.3", Build: "b", Scale: 1}
	for _, kind := range kinds {
		s.add("", trace.Body{Plugin: &trace.Plugin{Kind: kind, Name: mover}})
	}
	return s
}

func (s *script) add(object string, b trace.Body) *script {
	s.t.Events = append(s.t.Events, trace.Event{Seq: len(s.t.Events) + 1, At: s.at, Object: object, Body: b})
	return s
}

func (s *script) wait(d time.Duration) *script { s.at += trace.Time(d); return s }

// of lets another plugin be called from here on.
func (s *script) of(plugin string) *script { s.plugin = plugin; return s }

// process ends the process before, if that has not ended, and starts one that is called for an exercise with a backup.
func (s *script) process(exercise string) *script { return s.processOf("backup/" + exercise) }

// processOf starts a process that is called for another object.
func (s *script) processOf(object string) *script {
	s.stop()
	s.object, s.phase, s.open = object, "InProgress", true
	return s.state("started")
}

func (s *script) state(state string) *script {
	return s.add("", trace.Body{Process: &trace.Process{Name: s.plugin, State: state}})
}

// ends lets the process end in that way.
func (s *script) ends(state string) *script { s.open = false; return s.state(state) }

func (s *script) stop() {
	if s.open {
		s.ends("stopped")
	}
}

func (s *script) in(phase string) *script { s.phase = phase; return s }

// phases are those of a server's backup.
func (s *script) phases(to ...string) *script {
	for _, p := range to {
		s.add("backup/backup-1", trace.Body{Phase: &trace.Phase{To: p}})
	}
	return s
}

// calling makes a call that does not return yet: of Execute for an item, of Progress and Cancel for an operation.
func (s *script) calling(method, of string) *script {
	s.call++
	c := &trace.Call{ID: s.call, Plugin: s.plugin, Method: method}
	switch method {
	case "Execute":
		c.Item, c.Phase = of, s.phase
	case "Progress", "Cancel":
		c.Operation, c.Phase = of, s.phase
	}
	return s.add(s.object, trace.Body{Call: c})
}

// returns lets the latest call return.
func (s *script) returns(r trace.Return) *script { return s.returnsFrom(s.call, r) }

func (s *script) returnsFrom(id int, r trace.Return) *script {
	r.ID = id
	return s.add(s.object, trace.Body{Return: &r})
}

func (s *script) fails(method, of string) *script {
	return s.calling(method, of).returns(trace.Return{Error: "no\nat main.go:1"})
}

func (s *script) panics(method, of string) *script {
	return s.calling(method, of).returns(trace.Return{Error: "plugin panicked: nil map", Panic: true})
}

func (s *script) selects(what string) *script {
	return s.calling("AppliesTo", "").returns(trace.Return{Selects: what})
}

// execute starts an operation; none, if it is empty.
func (s *script) execute(item, operation string) *script {
	return s.calling("Execute", item).returns(trace.Return{Operation: operation})
}

func (s *script) progress(operation string, p trace.Progress) *script {
	return s.calling("Progress", operation).returns(trace.Return{Progress: &p})
}

func (s *script) cancel(operation string) *script {
	return s.calling("Cancel", operation).returns(trace.Return{})
}

func (s *script) left(l trace.Left) *script { return s.add("", trace.Body{Left: &l}) }

// trace is what was written.
func (s *script) trace() trace.Trace {
	s.stop()
	s.t.End = trace.End{Reason: trace.Settled, At: s.at}
	return s.t
}

// direct is the evidence of the calls, made directly.
func (s *script) direct() contract.Evidence { return evidence(s.trace()) }

func evidence(direct trace.Trace, runs ...contract.Run) contract.Evidence {
	return contract.Evidence{
		Direct: direct, Within: 30 * time.Second, Call: 10 * time.Second, CancelWithin: 5 * time.Second, Runs: runs,
	}
}

// notStarted is the evidence of an executable that does not start.
func notStarted(detail string) contract.Evidence {
	t := calls().trace()
	t.End = trace.End{Reason: trace.NotStarted, Detail: detail}
	return evidence(t)
}

// run is a run on a server that should end in the phase, and comes to the verdict.
func (s *script) run(name, phase string, v verdict.Verdict) contract.Run {
	r := contract.Run{Scenario: &scenario.Scenario{Metadata: scenario.Metadata{Name: name}}, Trace: s.trace(), Verdict: v}
	r.Scenario.Expect.Phase = phase
	return r
}

// under is the progress of an operation that goes on.
func under(done int64) trace.Progress {
	return trace.Progress{Done: done, Of: 4, Started: trace.Time(time.Second), Updated: trace.Time(time.Duration(done+1) * time.Second)}
}

// completed is that of one that has ended in success.
func completed() trace.Progress {
	p := under(4)
	p.Completed = true
	return p
}

// failed is that of one that has ended in failure.
func failed() trace.Progress {
	p := under(2)
	p.Completed, p.Error = true, "cancelled"
	return p
}

// healthy are all exercises of a plugin that does as it should.
func healthy() *script {
	s := calls(backupAction)
	s.process(exercise.Processes).selects("configmaps").process(exercise.Processes).selects("configmaps")
	s.process(exercise.Fitting).execute(itemA, "a").progress("a", under(1)).execute(itemB, "b").progress("b", under(1)).wait(time.Second)
	s.process(exercise.Fitting).progress("a", completed()).progress("b", completed()).wait(time.Second)
	s.process(exercise.Ended).cancel("a").wait(time.Second).process(exercise.Ended).progress("a", completed())
	s.process(exercise.Concurrent).execute(itemA, "a").execute(itemB, "b").wait(time.Second)
	s.process(exercise.Concurrent).progress("a", completed()).progress("b", completed())
	s.process(exercise.Cancelled).execute(itemA, "a").process(exercise.Cancelled).progress("a", under(2)).cancel("a").wait(time.Second)
	s.process(exercise.Cancelled).progress("a", failed()).wait(time.Second).process(exercise.Cancelled).cancel("a")
	s.process(exercise.Finalizing).in("Finalizing").execute(itemA, "")
	s.process(exercise.Large).execute(itemA, "a")
	s.process(exercise.Unknown).fails("Progress", exercise.UnknownOperation)
	s.process(exercise.Unknown).fails("Cancel", exercise.UnknownOperation)
	return s.process(exercise.Foreign).execute("secrets/app/token", "")
}
