package prepost

import (
	"context"
	"encoding/json"
	"slices"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/actions"
)

// Annotation has the record of the actions of a backup or restore, as JSON.
const Annotation = "velosim.io/actions"

// record is what is known of the actions of an object.
type record struct {
	// Run is the UID of the object whose run this is: a copy has another.
	Run types.UID `json:"run"`
	// Pre and Post are the actions that have begun, in order.
	Pre  []actions.Status `json:"pre,omitempty"`
	Post []actions.Status `json:"post,omitempty"`
}

// recordOf is the record of the object's own run; nil: it has none.
func recordOf(o client.Object) *record {
	var r record
	if err := json.Unmarshal([]byte(o.GetAnnotations()[Annotation]), &r); err != nil || r.Run == "" || r.Run != o.GetUID() {
		return nil
	}
	return &r
}

// mark gives an object whose run begins its record and its finalizer.
func mark(o client.Object) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[Annotation] = (&record{Run: o.GetUID()}).encode()
	o.SetAnnotations(annotations)
	if !slices.Contains(o.GetFinalizers(), actions.Finalizer) {
		o.SetFinalizers(append(o.GetFinalizers(), actions.Finalizer))
	}
}

func (r *record) encode() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // it has nothing that cannot be JSON
	}
	return string(b)
}

// find returns the status of a plugin's action; nil: it has not begun.
func find(statuses []actions.Status, plugin string) *actions.Status {
	i := slices.IndexFunc(statuses, func(s actions.Status) bool { return s.PluginName == plugin })
	if i < 0 {
		return nil
	}
	return &statuses[i]
}

// write writes the object's record, and the statuses that mirror it, as a controller. It returns the object as it is then.
func (s *Server) write(ctx context.Context, controller string, o client.Object, r *record) (client.Object, error) {
	pre, post := "preBackupActionsStatuses", "postBackupActionsStatuses"
	if _, ok := o.(*velerov1.Restore); ok {
		pre, post = "preRestoreActionsStatuses", "postRestoreActionsStatuses"
	}
	status := map[string]any{}
	if len(r.Pre) > 0 {
		status[pre] = r.Pre
	}
	if len(r.Post) > 0 {
		status[post] = r.Post
	}
	patch := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{Annotation: r.encode()}, "uid": o.GetUID()}, // not to another of the same name
		"status":   status,
	}
	b, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	written := o.DeepCopyObject().(client.Object)
	return written, s.Views.Direct(controller).Patch(ctx, written, client.RawPatch(types.MergePatchType, b))
}
