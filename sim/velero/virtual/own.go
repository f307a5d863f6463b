package virtual

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// registered is what the user's plugins register, with the executables; the world asks once.
func (w *World) registered() ([]framework.PluginIdentifier, error) {
	if w.own != nil || len(w.Plugins) == 0 {
		return w.own, nil
	}
	var own []framework.PluginIdentifier
	for _, path := range w.Plugins {
		p, err := subprocess.Start(subprocess.Options{Path: path})
		if err != nil {
			return nil, fmt.Errorf("the plugin %s does not start: %w", path, err)
		}
		ids, err := p.Registers()
		p.Stop()
		if err == nil && len(ids) == 0 {
			err = errors.New("it registers nothing by Velero's framework")
		}
		if err != nil {
			return nil, fmt.Errorf("the plugin %s: %w", path, err)
		}
		for i := range ids {
			ids[i].Command = path // it says what it was started as
		}
		own = append(own, ids...)
	}
	w.own = own
	slices.SortFunc(w.own, func(a, b framework.PluginIdentifier) int { return cmp.Compare(a.Name, b.Name) })
	return w.own, nil
}

// missing says which plugins of the user's own no executable registers.
func (w *World) missing(plugins []scenario.Plugin) error {
	for _, p := range plugins {
		if !slices.ContainsFunc(w.own, func(id framework.PluginIdentifier) bool {
			return id.Name == p.Name && strings.TrimSuffix(id.Kind.String(), "V2") == string(p.Action)
		}) {
			return fmt.Errorf("no executable registers the %s %s, which is the user's own by the scenario: give it with --plugin", p.Action, p.Name)
		}
	}
	return nil
}

// own is a plugin of the user's as a plugin manager has it: its process starts when it is first called, and anew when it has ended.
type own struct {
	manager *pluginManager
	id      framework.PluginIdentifier
	process *subprocess.Process // nil: none runs
}

// owned are the user's plugins of a kind.
func (m *pluginManager) owned(kinds ...common.PluginKind) (all []*own) {
	for _, id := range m.inc.run.world.own {
		if !slices.Contains(kinds, id.Kind) {
			continue
		}
		key := string(id.Kind) + " " + id.Name
		o := m.owns[key]
		if o == nil {
			o = &own{manager: m, id: id}
			m.owns[key] = o
		}
		all = append(all, o)
	}
	return all
}

// named is the user's plugin of that name; nil: there is none.
func (m *pluginManager) named(name string, kinds ...common.PluginKind) *own {
	all := m.owned(kinds...)
	i := slices.IndexFunc(all, func(o *own) bool { return o.id.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

func (o *own) run() *run { return o.manager.inc.run }

func (o *own) recorded() fakeplugins.Recorded {
	return fakeplugins.Recorded{Name: o.id.Name, Journal: o.journal, Epoch: o.run().rec.start}
}

// journal is the plugin manager's. A call in which the process is struck has its outcome there.
func (o *own) journal(object string, c trace.Call) func(trace.Return) {
	returned, crashed := o.manager.journal(object, &c)
	if crashed {
		o.kill()
		return func(trace.Return) {}
	}
	return func(ret trace.Return) {
		if returned(ret) {
			o.kill()
		}
	}
}

// call calls a method of the process. One that does not return in time hangs, as far as Velero sees, until its process ends.
func (o *own) call(method func(client any)) error {
	if o.run().over.Load() || o.manager.inc.proc.Dead() { // it is but taken to its end
		return errors.New("the server has ended")
	}
	if err := o.start(); err != nil {
		return err
	}
	var client any
	var err error
	over := o.run().world.outside.returns(func() {
		if client, err = o.process.Client(o.id.Kind, o.id.Name); err == nil {
			method(client)
		}
	}, o.process.Kill)
	if !over {
		<-o.manager.ctx.Done()
		return errors.New("the plugin's process has ended")
	}
	return err
}

// start starts the process, unless it runs.
func (o *own) start() (err error) {
	if o.process != nil {
		var exited bool
		o.run().world.outside.do(func() { exited = o.process.Exited() })
		if !exited {
			return nil
		}
		o.ended(trace.ProcessExited)
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	o.run().world.outside.do(func() {
		o.process, err = subprocess.Start(subprocess.Options{Path: o.id.Command, Env: []string{world.PluginTime + "=" + now}})
	})
	state := "started"
	if err != nil {
		o.process, state = nil, trace.ProcessFailed
	} else {
		o.manager.inc.owns[o] = o.process
	}
	o.manager.inc.record("", trace.Body{Process: &trace.Process{Name: o.id.Name, State: state}})
	return err
}

// ended records how the process has ended.
func (o *own) ended(state string) {
	o.process = nil
	delete(o.manager.inc.owns, o)
	o.manager.inc.record("", trace.Body{Process: &trace.Process{Name: o.id.Name, State: state}})
}

// stop ends the process as Velero does, if it runs.
func (o *own) stop() {
	if o.process == nil {
		return
	}
	state := "stopped"
	o.run().world.outside.do(func() {
		switch exited := o.process.Exited(); {
		case !o.process.Stop():
			state = "killed"
		case exited:
			state = trace.ProcessExited
		}
	})
	o.ended(state)
}

// kill ends the process at once.
func (o *own) kill() {
	if o.process != nil {
		o.run().world.outside.do(o.process.Kill)
		o.ended("killed")
	}
}

// killOwns ends the processes of the user's plugins with their server.
func (inc *incarnation) killOwns() {
	for _, p := range inc.owns {
		inc.run.world.outside.do(p.Kill)
	}
	clear(inc.owns)
}
