package proxy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/vmware-tanzu/velero/config/crd/v1/crds"
)

// realAPIServer starts a kube-apiserver, or skips the test.
func realAPIServer(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set: set it to a folder with etcd and kube-apiserver")
	}
	t.Setenv("TMPDIR", t.TempDir()) // envtest's files
	env := &envtest.Environment{CRDs: crds.CRDs}
	c, err := env.Start()
	t.Cleanup(func() { check(t, env.Stop()) })
	check(t, err)
	c.QPS = -1
	return c
}

// What the tests above have of a made-up API server, with a real one.
func TestRealAPIServer(t *testing.T) {
	upstream := realAPIServer(t)
	t.Run("writes", func(t *testing.T) { testRealWrites(t, upstream) })
	t.Run("one object, many writers", func(t *testing.T) { testRealWriters(t, upstream) })
}

func throughProxy(t *testing.T, upstream *rest.Config) (*rest.Config, ctrlclient.WithWatch, *hooks, *proxy.Proxy) {
	h := &hooks{}
	leavesNothing(t)
	p, err := proxy.Start(proxy.Options{Upstream: upstream, Hooks: h, Log: logged{t}})
	check(t, err)
	t.Cleanup(p.Close)
	s := kruntime.NewScheme()
	check(t, scheme.AddToScheme(s))
	check(t, velerov1.AddToScheme(s))
	client, err := ctrlclient.NewWithWatch(config(p), ctrlclient.Options{Scheme: s}) // with discovery, and protobuf
	check(t, err)
	return config(p), client, h, p
}

func testRealWrites(t *testing.T, upstream *rest.Config) {
	c, client, h, _ := throughProxy(t, upstream)
	ctx := t.Context()
	check(t, client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "velero"}}))
	w, err := client.Watch(ctx, &velerov1.BackupList{}, ctrlclient.InNamespace("velero"))
	check(t, err)
	defer w.Stop()
	b := newBackup("b-1")
	check(t, client.Create(ctx, b))
	stale := b.DeepCopy()
	check(t, setPhase(ctx, client, b, velerov1.BackupPhaseInProgress))
	if err := client.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("update of an old version: %v, want a conflict", err)
	}
	if err := setPhase(ctx, client, b.DeepCopy(), "Nonsense"); !apierrors.IsInvalid(err) {
		t.Errorf("nonsense: %v, want invalid", err)
	}
	check(t, client.Delete(ctx, b))
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "velero", GenerateName: "big-"}, Data: map[string]string{"k": strings.Repeat("x", 900_000)}}
	check(t, client.Create(ctx, cm))
	typed, err := kubernetes.NewForConfig(c)
	check(t, err)
	if list, err := typed.CoreV1().ConfigMaps("velero").List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 1 || len(list.Items[0].Data["k"]) != 900_000 {
		t.Errorf("list of a big answer, which is compressed: %v", err)
	}
	check(t, client.DeleteAllOf(ctx, &corev1.ConfigMap{}, ctrlclient.InNamespace("velero")))

	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		if e := receive(t, w.ResultChan(), "an event"); e.Type != want {
			t.Errorf("event %s, want %s", e.Type, want)
		}
	}
	var got []string
	for _, w := range h.writes() {
		g := proxy.Write(w.Request, w.Response)
		got = append(got, fmt.Sprint(g.Verb, " ", g.Resource, " ", g.Name, " ", g.Change, " version:", g.ResourceVersion != "", " object:", w.Object != nil, " refused:", g.Error != ""))
	}
	want := []string{
		"create namespaces velero  version:true object:false refused:false",
		"create backups velero/b-1  version:true object:true refused:false",
		`patch backups velero/b-1 {"status":{"phase":"InProgress"}} version:true object:true refused:false`,
		"update backups velero/b-1  version:false object:false refused:true",
		`patch backups velero/b-1 {"status":{"phase":"Nonsense"}} version:false object:false refused:true`,
		"delete backups velero/b-1  version:false object:false refused:false",
		"create configmaps velero/" + cm.Name + "  version:true object:false refused:false",
		"deletecollection configmaps velero/  version:false object:false refused:false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told of\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Writers of one object at once: After is called in the order of versions, but for those that say that they are Late.
func testRealWriters(t *testing.T, upstream *rest.Config) {
	_, client, h, _ := throughProxy(t, upstream)
	check(t, client.Create(t.Context(), newBackup("b-2")))
	const writers, each = 4, 100
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for j := range each {
				patch := ctrlclient.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"w%d":"%d"}}}`, i, j))
				if err := client.Patch(t.Context(), newBackup("b-2"), patch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	last, late := 0, 0
	writes := h.writes()
	for _, w := range writes {
		version, err := strconv.Atoi(w.ResourceVersion)
		check(t, err)
		if w.Late != (version < last) {
			t.Errorf("version %d after %d: Late is %v", version, last, w.Late)
		}
		if w.Late {
			late++
		}
		last = max(last, version)
		if !json.Valid(w.Object) {
			t.Errorf("object %s", w.Object)
		}
	}
	t.Logf("%d of %d answers were late", late, len(writes))
	if len(writes) != writers*each+1 {
		t.Errorf("told of %d writes, want %d", len(writes), writers*each+1)
	}
}
