package fakeplugins

import (
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Journal is told of each call before it has an effect, with the object that it is made for as Velero names it (backup/NAME or
// restore/NAME; empty for AppliesTo, which is told of none), and returns the hook that is told of its outcome: when it has had
// its effect, or has failed or panicked, and before Velero sees the reply. A call that the end of its process cuts short has no
// outcome. The IDs of calls and returns, and the controller, are left for the journal to fill in. It is called without a lock
// held, and may block or not return.
type Journal func(object string, call trace.Call) (returned func(trace.Return))

// Caller makes the calls of one process of a plugin. It is an [Interpreter], or what stands for one that is elsewhere.
type Caller interface {
	// Begin is told of a call before it has an effect. It fails if the interpreter is out of reach.
	Begin(object string, call trace.Call) (Begun, error)
}

// Begun is a call that has begun: the process waits for Delay, and then hangs or finishes it.
type Begun struct {
	Delay time.Duration
	// Hang: the call never finishes.
	Hang bool
	// Finish gives the call its effect and returns what came of it. It fails if the interpreter is out of reach.
	Finish func() (Outcome, error)
}

// Outcome is what the process answers to a call.
type Outcome struct {
	// Error that the call fails with. Panic: it panics with it.
	Error string `json:"error,omitempty"`
	Panic bool   `json:"panic,omitempty"`
	// Resources that AppliesTo selects.
	Resources []string `json:"resources,omitempty"`
	// Operation that Execute started, the items that it names, and what is to become of the item and of the additional ones.
	Operation              string          `json:"operation,omitempty"`
	AdditionalItems        []scenario.Item `json:"additionalItems,omitempty"`
	ItemsToUpdate          []scenario.Item `json:"itemsToUpdate,omitempty"`
	SkipRestore            bool            `json:"skipRestore,omitempty"`
	WaitForAdditionalItems bool            `json:"waitForAdditionalItems,omitempty"`
	TooLarge               bool            `json:"tooLarge,omitempty"`
	// Progress that Progress reports; nil for the other methods.
	Progress *velero.OperationProgress `json:"progress,omitempty"`
	// Ready is what AreAdditionalItemsReady answers.
	Ready bool `json:"ready,omitempty"`
}

// Interpreter decides what comes of the calls of one process of a plugin, by the plugin's script. It is safe for concurrent
// use.
type Interpreter struct {
	script     scenario.Plugin
	operations *Operations
	journal    Journal
}

// NewInterpreter returns the interpreter of a new process of the plugin. An operation that its script has the plugin forget
// is known to the interpreter that started it, and no other.
func NewInterpreter(script scenario.Plugin, operations *Operations, journal Journal) *Interpreter {
	return &Interpreter{script: script, operations: operations, journal: journal}
}

// Begin implements [Caller]: it journals the call and counts it. Its error is always nil.
func (i *Interpreter) Begin(object string, c trace.Call) (Begun, error) {
	c.Plugin = i.script.Name
	returned := i.journal(object, c)
	object = i.operations.name(object)
	b := i.behaviour(c.Method)
	hit := struck(b, i.operations.count(i.plugin(), c))
	return Begun{
		Delay: b.Delay.Duration,
		Hang:  hit && b.Hang,
		Finish: func() (Outcome, error) {
			out, traced := i.outcome(object, c, b, hit)
			traced.Error, traced.Panic = out.Error, out.Panic
			returned(traced)
			return out, nil
		},
	}, nil
}

func (i *Interpreter) behaviour(method string) scenario.Behaviour {
	switch method {
	case "AppliesTo":
		return i.script.AppliesTo
	case "Progress":
		return i.script.Progress
	case "Cancel":
		return i.script.Cancel
	case "AreAdditionalItemsReady":
		return i.script.AreAdditionalItemsReady.Behaviour
	default:
		return i.script.Execute.Behaviour
	}
}

// outcome is the error or panic if the call is struck, else the effect; and the same for the trace.
func (i *Interpreter) outcome(object string, c trace.Call, b scenario.Behaviour, hit bool) (Outcome, trace.Return) {
	switch {
	case hit && b.Panic != "":
		return Outcome{Error: b.Panic, Panic: true}, trace.Return{}
	case hit && b.Error != "":
		return Outcome{Error: b.Error}, trace.Return{}
	case c.Method == "AppliesTo":
		return Outcome{Resources: i.script.Resources}, trace.Return{}
	case c.Method == "Progress":
		p, traced, err := i.operations.progress(i, c.Operation)
		if err != nil {
			return Outcome{Error: err.Error()}, trace.Return{}
		}
		return Outcome{Progress: &p}, trace.Return{Progress: traced}
	case c.Method == "Cancel":
		if err := i.operations.cancel(i, c.Operation); err != nil {
			return Outcome{Error: err.Error()}, trace.Return{}
		}
		return Outcome{}, trace.Return{}
	case c.Method == "AreAdditionalItemsReady":
		ready := i.operations.ready(wait{i.plugin(), object}, i.script.AreAdditionalItemsReady)
		return Outcome{Ready: ready}, trace.Return{Ready: &ready}
	default:
		out := i.execute(object, c)
		return out, trace.Return{Operation: out.Operation}
	}
}

// execute starts the script's operation, except for items that Velero backs up again while it finalizes: it accepts none
// there (pkg/plugin/velero/backupitemaction/v2, pkg/backup/item_backupper.go).
func (i *Interpreter) execute(object string, c trace.Call) Outcome {
	e := i.script.Execute
	out := Outcome{
		AdditionalItems: e.AdditionalItems, SkipRestore: e.SkipRestore, WaitForAdditionalItems: e.WaitForAdditionalItems, TooLarge: e.TooLarge,
	}
	i.operations.executed(wait{i.plugin(), object})
	finalizing := c.Phase == "Finalizing" || c.Phase == "FinalizingPartiallyFailed"
	starts := i.script.Action == scenario.BackupItemAction && !finalizing || i.script.Action == scenario.RestoreItemAction
	if i.script.Operation != nil && starts {
		out.Operation = i.operations.start(i, object, *i.script.Operation)
		if i.script.Action == scenario.BackupItemAction {
			out.ItemsToUpdate = e.ItemsToUpdate
		}
	}
	return out
}

func (i *Interpreter) plugin() plugin { return plugin{action: i.script.Action, name: i.script.Name} }

// struck reports whether the n-th call is one that misbehaves.
func struck(b scenario.Behaviour, n int) bool {
	first := max(b.Nth, 1)
	return n >= first && (b.Times == 0 || n-first < b.Times)
}
