package apiserver_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/velosim/velosim/sim/velero/apiserver"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	runtimecache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// log is an informer's handler.
type log []string

func (l *log) OnAdd(o any, initial bool) { *l = append(*l, fmt.Sprint("add ", name(o), " ", initial)) }
func (l *log) OnUpdate(_, o any)         { *l = append(*l, fmt.Sprint("update ", name(o))) }
func (l *log) OnDelete(o any)            { *l = append(*l, fmt.Sprint("delete ", name(o))) }

func name(o any) string { return o.(metav1.Object).GetName() }

// resync of informers: without one, reflectors wait on a channel of no bubble, and synctest.Wait never returns.
const resync = 10 * time.Hour

// Informers list, then watch for hours of virtual time.
func TestInformers(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(*testing.T, *apiserver.Server) cache.SharedIndexInformer
	}{
		{"typed", func(t *testing.T, s *apiserver.Server) cache.SharedIndexInformer {
			return informers.NewSharedInformerFactory(typed(t, s, nil), resync).Core().V1().ConfigMaps().Informer()
		}},
		{"dynamic", func(t *testing.T, s *apiserver.Server) cache.SharedIndexInformer {
			return dynamicinformer.NewDynamicSharedInformerFactory(untyped(t, s, nil), resync).ForResource(configMaps).Informer()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				c := untyped(t, s, nil).Resource(configMaps).Namespace("velero")
				create(t, c, "a")
				informer := test.make(t, s)
				var events log
				if _, err := informer.AddEventHandler(&events); err != nil {
					t.Fatal(err)
				}
				stop := make(chan struct{})
				go informer.Run(stop)
				time.Sleep(time.Hour)
				create(t, c, "b")
				time.Sleep(time.Hour)
				label(t, c, "a", "gold")
				time.Sleep(time.Hour)
				if err := c.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if d := cmp.Diff(log{"add a true", "add b false", "update a", "delete b"}, events); d != "" {
					t.Errorf("events (-want +got):\n%s", d)
				}
				close(stop)
				synctest.Wait()
			})
		})
	}
}

func TestControllerRuntimeCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		c := controllerRuntime(t, s, nil)
		if err := c.Create(t.Context(), newBackup("a")); err != nil {
			t.Fatal(err)
		}
		reader, err := runtimecache.New(config(s, nil), runtimecache.Options{
			Scheme: veleroScheme(t), DefaultNamespaces: map[string]runtimecache.Config{"velero": {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- reader.Start(ctx) }()
		if !reader.WaitForCacheSync(ctx) {
			t.Fatal("the cache did not start")
		}
		if err := c.Create(t.Context(), newBackup("b")); err != nil {
			t.Fatal(err)
		}
		var list velerov1.BackupList
		if err := reader.List(ctx, &list); err != nil {
			t.Fatal(err)
		}
		patched := newBackup("b")
		if err := c.Patch(t.Context(), patched, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Queued"}}`))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var b velerov1.Backup
		if err := reader.Get(ctx, client.ObjectKeyFromObject(patched), &b); err != nil || b.Status.Phase != velerov1.BackupPhaseQueued {
			t.Errorf("cached phase %q, want Queued: %v", b.Status.Phase, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
