package fakeplugins

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/trace"
)

// Recorded are item actions of a plugin that has no script: an executable of the user's. The journal is told of their calls, and of what
// came of them, as it is of scripted ones'.
type Recorded struct {
	// Name that the plugin is registered by.
	Name    string
	Journal Journal
	// Epoch is the instant from which the trace counts time.
	Epoch time.Time
}

// call makes a call between the journal's hooks. A panic is one of the plugin's in this process.
func (r Recorded) call(object string, c trace.Call, do func(*trace.Return) error) error {
	c.Plugin = r.Name
	returned := r.Journal(object, c)
	var ret trace.Return
	err := do(&ret)
	if err != nil {
		ret = trace.Return{Error: cmp.Or(err.Error(), "an error without a text")}
		ret.Panic = strings.Contains(ret.Error, pluginPanic) || strings.HasPrefix(ret.Error, panicCode)
	}
	returned(ret)
	return err
}

// pluginPanic is in the error that Velero's framework makes of a panic (HandlePanic, pkg/plugin/framework/common/handle_panic.go); panicCode is
// before all of them, also those of an error with a stack, which is passed on as it is.
const (
	pluginPanic = "plugin panicked:"
	panicCode   = "rpc error: code = Aborted "
)

func (r Recorded) appliesTo(do func() (velero.ResourceSelector, error)) (s velero.ResourceSelector, err error) {
	err = r.call("", trace.Call{Method: "AppliesTo"}, func(ret *trace.Return) error {
		s, err = do()
		ret.Selects = Selects(s)
		return err
	})
	return s, err
}

func (r Recorded) progress(object, phase, operation string, do func() (velero.OperationProgress, error)) (p velero.OperationProgress, err error) {
	c := trace.Call{Method: "Progress", Operation: operation, Phase: phase}
	err = r.call(object, c, func(ret *trace.Return) error {
		p, err = do()
		ret.Progress = &trace.Progress{
			Done: p.NCompleted, Of: p.NTotal, Units: p.OperationUnits, Description: p.Description, Completed: p.Completed, Error: p.Err,
			Started: r.time(p.Started), Updated: r.time(p.Updated),
		}
		return err
	})
	return p, err
}

func (r Recorded) cancel(object, phase, operation string, do func() error) error {
	return r.call(object, trace.Call{Method: "Cancel", Operation: operation, Phase: phase}, func(*trace.Return) error { return do() })
}

// time is the trace's; 0: the plugin has set none.
func (r Recorded) time(t time.Time) trace.Time {
	if t.Unix() <= 0 {
		return 0
	}
	return trace.Time(t.Sub(r.Epoch))
}

// returned names the item that Execute has returned, if it is not the one that it was given; "none": it has returned none.
func returned(given string, item runtime.Unstructured) string {
	if item == nil || len(item.UnstructuredContent()) == 0 {
		return "none"
	}
	if name := itemName(item); name != given {
		return name
	}
	return ""
}

// Selects is a selector in words: configmaps,secrets in app, labelled app=web. Empty: it selects everything.
func Selects(s velero.ResourceSelector) string {
	list := func(prefix string, names []string) string {
		if len(names) == 0 {
			return ""
		}
		return prefix + strings.Join(slices.Sorted(slices.Values(names)), ",")
	}
	parts := []string{
		list("", s.IncludedResources), list("not ", s.ExcludedResources),
		list("in ", s.IncludedNamespaces), list("not in ", s.ExcludedNamespaces),
	}
	if s.LabelSelector != "" {
		parts = append(parts, "labelled "+s.LabelSelector)
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
}
