package fakeplugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Journal is told of each Execute, Progress and Cancel before it has an effect, with the object that it is made for
// (backup/NAME or restore/NAME), and returns the hook that is told of its outcome: when it has had its effect, or has
// failed or panicked, and before Velero sees the reply. A call that the end of its process cuts short has no outcome. The
// IDs of calls and returns, and the controller, are left for the journal to fill in. It is called without a lock held, and
// may block or not return.
type Journal func(object string, call trace.Call) (returned func(trace.Return))

// Process is one run of the process of a scripted plugin. It is safe for concurrent use.
type Process struct {
	ctx        context.Context
	script     scenario.Plugin
	operations *Operations
	journal    Journal
}

// NewProcess returns a process of the plugin that ends with ctx: then calls that hang or are delayed return an error, and
// so do later ones. The script is one that [scenario.Parse] has accepted. In a synctest bubble, ctx must come from it.
func NewProcess(ctx context.Context, script scenario.Plugin, operations *Operations, journal Journal) *Process {
	return &Process{ctx: ctx, script: script, operations: operations, journal: journal}
}

// Name is the name that the plugin is registered by.
func (p *Process) Name() string { return p.script.Name }

// AppliesTo selects the script's resources.
func (p *Process) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: p.script.Resources}, nil
}

func (p *Process) plugin() plugin { return plugin{action: p.script.Action, name: p.script.Name} }

// call makes a call as the script has it: a delay, then the error, hang or panic if it is struck, else its effect.
func (p *Process) call(object string, c trace.Call, b scenario.Behaviour, effect func() (trace.Return, error)) error {
	if p.ctx.Err() != nil {
		return p.ended(c)
	}
	c.Plugin = p.script.Name
	returned := p.journal(object, c)
	nth := p.operations.count(p.plugin(), c)
	if !p.sleep(b.Delay.Duration) {
		return p.ended(c)
	}

	var r trace.Return
	var err error
	switch hit := struck(b, nth); {
	case hit && b.Hang:
		<-p.ctx.Done()
		return p.ended(c)
	case hit && b.Panic != "":
		returned(trace.Return{Error: b.Panic, Panic: true})
		panic(b.Panic)
	case hit && b.Error != "":
		err = errors.New(b.Error)
	default:
		r, err = effect()
	}
	if err != nil {
		r.Error = err.Error()
	}
	returned(r)
	if p.ctx.Err() != nil { // the process ended in the hook, and its reply with it
		return p.ended(c)
	}
	return err
}

func (p *Process) progress(object, phase, id string) (velero.OperationProgress, error) {
	var r velero.OperationProgress
	c := trace.Call{Method: "Progress", Operation: id, Phase: phase}
	err := p.call(object, c, p.script.Progress, func() (trace.Return, error) {
		progress, traced, err := p.operations.progress(p, id)
		r = progress
		return trace.Return{Progress: traced}, err
	})
	if err != nil {
		return velero.OperationProgress{}, err
	}
	return r, nil
}

func (p *Process) cancel(object, phase, id string) error {
	c := trace.Call{Method: "Cancel", Operation: id, Phase: phase}
	return p.call(object, c, p.script.Cancel, func() (trace.Return, error) {
		return trace.Return{}, p.operations.cancel(p, id)
	})
}

// sleep waits for d and reports whether the process is still there.
func (p *Process) sleep(d time.Duration) bool {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.ctx.Done():
		}
	}
	return p.ctx.Err() == nil
}

// ended is what a call on a process that has ended comes to.
func (p *Process) ended(c trace.Call) error {
	return fmt.Errorf("plugin %s: %s: the plugin's process has ended", p.script.Name, c.Method)
}

// struck reports whether the n-th call is one that misbehaves.
func struck(b scenario.Behaviour, n int) bool {
	first := max(b.Nth, 1)
	return n >= first && (b.Times == 0 || n-first < b.Times)
}

// itemName writes an item as scenarios do: resource/namespace/name.
func itemName(item runtime.Unstructured) string {
	u := unstructured.Unstructured{Object: item.UnstructuredContent()}
	resource, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
	parts := []string{resource.GroupResource().String(), u.GetNamespace(), u.GetName()}
	if u.GetNamespace() == "" {
		parts = []string{parts[0], parts[2]}
	}
	return strings.Join(parts, "/")
}

// identifiers are the items as Velero names them.
func identifiers(items []scenario.Item) []velero.ResourceIdentifier {
	var ids []velero.ResourceIdentifier
	for _, item := range items {
		resource, rest, _ := strings.Cut(string(item), "/")
		namespace, name, _ := strings.Cut(rest, "/")
		ids = append(ids, velero.ResourceIdentifier{
			GroupResource: schema.ParseGroupResource(resource),
			Namespace:     namespace,
			Name:          name,
		})
	}
	return ids
}
