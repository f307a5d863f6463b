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

// Process is one run of the process of a scripted plugin. It is safe for concurrent use.
type Process struct {
	ctx    context.Context
	name   string
	caller Caller
}

// NewProcess returns a process of the plugin that ends with ctx: then calls that hang or are delayed return an error, and
// so do later ones. The script is one that [scenario.Parse] has accepted. In a synctest bubble, ctx must come from it.
func NewProcess(ctx context.Context, script scenario.Plugin, operations *Operations, journal Journal) *Process {
	return NewProcessOf(ctx, script.Name, NewInterpreter(script, operations, journal))
}

// NewProcessOf returns a process whose calls are made by caller, of the plugin with this name. It ends with ctx.
func NewProcessOf(ctx context.Context, name string, caller Caller) *Process {
	return &Process{ctx: ctx, name: name, caller: caller}
}

// Name is the name that the plugin is registered by.
func (p *Process) Name() string { return p.name }

// AppliesTo selects the script's resources.
func (p *Process) AppliesTo() (velero.ResourceSelector, error) {
	out, err := p.call("", trace.Call{Method: "AppliesTo"})
	return velero.ResourceSelector{IncludedResources: out.Resources}, err
}

// call makes a call as the script has it: a delay, then the error, hang or panic if it is struck, else its effect.
func (p *Process) call(object string, c trace.Call) (Outcome, error) {
	if p.ctx.Err() != nil {
		return Outcome{}, p.ended(c)
	}
	begun, err := p.caller.Begin(object, c)
	if err != nil {
		return Outcome{}, p.failed(c, err)
	}
	if !p.sleep(begun.Delay) {
		return Outcome{}, p.ended(c)
	}
	if begun.Hang {
		<-p.ctx.Done()
		return Outcome{}, p.ended(c)
	}
	out, err := begun.Finish()
	switch {
	case err != nil:
		return Outcome{}, p.failed(c, err)
	case out.Panic:
		panic(out.Error)
	case p.ctx.Err() != nil: // the process ended in the hook, and its reply with it
		return Outcome{}, p.ended(c)
	case out.Error != "":
		return Outcome{}, errors.New(out.Error)
	}
	return out, nil
}

func (p *Process) progress(object, phase, id string) (velero.OperationProgress, error) {
	out, err := p.call(object, trace.Call{Method: "Progress", Operation: id, Phase: phase})
	if err != nil || out.Progress == nil {
		return velero.OperationProgress{}, err
	}
	return *out.Progress, nil
}

func (p *Process) cancel(object, phase, id string) error {
	_, err := p.call(object, trace.Call{Method: "Cancel", Operation: id, Phase: phase})
	return err
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
	return p.failed(c, errors.New("the plugin's process has ended"))
}

func (p *Process) failed(c trace.Call, err error) error {
	return fmt.Errorf("plugin %s: %s: %w", p.name, c.Method, err)
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

// enlarged is an item with an annotation that alone is as large as what a plugin's server takes in one request: gRPC's default, which Velero
// leaves as it is (pkg/plugin/framework/server.go).
func enlarged(item runtime.Unstructured) runtime.Unstructured {
	u := (&unstructured.Unstructured{Object: item.UnstructuredContent()}).DeepCopy()
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["velosim.io/enlarged"] = strings.Repeat("x", 4<<20)
	u.SetAnnotations(annotations)
	return u
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
