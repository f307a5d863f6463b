package prepost

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
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

// with is the statuses with that of a plugin's action, in place of an earlier one.
func with(statuses []actions.Status, s actions.Status) []actions.Status {
	if earlier := find(statuses, s.PluginName); earlier != nil {
		*earlier = s
		return statuses
	}
	return append(statuses, s)
}

// live is the object as it is now. The error is that it is not found, if it is another of the same name.
func (s *Server) live(ctx context.Context, controller string, o client.Object) (client.Object, error) {
	live := o.DeepCopyObject().(client.Object)
	if err := s.Views.Direct(controller).Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
		return nil, err
	}
	if live.GetUID() != o.GetUID() {
		return nil, apierrors.NewNotFound(velerov1.Resource(fmt.Sprintf("%T", o)), o.GetName())
	}
	return live, nil
}

// update changes the record of an object, and the statuses that mirror it, as a controller. Another server may write it too, so that it changes what
// there is, and tries again as long as Velero tries again to write what it must, until ctx ends or the object is not found. It returns
// the object as it is then.
func (s *Server) update(ctx context.Context, controller string, o client.Object, change func(*record)) (client.Object, error) {
	var written client.Object
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, veleroclient.CapBackoff(s.ResourceTimeout), func(ctx context.Context) (bool, error) {
		live, err := s.live(ctx, controller, o)
		if apierrors.IsNotFound(err) {
			return false, err
		}
		if err == nil {
			r := recordOf(live)
			if r == nil { // somebody has taken it away
				r = &record{Run: o.GetUID()}
			}
			change(r)
			written, err = s.write(ctx, controller, live, r)
		}
		last = err
		return err == nil, nil
	})
	if err != nil && last != nil && !apierrors.IsNotFound(err) {
		err = fmt.Errorf("%w: %w", err, last)
	}
	return written, err
}

// write writes the object's record, if nobody has written the object since it was read. It returns the object as it is then.
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
		"metadata": map[string]any{
			"annotations": map[string]any{Annotation: r.encode()}, "uid": o.GetUID(), "resourceVersion": o.GetResourceVersion(),
		},
		"status": status,
	}
	b, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	written := o.DeepCopyObject().(client.Object)
	return written, s.Views.Direct(controller).Patch(ctx, written, client.RawPatch(types.MergePatchType, b))
}
