package apiserver_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/velosim/velosim/sim/velero/apiserver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gate is a Gate of functions; a nil one lets everything pass.
type gate struct {
	request func(apiserver.Request) error
	reply   func(r apiserver.Request, changed bool, err error) error
	watch   func(context.Context, apiserver.WatchEvent) error
}

func (g gate) Request(_ context.Context, r apiserver.Request) error {
	if g.request == nil {
		return nil
	}
	return g.request(r)
}

func (g gate) Reply(_ context.Context, r apiserver.Request, changed bool, err error) error {
	if g.reply == nil {
		return nil
	}
	return g.reply(r, changed, err)
}

func (g gate) Watch(ctx context.Context, _ apiserver.Request, e apiserver.WatchEvent) error {
	if g.watch == nil {
		return nil
	}
	return g.watch(ctx, e)
}

var errBroken = errors.New("connection broken")

func TestGateSeesRequests(t *testing.T) {
	s := newServer(t)
	var calls []string
	c := controllerRuntime(t, s, gate{
		request: func(r apiserver.Request) error {
			calls = append(calls, fmt.Sprintf("%s %s.%s/%s %s/%s %s", r.Verb, r.Resource, r.Group, r.Version, r.Namespace, r.Name, r.PatchType))
			return nil
		},
		reply: func(r apiserver.Request, changed bool, err error) error {
			calls = append(calls, fmt.Sprint(r.Verb, " changed ", changed, " ", apierrors.ReasonForError(err)))
			return nil
		},
	})
	ctx := t.Context()
	empty := client.RawPatch(types.MergePatchType, []byte(`{}`))
	_ = c.Create(ctx, newBackup("b"))
	_ = c.Create(ctx, newBackup("b"))
	_ = c.Patch(ctx, newBackup("b"), empty)
	_ = c.Get(ctx, client.ObjectKey{Namespace: "velero", Name: "c"}, newBackup(""))
	_ = c.Delete(ctx, newBackup("b"))
	want := []string{
		"create backups.velero.io/v1 velero/b ", "create changed true ",
		"create backups.velero.io/v1 velero/b ", "create changed false AlreadyExists",
		"patch backups.velero.io/v1 velero/b application/merge-patch+json", "patch changed false ",
		"get backups.velero.io/v1 velero/c ", "get changed false NotFound",
		"delete backups.velero.io/v1 velero/b ", "delete changed true ",
	}
	if d := cmp.Diff(want, calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestGateFailsRequest(t *testing.T) {
	s := newServer(t)
	for _, test := range []struct {
		name string
		err  error
		is   func(error) bool
	}{
		{"with a status", apierrors.NewForbidden(backups.GroupResource(), "b", errors.New("no")), apierrors.IsForbidden},
		{"with another error", errBroken, func(err error) bool { return errors.Is(err, errBroken) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := controllerRuntime(t, s, gate{request: func(apiserver.Request) error { return test.err }})
			if err := c.Create(t.Context(), newBackup("b")); !test.is(err) {
				t.Errorf("create: %v", err)
			}
			if _, ok := s.Get(backups, "velero", "b"); ok {
				t.Error("the request was applied")
			}
		})
	}
}

func TestGateLosesReply(t *testing.T) {
	s := newServer(t)
	c := controllerRuntime(t, s, gate{reply: func(apiserver.Request, bool, error) error { return errBroken }})
	if err := c.Create(t.Context(), newBackup("b")); !errors.Is(err, errBroken) {
		t.Errorf("create: %v, want %v", err, errBroken)
	}
	mustGet(t, s, backups, "b")
}

func TestGateEndsWatch(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want []string
	}{
		{"with a status", apierrors.NewResourceExpired("too old"), []string{"ADDED a ", "ERROR too old", "closed"}},
		{"with another error", errBroken, []string{"ADDED a ", "ERROR " + undecodable(errBroken), "closed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				c := untyped(t, s, gate{watch: func(_ context.Context, e apiserver.WatchEvent) error {
					if e.Object.GetName() == "b" {
						return test.err
					}
					return nil
				}}).Resource(configMaps).Namespace("velero")
				w, err := c.Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				create(t, c, "a")
				create(t, c, "b")
				create(t, c, "c")
				if d := cmp.Diff(test.want, seen(w)); d != "" {
					t.Errorf("events (-want +got):\n%s", d)
				}
			})
		})
	}
}

