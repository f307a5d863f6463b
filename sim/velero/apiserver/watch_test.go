package apiserver_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/velosim/velosim/sim/velero/apiserver"
	v1crds "github.com/vmware-tanzu/velero/config/crd/v1/crds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// seen is what has arrived on a watch: type, name and label tier of each event.
func seen(w watch.Interface) []string {
	var events []string
	for {
		synctest.Wait()
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return append(events, "closed")
			}
			if u, ok := e.Object.(*unstructured.Unstructured); ok && u.GetKind() != "Status" {
				events = append(events, fmt.Sprint(e.Type, " ", u.GetName(), " ", u.GetLabels()["tier"]))
			} else {
				events = append(events, fmt.Sprint(e.Type, " ", apierrors.FromObject(e.Object)))
			}
		default:
			return events
		}
	}
}

// undecodable is what client-go makes of an error that ends a watch.
func undecodable(err error) string {
	return fmt.Sprintf("an error on the server (\"unable to decode an event from the watch stream: %v\") has prevented the request from succeeding", err)
}

func label(t testing.TB, c dynamic.ResourceInterface, name, tier string) *unstructured.Unstructured {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{"tier":%q}}}`, tier)
	u, err := c.Patch(context.Background(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func create(t testing.TB, c dynamic.ResourceInterface, name string) *unstructured.Unstructured {
	t.Helper()
	u, err := c.Create(context.Background(), object(configMaps, "ConfigMap", name, nil), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		all := untyped(t, s, nil).Resource(configMaps)
		c := all.Namespace("velero")
		start := func(o metav1.ListOptions) watch.Interface {
			w, err := c.Watch(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		a := create(t, c, "a")
		label(t, c, "a", "gold")
		watches := []struct {
			name    string
			w       watch.Interface
			initial []string
			later   []string
		}{
			{
				"without a resourceVersion", start(metav1.ListOptions{}),
				[]string{"ADDED a gold"},
				[]string{"ADDED b ", "MODIFIED a silver", "MODIFIED b gold", "DELETED a silver"},
			},
			{
				"from 0", start(metav1.ListOptions{ResourceVersion: "0"}),
				[]string{"ADDED a gold"},
				[]string{"ADDED b ", "MODIFIED a silver", "MODIFIED b gold", "DELETED a silver"},
			},
			{
				"from an old resourceVersion", start(metav1.ListOptions{ResourceVersion: a.GetResourceVersion()}),
				[]string{"MODIFIED a gold"},
				[]string{"ADDED b ", "MODIFIED a silver", "MODIFIED b gold", "DELETED a silver"},
			},
			{
				"by label", start(metav1.ListOptions{LabelSelector: "tier=gold"}),
				[]string{"ADDED a gold"},
				[]string{"DELETED a gold", "ADDED b gold"},
			},
			{
				"by name", start(metav1.ListOptions{FieldSelector: "metadata.name=b"}), nil,
				[]string{"ADDED b ", "MODIFIED b gold"},
			},
			{"of another namespace", func() watch.Interface {
				w, err := all.Namespace("other").Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return w
			}(), nil, nil},
		}
		for _, w := range watches {
			if d := cmp.Diff(w.initial, seen(w.w)); d != "" {
				t.Errorf("%s: initial events (-want +got):\n%s", w.name, d)
			}
		}
		create(t, c, "b")
		label(t, c, "a", "silver")
		label(t, c, "b", "gold")
		label(t, c, "b", "gold") // changes nothing
		if err := c.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, w := range watches {
			if d := cmp.Diff(w.later, seen(w.w)); d != "" {
				t.Errorf("%s: events (-want +got):\n%s", w.name, d)
			}
			w.w.Stop()
			if d := cmp.Diff([]string{"closed"}, seen(w.w)); d != "" {
				t.Errorf("%s: after Stop (-want +got):\n%s", w.name, d)
			}
		}
	})
}

// The DELETED event has the resourceVersion of the deletion, so that a watch can be resumed from it.
func TestWatchResumesAfterDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		c := untyped(t, s, nil).Resource(configMaps).Namespace("velero")
		a := create(t, c, "a")
		if err := c.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		create(t, c, "b")
		w, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: a.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		deleted := (<-w.ResultChan()).Object.(*unstructured.Unstructured)
		w.Stop()
		if deleted.GetResourceVersion() == a.GetResourceVersion() {
			t.Error("the DELETED event has the resourceVersion of the object")
		}
		w, err = c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: deleted.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if d := cmp.Diff([]string{"ADDED b "}, seen(w)); d != "" {
			t.Errorf("resumed (-want +got):\n%s", d)
		}
	})
}

func TestWatchTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := apiserver.New(apiserver.Options{CRDs: v1crds.CRDs, WatchHistory: 2})
		if err != nil {
			t.Fatal(err)
		}
		createNamespace(t, s)
		c := untyped(t, s, nil).Resource(configMaps).Namespace("velero")
		var revisions []string
		for _, name := range []string{"a", "b", "c", "d"} {
			revisions = append(revisions, create(t, c, name).GetResourceVersion())
		}
		if _, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: revisions[0]}); !apierrors.IsResourceExpired(err) {
			t.Errorf("watch from before the history: %v, want Expired", err)
		}
		w, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: revisions[1]})
		if err != nil {
			t.Fatalf("watch from the start of the history: %v", err)
		}
		defer w.Stop()
		if e := <-w.ResultChan(); e.Object.(*unstructured.Unstructured).GetName() != "c" {
			t.Errorf("first event %v, want c", e)
		}
		if _, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1000"}); !apierrors.IsTimeout(err) {
			t.Errorf("watch from the future: %v, want Timeout", err)
		}
	})
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		ctx, cancel := context.WithCancel(t.Context())
		w, err := untyped(t, s, nil).Resource(configMaps).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if events := seen(w); events != nil {
			t.Errorf("an idle watch had events %v", events)
		}
		cancel()
		want := []string{"ERROR " + undecodable(context.Canceled), "closed"}
		if d := cmp.Diff(want, seen(w)); d != "" {
			t.Errorf("after cancel (-want +got):\n%s", d)
		}
	})
}

// Watches end with what was not handed over, and one from the last version that was seen goes on.
func TestEndWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		c := untyped(t, s, nil).Resource(configMaps).Namespace("velero")
		w, err := c.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a := create(t, c, "a")
		if d := cmp.Diff([]string{"ADDED a "}, seen(w)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		s.EndWatches()
		create(t, c, "b")
		if d := cmp.Diff([]string{"closed"}, seen(w)); d != "" {
			t.Errorf("the watch that was ended (-want +got):\n%s", d)
		}
		again, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: a.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Stop()
		if d := cmp.Diff([]string{"ADDED b "}, seen(again)); d != "" {
			t.Errorf("the next one (-want +got):\n%s", d)
		}
	})
}
