package direct

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Spec says what to call, and how long.
type Spec struct {
	// Path of the executable, and the arguments that Velero would give it.
	Path string   `json:"path"`
	Args []string `json:"args,omitempty"`
	// Namespace is Velero's own.
	Namespace string `json:"namespace"`
	// Items are in the cluster; those in Namespace are none of a backup's.
	Items []unstructured.Unstructured `json:"items"`
	// Epoch is the instant from which the trace counts time.
	Epoch time.Time `json:"epoch"`
	// Within is how long operations are polled, Call how long a call may take, CancelWithin how long an operation may go on after Cancel.
	Within       time.Duration `json:"within"`
	Call         time.Duration `json:"call"`
	CancelWithin time.Duration `json:"cancelWithin"`
}

// atATime is how many items are treated at the same time, at most.
const atATime = 8

// poll is how often operations are asked for their progress.
const poll = 500 * time.Millisecond

// Run goes through all exercises for each item action of those that the executable registers. Sink gets the events, one after another. The error says
// why there could be no exercise at all.
func Run(spec Spec, registered []framework.PluginIdentifier, c client.Client, sink func(object string, body trace.Body)) error {
	x := &run{spec: spec, cluster: c, sink: sink}
	helper, err := x.discover()
	if err != nil {
		return fmt.Errorf("failed to discover the resources of the cluster: %w", err)
	}
	x.helper = helper
	for _, id := range registered {
		x.event("", trace.Body{Plugin: &trace.Plugin{Kind: string(id.Kind), Name: id.Name}})
	}
	for _, id := range registered {
		if a, ok := actionOf(id); ok {
			x.exercise(a)
		}
	}
	x.leftovers()
	return nil
}

// run is the state of the exercises.
type run struct {
	spec    Spec
	cluster client.Client
	helper  discoverer
	sink    func(object string, body trace.Body)

	mu    sync.Mutex // held while the sink is told
	calls int
}

func (x *run) event(object string, body trace.Body) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sink(object, body)
}

// marker is set in the environment of the plugin's processes, and of all that they start.
const marker = "VELOSIM_DIRECT"

func (x *run) start() (*subprocess.Process, error) {
	return subprocess.Start(subprocess.Options{Path: x.spec.Path, Args: x.spec.Args, Env: []string{fmt.Sprintf("%s=%d", marker, os.Getpid())}})
}

// stop ends a process as Velero does, and records how it goes.
func (x *run) stop(p *subprocess.Process, name string) {
	state := "stopped"
	switch {
	case p.Exited():
		p.Stop()
		state = trace.ProcessExited
	case !p.Stop():
		state = "killed"
	}
	if name != "" {
		x.event("", trace.Body{Process: &trace.Process{Name: name, State: state}})
	}
}

// exercise goes through all exercises for an action.
func (x *run) exercise(a action) {
	selector, ok := x.processes(a)
	if !ok {
		return
	}
	fitting, foreign, err := x.sort(selector)
	if err != nil { // the selector is none
		return
	}
	foreign = append(foreign, bare(fitting)...)
	if len(fitting) > 0 {
		operations := x.execute(a, exercise.Fitting, "", fitting, false)
		x.follow(a, exercise.Fitting, operations, x.spec.Within)
		if len(operations) > 0 {
			x.ended(a, operations[0])
		}
		x.follow(a, exercise.Concurrent, x.execute(a, exercise.Concurrent, "", fitting[:min(len(fitting), atATime)], true), x.spec.Within)
		x.cancelled(a, fitting[0])
		if a.kind == scenario.BackupItemAction {
			x.execute(a, exercise.Finalizing, "Finalizing", fitting[:1], false)
		}
		x.execute(a, exercise.Large, "", []unstructured.Unstructured{large(fitting[0])}, false)
	}
	if a.async {
		x.unknown(a)
	}
	for _, item := range foreign { // each in a process of its own: one may end it
		x.execute(a, exercise.Foreign, "", []unstructured.Unstructured{item}, false)
	}
}

// within starts a process, lets do make calls of it until one fails to return, and ends it.
func (x *run) within(a action, exercise string, do func(*process)) {
	p, err := x.start()
	if err != nil {
		x.event("", trace.Body{Process: &trace.Process{Name: a.name, State: trace.ProcessFailed}})
		return
	}
	q := &process{run: x, Process: p, action: a, object: x.object(a, exercise)}
	x.event("", trace.Body{Process: &trace.Process{Name: a.name, State: "started"}})
	do(q)
	if !q.hung.Load() {
		x.stop(p, a.name)
	}
}

// execute calls Execute for the items, one after another or at the same time, and returns the operations that were started.
func (x *run) execute(a action, exercise, phase string, items []unstructured.Unstructured, together bool) (operations []string) {
	var mu sync.Mutex
	x.within(a, exercise, func(p *process) {
		p.create(phase)
		var all sync.WaitGroup
		for _, item := range items {
			do := func() {
				if operation := p.execute(item); operation != "" {
					p.progress(operation) // as Velero does when it has called Execute for all
					mu.Lock()
					defer mu.Unlock()
					operations = append(operations, operation)
				}
			}
			if together {
				all.Go(do)
			} else {
				do()
			}
		}
		all.Wait()
	})
	slices.Sort(operations)
	return slices.Compact(operations)
}

// follow polls operations until all have ended, each time in a new process, and some time at most.
func (x *run) follow(a action, exercise string, operations []string, most time.Duration) {
	open := slices.Clone(operations)
	for end := time.Now().Add(most); len(open) > 0 && time.Now().Before(end); {
		x.within(a, exercise, func(p *process) {
			open = slices.DeleteFunc(open, func(operation string) bool { return p.progress(operation) || p.hung.Load() })
		})
		if len(open) > 0 {
			time.Sleep(poll)
		}
	}
}

// ended cancels an operation that has ended, and asks after it twice, as it may change its mind.
func (x *run) ended(a action, operation string) {
	x.within(a, exercise.Ended, func(p *process) { p.cancel(operation) })
	for range 3 {
		x.within(a, exercise.Ended, func(p *process) { p.progress(operation) })
		time.Sleep(poll)
	}
}

// cancelled cancels an operation that goes on.
func (x *run) cancelled(a action, item unstructured.Unstructured) {
	operation, over := "", false
	x.within(a, exercise.Cancelled, func(p *process) {
		p.create("")
		if operation = p.execute(item); operation == "" {
			return
		}
		x.within(a, exercise.Cancelled, func(q *process) { // not after p, which may take its time to end
			if over = q.progress(operation); !over {
				q.cancel(operation)
			}
		})
	})
	if operation == "" || over {
		return
	}
	x.follow(a, exercise.Cancelled, []string{operation}, x.spec.CancelWithin)
	x.within(a, exercise.Cancelled, func(p *process) { p.cancel(operation) })
}

// unknown asks after an operation that nobody has started.
func (x *run) unknown(a action) {
	x.within(a, exercise.Unknown, func(p *process) {
		p.create("")
		p.progress(exercise.UnknownOperation)
	})
	x.within(a, exercise.Unknown, func(p *process) { p.cancel(exercise.UnknownOperation) })
}