// A gate that holds back one client holds back no other one, and time goes on.
func TestGateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		release := make(chan struct{})
		hold := func(apiserver.Request) error { <-release; return nil }
		held := untyped(t, s, gate{request: hold}).Resource(configMaps).Namespace("velero")
		stale := untyped(t, s, gate{watch: func(ctx context.Context, _ apiserver.WatchEvent) error {
			<-ctx.Done()
			return ctx.Err()
		}}).Resource(configMaps).Namespace("velero")
		free := untyped(t, s, nil).Resource(configMaps).Namespace("velero")

		w, err := stale.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		go held.Create(t.Context(), object(configMaps, "ConfigMap", "a", nil), metav1.CreateOptions{})
		create(t, free, "b")
		synctest.Wait()
		if got := s.List(configMaps); len(got) != 1 || got[0].GetName() != "b" {
			t.Errorf("objects %v, want b alone", got)
		}
		if events := seen(w); events != nil {
			t.Errorf("the stale watch has seen %v", events)
		}
		close(release)
		synctest.Wait()
		mustGet(t, s, configMaps, "a")
		w.Stop() // ends the gate's wait
	})
}

func TestObserver(t *testing.T) {
	s := newServer(t)
	var writes []string
	phase := func(o metav1.Object) string {
		if o == nil {
			return "-"
		}
		return o.GetResourceVersion()
	}
	s.OnWrite(func(w apiserver.Write) {
		var old, now metav1.Object
		if w.Old != nil {
			old = w.Old
		}
		if w.New != nil {
			now = w.New
		}
		if _, ok := s.Get(backups, "velero", w.Name); ok == (w.New == nil && w.Err == nil) {
			t.Errorf("%s: observed before it was applied", w.Verb)
		}
		writes = append(writes, fmt.Sprint(w.Verb, " ", w.Name, " ", phase(old), " ", phase(now), " ", apierrors.ReasonForError(w.Err)))
	})
	c := controllerRuntime(t, s, gate{reply: func(r apiserver.Request, _ bool, _ error) error {
		writes = append(writes, "reply to "+r.Verb)
		return nil
	}})
	ctx := t.Context()
	b := newBackup("b")
	if err := c.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	one := b.ResourceVersion
	if err := c.Patch(ctx, b, client.RawPatch(types.MergePatchType, []byte(`{}`))); err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(ctx, b, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Nap"}}`))); err == nil {
		t.Fatal("an invalid phase was accepted")
	}
	b = newBackup("b")
	if err := c.Patch(ctx, b, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Queued"}}`))); err != nil {
		t.Fatal(err)
	}
	two := b.ResourceVersion
	if err := c.Delete(ctx, b); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create b - " + one + " ", "reply to create",
		"patch b " + one + " " + one + " ", "reply to patch",
		"patch b " + one + " - Invalid", "reply to patch",
		"patch b " + one + " " + two + " ", "reply to patch",
		"delete b " + two + " - ", "reply to delete",
	}
	if d := cmp.Diff(want, writes); d != "" {
		t.Errorf("writes (-want +got):\n%s", d)
	}
}

// Observers see concurrent writes in the order of their revisions, each before its writer goes on.
func TestObserverOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		release := make(chan struct{})
		var observed []string
		s.OnWrite(func(w apiserver.Write) {
			<-release
			observed = append(observed, w.New.GetResourceVersion())
		})
		c := untyped(t, s, nil).Resource(configMaps).Namespace("velero")
		replied := make(chan string, 10)
		for i := range cap(replied) {
			go func() {
				u, err := c.Create(t.Context(), object(configMaps, "ConfigMap", fmt.Sprint("cm-", i), nil), metav1.CreateOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				replied <- u.GetResourceVersion()
			}()
		}
		synctest.Wait()
		if len(s.List(configMaps)) != cap(replied) || len(replied) != 0 {
			t.Errorf("%d of %d writes were applied, %d replied to before they were observed", len(s.List(configMaps)), cap(replied), len(replied))
		}
		close(release)
		synctest.Wait()
		if len(observed) != cap(replied) || len(replied) != cap(replied) {
			t.Fatalf("%d writes were observed, %d replied to, want %d", len(observed), len(replied), cap(replied))
		}
		if !slices.IsSortedFunc(observed, func(a, b string) int {
			return stdcmp.Or(stdcmp.Compare(len(a), len(b)), stdcmp.Compare(a, b))
		}) {
			t.Errorf("observed out of order: %v", observed)
		}
	})
}
