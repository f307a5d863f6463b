package host

import (
	"time"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Options are what a host is to do. All hooks are called from many goroutines at once and without a lock held. They may block
// or not return, and the process waits; nil: there is nothing to tell.
type Options struct {
	// Executables are what processes are, by the base name of the file in the server's plugin folder. Processes of others are
	// turned away.
	Executables map[string]Executable
	// Operations of the run, which outlive the host. Default: new ones, whose trace begins now.
	Operations *fakeplugins.Operations
	// Epoch is the instant from which the trace counts time. Default: now.
	Epoch time.Time
	// Journal returns the journal of the calls of a process.
	Journal func(Process) fakeplugins.Journal
	// Access is told of each access to the object store, before it has an effect, and says what becomes of it. The hook that it
	// returns is told of its outcome, before Velero sees it; one that the end of its process cuts short has none. The Size is
	// that of what is put or got, in bytes; the Key is bucket/key.
	Access func(Process, trace.Store) (StoreFault, func(outcome trace.Store))
	// Started is told of a process, and how its start goes, before it registers anything with Velero, and Ended when its connection
	// has ended. Then a hook that was told of a call before may still be running.
	Started func(Process, wire.Start)
	Ended   func(Process)
	// Failed is told what is wrong with the processes themselves: one of another version, a message that is none, the name of no
	// executable. The run says nothing about Velero then.
	Failed func(error)
}

// Executable is a file in the server's plugin folder. The zero value registers nothing.
type Executable struct {
	// Plugins that it registers, their times as they are.
	Plugins []scenario.Plugin
	// ObjectStore: it registers the object store.
	ObjectStore bool
	// Forward is the path of an executable of the user's that its processes stand for; then it has no Plugins.
	Forward string
	// Starts and Strikes are how its processes misbehave.
	Starts  []Start
	Strikes []Strike
}

// Start is how some starts of an executable go wrong. Velero starts each executable once to list its plugins when the server
// starts, and then once for every plugin manager that uses it.
type Start struct {
	// Nth start that goes wrong, counted from 1 and anew for each server (Process.Parent). Default: 1.
	Nth int
	// Times is how many starts in a row go wrong. Default, 0: every one from Nth on.
	Times int
	wire.Start
}

// Strike is what processes of an executable do to themselves at some calls and accesses to the object store.
type Strike struct {
	// Plugin called; empty: any.
	Plugin string
	// Method of an item action, or a verb of the object store: put, get, exists, list, delete or sign; empty: any.
	Method string
	// Nth call that is struck, counted from 1 over all processes. Default: 1.
	Nth int
	// Times is how many calls in a row are struck. Default, 0: every one from Nth on.
	Times int
	// After: it strikes when the call has had its effect and Velero has not seen the reply; default, before.
	After bool
	wire.Strike
}

// StoreFault is what becomes of an access to the object store. The zero value: nothing.
type StoreFault struct {
	// Fail, if not empty, is the error that it fails with, without an effect.
	Fail string
	// Late, if not empty, is the error that it fails with when it has had its effect, and the hook was told of that.
	Late string
	// Lose removes the object just before the access.
	Lose bool
}

// Process is a plugin process that has registered.
type Process struct {
	// Executable is the base name that it was started by.
	Executable string
	PID        int
	// Parent is the PID of the process that started it: the server's.
	Parent int
}

// filled has every hook, and the operations.
func (o Options) filled() Options {
	if o.Epoch.IsZero() {
		o.Epoch = time.Now()
	}
	if o.Operations == nil {
		o.Operations = fakeplugins.NewOperations(o.Epoch, nil)
	}
	if o.Journal == nil {
		o.Journal = func(Process) fakeplugins.Journal {
			return func(string, trace.Call) func(trace.Return) { return func(trace.Return) {} }
		}
	}
	if o.Access == nil {
		o.Access = func(Process, trace.Store) (StoreFault, func(trace.Store)) { return StoreFault{}, func(trace.Store) {} }
	}
	if o.Started == nil {
		o.Started = func(Process, wire.Start) {}
	}
	if o.Ended == nil {
		o.Ended = func(Process) {}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return o
}

// within reports whether the n-th is one of times from nth on.
func within(n, nth, times int) bool {
	first := max(nth, 1)
	return n >= first && (times == 0 || n-first < times)
}
