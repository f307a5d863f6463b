package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// objectStore is the executable of the object store, which is there beside the scenario's plugins.
const objectStore = "object-store"

// startPlugins puts an executable for each of the scenario's plugins into the server's plugin folder, and the host behind them.
func (r *run) startPlugins() (err error) {
	if err := r.world.taken.clash(r.cluster.Plugins()); err != nil {
		return err
	}
	if path, plugin, ok := r.world.taken.acting(); ok && r.world.options.ActionsServer == "" {
		return fmt.Errorf("the plugin %s registers %s, which no release of Velero calls, but velosim's own server, of the newest release: leave out --velero", path, plugin)
	}
	executables := map[string]host.Executable{objectStore: {ObjectStore: true}}
	for _, p := range r.cluster.Plugins() {
		e := executables[p.File()]
		e.Plugins = append(e.Plugins, p)
		if p.Start != (scenario.Start{}) {
			e.Starts = misstarts(p.Start, r.acts())
		}
		executables[p.File()] = e
	}
	for _, path := range r.world.options.Extra {
		if r.world.taken.forwards(path) {
			executables[filepath.Base(path)] = host.Executable{Forward: path}
		}
	}
	for name := range executables {
		if err := os.Link(r.world.options.Plugins, filepath.Join(r.folder, "plugins", name)); err != nil {
			if err = os.Symlink(r.world.options.Plugins, filepath.Join(r.folder, "plugins", name)); err != nil {
				return fmt.Errorf("failed to install the plugin %s: %w", name, err)
			}
		}
	}
	for _, path := range r.world.options.Extra {
		if r.world.taken.forwards(path) {
			continue
		}
		if err := os.Symlink(path, filepath.Join(r.folder, "plugins", filepath.Base(path))); err != nil {
			return fmt.Errorf("failed to install the plugin %s: %w", path, err)
		}
	}
	r.plugins, err = host.Listen(r.ctx, r.folder, host.Options{
		Executables: executables,
		Operations:  fakeplugins.NewOperations(r.rec.position.start, r.names.Of),
		Epoch:       r.rec.position.start,
		Journal:     r.journal,
		Access:      r.access,
		Started:     r.started,
		Ended:       func(p host.Process) { r.connected(p, -1) },
		Failed:      func(err error) { r.fail(fmt.Errorf("a plugin process fails: %w", err)) },
	})
	return err
}

// misstarts are how the processes start, in the words of the executable: all after the delay, and some not at all. A server with actions
// starts each once more to list these, before it uses any.
func misstarts(s scenario.Start, twice bool) []host.Start {
	delayed := host.Start{Start: wire.Start{Delay: s.Delay.Duration}}
	if !s.Fails() {
		return []host.Start{delayed}
	}
	w := wire.Start{Delay: s.Delay.Duration, NoHandshake: s.Handshake == scenario.NoHandshake, ProtocolVersion: s.Protocol}
	if s.Exit {
		w.Exit = new(1)
	}
	if s.Handshake == scenario.WrongHandshake {
		w.Handshake = "Hello from the plugin!"
	}
	if twice && s.Nth > 1 {
		s.Nth++
	}
	return []host.Start{{Nth: s.Nth, Times: s.Times, Start: w}, delayed}
}

// started notes that a plugin process has started, and records one that will not serve.
func (r *run) started(p host.Process, goes wire.Start) {
	r.connected(p, 1)
	if goes.Exit == nil && !goes.NoHandshake && goes.Handshake == "" && goes.ProtocolVersion == 0 {
		return
	}
	if s := r.serverOf(p); s != nil {
		i := slices.IndexFunc(r.cluster.Plugins(), func(q scenario.Plugin) bool { return q.File() == p.Executable })
		r.rec.add(s.incarnation, "", trace.Body{Process: &trace.Process{Name: r.cluster.Plugins()[i].Name, State: trace.ProcessFailed}})
	}
}

// connected counts the plugin processes of a server.
func (r *run) connected(p host.Process, n int) {
	r.change(func() {
		for _, s := range r.servers {
			if s.process.Pid() == p.Parent {
				s.plugins += n
				if n > 0 {
					s.latest = p.Executable
				}
			}
		}
	})
}

// serverOf is the server that has started the process; nil: none that the run still listens to.
func (r *run) serverOf(p host.Process) *server {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.servers {
		if s.process.Pid() == p.Parent && !s.ended {
			return s
		}
	}
	return nil
}

// journal records a call, and lets the faults strike before and after it.
func (r *run) journal(p host.Process) fakeplugins.Journal {
	s := r.serverOf(p)
	if s == nil { // it was killed meanwhile, and its plugins with it
		return func(string, trace.Call) func(trace.Return) { <-r.ctx.Done(); return func(trace.Return) {} }
	}
	return func(object string, c trace.Call) func(trace.Return) {
		c.ID, c.Item = r.rec.call(), r.cluster.Outside(c.Item)
		r.rec.add(s.incarnation, object, trace.Body{Call: &c})
		if once(c) {
			s.begins(p, object, c)
		}
		strike := func(after bool) {
			faults := r.points.Call(c, after)
			r.strikeAt(s, slices.DeleteFunc(slices.Clone(faults), crashes))
			if i := slices.IndexFunc(faults, crashes); i >= 0 {
				s.ends(c.ID)
				cut := trace.Body{Return: &trace.Return{ID: c.ID, Error: cluster.CrashError}}
				r.crash(p, faults[i], cluster.Crashed(c.Plugin+"'s", c.Method, after), s.incarnation, object, cut)
			}
		}
		strike(false)
		return func(ret trace.Return) {
			strike(true)
			if once(c) && !s.ends(c.ID) {
				return
			}
			ret.ID = c.ID
			r.rec.add(s.incarnation, object, trace.Body{Return: &ret})
		}
	}
}

// strikeAt lets faults strike a server that waits for what called this. It does not return if the server is killed.
func (r *run) strikeAt(s *server, faults []scenario.Fault) {
	for _, x := range faults {
		if r.strike(s, x) {
			<-r.ctx.Done()
		}
	}
}

// strike lets a fault strike the server, now or after its delay. Others are things that the user does. It reports whether the server dies
// now.
func (r *run) strike(s *server, x scenario.Fault) (dies bool) {
	switch {
	case x.Do.Outage.Duration > 0:
		r.outage(x)
	case x.Do.Severs():
		r.sever(x)
	case x.Do.OnServer():
		return r.onServer(s, x)
	default:
		r.after(x.At.Delay.Duration, func() { r.userDoes(x) })
	}
	return false
}
