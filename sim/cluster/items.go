package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/trace"
)

// RestOfItems calls record for each object of the cluster that the scenario expects something of, resource/namespace/name, with what it is
// like now.
func (u User) RestOfItems(ctx context.Context, record func(item string, is trace.Item)) error {
	for _, m := range u.Expect.Items() {
		item, _ := m.Item()
		inside := u.Inside(item)
		var o unstructured.Unstructured
		o.SetAPIVersion(m["apiVersion"].(string)) // as Item says
		o.SetKind(m["kind"].(string))
		err := u.Client.Get(ctx, client.ObjectKey{Namespace: inside.Namespace(), Name: inside.Name()}, &o)
		switch {
		case apierrors.IsNotFound(err):
			record(string(item), trace.Item{})
			continue
		case err != nil:
			return fmt.Errorf("failed to look at %s at the end: %w", item, err)
		}
		o.SetManagedFields(nil)
		o.SetNamespace(item.Namespace())
		is, err := json.Marshal(o.Object)
		if err != nil {
			return fmt.Errorf("failed to keep %s: %w", item, err)
		}
		record(string(item), trace.Item{Manifest: is})
	}
	return nil
}
