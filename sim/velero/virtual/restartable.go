package virtual

import (
	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// restartable is a plugin as a plugin manager has it: its process starts anew at the next call after it has ended by itself, as in Velero
// (pkg/plugin/clientmgmt/process/restartable_process.go). Its steps let nobody else act, so that a call ends the process it was made to.
type restartable struct {
	manager *pluginManager
	script  scenario.Plugin
	// process that runs; nil: none does. crashed: it has ended in the journal of the call that is made.
	process *fakeplugins.Interpreter
	crashed bool
}

// start starts the process.
func (p *restartable) start() {
	p.process = fakeplugins.NewInterpreter(p.script, p.manager.inc.run.operations, p.journal)
	p.manager.inc.record("", trace.Body{Process: &trace.Process{Name: p.script.Name, State: "started"}})
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
		p.start()
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
	returned, crashed := p.manager.journal(object, c)
	p.crashed = crashed
	return func(ret trace.Return) { p.crashed = returned(ret) }
}
