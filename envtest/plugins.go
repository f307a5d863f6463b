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
	executables := map[string]host.Executable{objectStore: {ObjectStore: true}}
	for _, p := range r.cluster.Plugins() {
		e := executables[p.File()]
		e.Plugins = append(e.Plugins, p)
		if p.Start != (scenario.Start{}) {
			e.Starts = []host.Start{{Start: misstart(p.Start)}}
		}
		executables[p.File()] = e
	}
	for name := range executables {
		if err := os.Link(r.world.options.Plugins, filepath.Join(r.folder, "plugins", name)); err != nil {
			if err = os.Symlink(r.world.options.Plugins, filepath.Join(r.folder, "plugins", name)); err != nil {
				return fmt.Errorf("failed to install the plugin %s: %w", name, err)
			}
		}
	}
	for _, path := range r.world.options.Extra {
		if err := os.Symlink(path, filepath.Join(r.folder, "plugins", filepath.Base(path))); err != nil {
			return fmt.Errorf("failed to install the plugin %s: %w", path, err)
		}
	}
	r.plugins, err = host.Listen(r.ctx, r.folder, host.Options{
		Executables: executables,
		Operations:  fakeplugins.NewOperations(r.rec.position.start, r.names.Of),
		Journal:     r.journal,
		Access:      r.access,
		Started:     func(p host.Process) { r.connected(p, 1) },
		Ended:       func(p host.Process) { r.connected(p, -1) },
		Failed:      func(err error) { r.fail(fmt.Errorf("a plugin process fails: %w", err)) },
	})
	return err
}

// misstart is how the process starts, in the words of the executable.
func misstart(s scenario.Start) wire.Start {
	w := wire.Start{Delay: s.Delay.Duration, NoHandshake: s.Handshake == scenario.NoHandshake, ProtocolVersion: s.Protocol}
	if s.Exit {
		w.Exit = new(1)
	}
	if s.Handshake == scenario.WrongHandshake {
		w.Handshake = "Hello from the plugin!"
	}
	return w
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
		strike := func(after bool) {
			faults := r.points.Call(c, after)
			r.strikeAt(s, slices.DeleteFunc(slices.Clone(faults), crashes))
			if i := slices.IndexFunc(faults, crashes); i >= 0 {
				cut := trace.Body{Return: &trace.Return{ID: c.ID, Error: cluster.CrashError}}
				r.crash(p, faults[i], cluster.Crashed(c.Plugin+"'s", c.Method, after), s.incarnation, object, cut)
			}
		}
		strike(false)
		return func(ret trace.Return) {
			strike(true)
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

// strike lets a fault strike that kills the server, now or after its delay: then it is the one that runs, or has begun to start, by
// then. Others are things that the user does. It reports whether the server dies now.
func (r *run) strike(s *server, x scenario.Fault) (dies bool) {
	switch {
	case x.Do.Outage.Duration > 0:
		r.outage(x)
		return false
	case x.Do.Kill == nil:
		r.after(x.At.Delay.Duration, func() { r.userDoes(x) })
		return false
	case x.At.Delay.Duration == 0:
		r.after(0, func() { s.kill(x) })
		return true
	}
	r.after(x.At.Delay.Duration, func() {
		r.starting.Lock()
		current := r.servers[len(r.servers)-1]
		r.starting.Unlock()
		current.kill(x)
	})
	return false
}
