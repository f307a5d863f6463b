package virtual

import (
	"errors"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// restartable is a plugin as a plugin manager has it: its process starts anew at the next call after it has ended by itself, as in Velero
// (pkg/plugin/clientmgmt/process/restartable_process.go). Its steps let nobody else act, so that a call ends the process it was made to.
type restartable struct {
	manager *pluginManager
	script  scenario.Plugin
	// process that runs; nil: none does. crashed: it has ended in the journal of the call that is made.
	process fakeplugins.Caller
	// act is what an action does in place of its script; nil: it has a script.
	act     func() error
	crashed bool
	// open is the call of an action that is under way, if the plugin is called once for an object: it has a deadline.
	open *openCall
	// outcome of the last call; nil: it has none yet.
	outcome *trace.Return
	// failures of its starts in a row.
	failures int
}

// maxFailures of starts in a row are as many as a plugin manager tries, and one more (resetLH).
const maxFailures = 10

// start starts the process. That go-plugin logs the end of one that does not serve as an error counts, as in crash.
func (p *restartable) start() error {
	if p.failures > maxFailures {
		return errors.New("unable to restart plugin process: exceeded maximum number of reset failures")
	}
	if err := p.manager.inc.startPlugin(p.manager.controller, p.script.Name, p.manager.object); err != nil {
		p.failures++
		p.manager.log.Error("plugin process exited")
		return err
	}
	p.failures = 0
	p.process = fakeplugins.NewInterpreter(p.script, p.manager.inc.run.operations, p.journal)
	if p.act != nil {
		p.process = acting{p}
	}
	p.manager.inc.record("", trace.Body{Process: &trace.Process{Name: p.script.Name, State: "started"}})
	return nil
}

// end records the end of the process, if it runs.
func (p *restartable) end(state string) {
	if p.process != nil {
		p.process = nil
		p.manager.inc.record("", trace.Body{Process: &trace.Process{Name: p.script.Name, State: state}})
	}
}

// Begin implements fakeplugins.Caller. A call that the end of its process cuts short has the error that gRPC makes of it.
func (p *restartable) Begin(object string, c trace.Call) (fakeplugins.Begun, error) {
	if p.process == nil {
		if err := p.start(); err != nil {
			return fakeplugins.Begun{}, err
		}
	}
	b, err := p.process.Begin(object, c)
	if p.crash() {
		return b, errCrashed
	}
	finish := b.Finish
	b.Finish = func() (fakeplugins.Outcome, error) {
		out, err := finish()
		if p.crash() {
			return out, errCrashed
		}
		return out, err
	}
	return b, err
}

// crash ends the process if it was struck, and reports whether it was. That go-plugin logs it as an error counts as one of a backup's
// (client.go; Velero's pkg/plugin/clientmgmt/process/logrus_adapter.go).
func (p *restartable) crash() (crashed bool) {
	crashed, p.crashed = p.crashed, false
	if crashed {
		p.end("killed")
		p.manager.log.Error("plugin process exited")
	}
	return crashed
}

// journal is the plugin manager's.
func (p *restartable) journal(object string, c trace.Call) func(trace.Return) {
	returned, crashed := p.manager.journal(object, &c)
	if p.crashed = crashed; p.script.Action.Once() && !crashed {
		p.open = &openCall{object, c.ID}
	}
	return func(ret trace.Return) {
		p.open, p.outcome = nil, &ret
		p.crashed = returned(ret)
	}
}

// openCall is a call that has not returned.
type openCall struct {
	object string
	id     int
}

// kill ends the process, and with it the call that is under way, at its deadline.
func (p *restartable) kill() {
	if p.open != nil {
		p.manager.inc.record(p.open.object, trace.Body{Return: &trace.Return{ID: p.open.id, Error: cluster.CrashError}})
		p.open = nil
	}
	p.end("killed")
}

// acting makes calls of an action that has no script.
type acting struct{ plugin *restartable }

func (a acting) Begin(object string, c trace.Call) (fakeplugins.Begun, error) {
	c.Plugin = a.plugin.script.Name
	returned := a.plugin.journal(object, c)
	return fakeplugins.Begun{Finish: func() (out fakeplugins.Outcome, err error) {
		if err := a.plugin.act(); err != nil {
			out.Error = err.Error()
		}
		returned(trace.Return{Error: out.Error})
		return out, nil
	}}, nil
}
