package proxy_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/sim/trace"
)

// Each of Velero's clients works through the proxy, over each protocol, and each write is told as a trace has it.
func TestClients(t *testing.T) {
	for _, kind := range kinds {
		for _, client := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(kind+", client "+client, func(t *testing.T) { testClients(t, kind, client) })
		}
	}
}

func testClients(t *testing.T, kind, client string) {
	h := &hooks{}
	s, p := start(t, kind, h)
	c := config(p)
	if client == "HTTP/1.1" {
		c = http1(c)
	}
	phases := informer(t, dynamic.NewForConfigOrDie(c))

	cr := ctrlClient(t, c)
	b := newBackup("b-1")
	check(t, cr.Create(t.Context(), b))
	check(t, setPhase(t.Context(), cr, b, "InProgress"))
	if err := cr.Create(t.Context(), newBackup("b-1")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("second create: %v, want already exists", err)
	}
	got := &velerov1.Backup{}
	check(t, cr.Get(t.Context(), ctrlclient.ObjectKeyFromObject(b), got))
	if got.Status.Phase != "InProgress" || got.ResourceVersion != b.ResourceVersion {
		t.Errorf("got %s at %s, want InProgress at %s", got.Status.Phase, got.ResourceVersion, b.ResourceVersion)
	}
	check(t, cr.Update(t.Context(), got))
	check(t, cr.Delete(t.Context(), got))

	c.UserAgent = "mover/v0.0.0 (linux/amd64) kubernetes/$Format"
	c.ContentType, c.AcceptContentTypes = kruntime.ContentTypeJSON, kruntime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(c)
	check(t, err)
	cm, err := typed.CoreV1().ConfigMaps("velero").Create(t.Context(), &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{GenerateName: "state-"},
	}, metav1.CreateOptions{})
	check(t, err)
	if list, err := dynamicClient(t, c).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("list: %v, %v, want nothing", list, err)
	}

	for _, want := range []string{"", "InProgress", "InProgress", "deleted"} {
		if got := receive(t, phases, "the informer"); got != want {
			t.Errorf("informer: phase %q, want %q", got, want)
		}
	}
	want := []trace.Write{
		{Client: "server", Verb: "create", Resource: "backups", Name: "velero/b-1", ResourceVersion: "1"},
		{Client: "server", Verb: "patch", Resource: "backups", Name: "velero/b-1", Change: `{"status":{"phase":"InProgress"}}`, ResourceVersion: "2"},
		{Client: "server", Verb: "create", Resource: "backups", Name: "velero/b-1", Error: `objects "b-1" already exists`},
		{Client: "server", Verb: "update", Resource: "backups", Name: "velero/b-1", ResourceVersion: "3"},
		{Client: "server", Verb: "delete", Resource: "backups", Name: "velero/b-1"},
		{Client: "mover", Verb: "create", Resource: "configmaps", Name: "velero/" + cm.Name, ResourceVersion: "5"},
	}
	writes := h.writes()
	for i, w := range writes {
		if got := proxy.Write(w.Request, w.Response); i >= len(want) || got != want[i] {
			t.Errorf("write %d: %+v", i, got)
		}
	}
	if len(writes) != len(want) {
		t.Fatalf("%d writes, want %d", len(writes), len(want))
	}
	var object velerov1.Backup
	if err := json.Unmarshal(writes[1].Object, &object); err != nil || object.Status.Phase != "InProgress" {
		t.Errorf("object after the patch: %s, %v", writes[1].Object, err)
	}
	if !apierrors.IsAlreadyExists(&apierrors.StatusError{ErrStatus: *writes[2].Status}) {
		t.Errorf("status of the second create: %v", writes[2].Status)
	}

	response, err := httpClient(t, c).Get(c.Host + "/version/none")
	check(t, err)
	defer response.Body.Close()
	if response.Proto != client {
		t.Errorf("the proxy spoke %s, want %s", response.Proto, client)
	}
	upstream := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[kind == "HTTP/2"]
	if len(s.protos) != 1 || s.protos[upstream] == 0 {
		t.Errorf("the API server was spoken to in %v, want %s only", s.protos, upstream)
	}
}

// informer sends the phases of backups that it is told of.
func informer(t *testing.T, d dynamic.Interface) <-chan string {
	phases := make(chan string, 100)
	phase := func(o any) string {
		got, _, _ := unstructured.NestedString(o.(*unstructured.Unstructured).Object, "status", "phase")
		return got
	}
	i := dynamicinformer.NewFilteredDynamicInformer(d, backups, "velero", 0, nil, nil).Informer()
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { phases <- phase(o) },
		UpdateFunc: func(_, o any) { phases <- phase(o) },
		DeleteFunc: func(any) { phases <- "deleted" },
	})
	check(t, err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { i.Run(stop); close(stopped) }()
	t.Cleanup(func() { close(stop); receive(t, stopped, "the informer's end") })
	if !cache.WaitForCacheSync(t.Context().Done(), i.HasSynced) {
		t.Fatal("the informer has not synced")
	}
	return phases
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Built-in types go as protobuf: it is passed on as it is, and read as far as a trace needs it.
func TestProtobuf(t *testing.T) {
	h := &hooks{}
	s, p := start(t, "HTTP/2", h)
	info, _ := kruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), kruntime.ContentTypeProtobuf)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", kruntime.ContentTypeProtobuf)
		object, err := kruntime.Decode(scheme.Codecs.UniversalDeserializer(), body)
		if err != nil || r.Header.Get("Content-Type") != kruntime.ContentTypeProtobuf {
			t.Errorf("the API server got %s %q: %v", r.Header.Get("Content-Type"), body, err)
			return false
		}
		cm := object.(*corev1.ConfigMap)
		if cm.Name == "bad" {
			w.WriteHeader(http.StatusConflict)
			status := apierrors.NewConflict(corev1.Resource("configmaps"), "bad", fmt.Errorf("it is bad")).Status()
			check(t, encoder.Encode(&status, w))
			return true
		}
		cm.ResourceVersion = "77"
		check(t, encoder.Encode(cm, w))
		return true
	}
	c := config(p)
	c.ContentType = kruntime.ContentTypeProtobuf
	client := kubernetes.NewForConfigOrDie(c).CoreV1().ConfigMaps("velero")
	for name, data := range map[string]string{"good": strings.Repeat("x", 1<<20), "bad": ""} {
		got, err := client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": data}}, metav1.CreateOptions{})
		if bad := name == "bad"; bad != apierrors.IsConflict(err) || !bad && got.Data["k"] != data {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, w := range h.writes() {
		got := proxy.Write(w.Request, w.Response)
		want := trace.Write{Client: "server", Verb: "create", Resource: "configmaps", Name: "velero/good", ResourceVersion: "77"}
		if w.Name() == "bad" {
			want.Name, want.ResourceVersion = "velero/bad", ""
			want.Error = `Operation cannot be fulfilled on configmaps "bad": it is bad`
		}
		if got != want || w.Object != nil {
			t.Errorf("told %+v, want %+v", got, want)
		}
	}
}

// Name is of both parts: the request's is as good here.
func (w told) Name() string { return w.Request.Name }

// Big bodies and compressed answers go through byte for byte, and are read.
func TestBigAndCompressed(t *testing.T) {
	h := &hooks{}
	s, p := start(t, "HTTP/2", h)
	big := newBackup("big")
	big.Annotations = map[string]string{"big": strings.Repeat("velero ", 3<<20/7)}
	body, err := json.Marshal(big)
	check(t, err)
	packed := pack(body)
	s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		got, err := io.ReadAll(r.Body)
		if err != nil || r.Method == http.MethodPut && !bytes.Equal(got, body) {
			t.Errorf("the API server got %d bytes, want %d (%v)", len(got), len(body), err)
		}
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("Accept-Encoding %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, err = w.Write(packed)
		check(t, err)
		return true
	}
	c := config(p)
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		r, err := http.NewRequestWithContext(t.Context(), method, c.Host+"/apis/velero.io/v1/namespaces/velero/backups/big", bytes.NewReader(body))
		check(t, err)
		r.Header.Set("Accept-Encoding", "gzip") // so that Go does not unpack it
		response, err := httpClient(t, c).Do(r)
		check(t, err)
		got, err := io.ReadAll(response.Body)
		check(t, err)
		check(t, response.Body.Close())
		if !bytes.Equal(got, packed) || response.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: got %d bytes, want the %d as sent", method, len(got), len(packed))
		}
	}
	if writes := h.writes(); len(writes) != 1 || !bytes.Equal(writes[0].Object, body) || !bytes.Equal(writes[0].Body, body) {
		t.Errorf("told of %d writes, want the object", len(writes))
	}
	got := &velerov1.Backup{}
	if err := ctrlClient(t, c).Get(t.Context(), ctrlclient.ObjectKeyFromObject(big), got); err != nil || len(got.Annotations["big"]) != len(big.Annotations["big"]) {
		t.Errorf("a client got %d bytes, %v", len(got.Annotations["big"]), err)
	}
}

func pack(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(body)
	_ = z.Close()
	return out.Bytes()
}

func TestOnlyItsOwnClients(t *testing.T) {
	h := &hooks{before: func(q *proxy.Request) proxy.Action {
		t.Errorf("a hook saw %s %s", q.Verb, q.Path)
		return proxy.Action{}
	}}
	s, p := start(t, "HTTP/2", h)
	for _, token := range []string{"", "wrong", "upstream's"} {
		c := config(p)
		c.BearerToken = token
		if err := ctrlClient(t, c).Create(t.Context(), newBackup("b")); !apierrors.IsUnauthorized(err) {
			t.Errorf("token %q: %v, want unauthorized", token, err)
		}
	}
	c := config(p)
	c.Host = strings.Replace(c.Host, "https", "http", 1)
	if err := ctrlClient(t, c).Create(t.Context(), newBackup("b")); err == nil {
		t.Error("plain HTTP was served")
	}
	if len(s.protos) != 0 {
		t.Errorf("the API server was reached: %v", s.protos)
	}
}

func TestUpgradesAreRefused(t *testing.T) {
	_, p := start(t, "HTTP/2", &hooks{})
	c := http1(config(p))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Host+"/api/v1/namespaces/n/pods/p/exec", nil)
	check(t, err)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "SPDY/3.1")
	response, err := httpClient(t, c).Do(r)
	check(t, err)
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusNotImplemented || !bytes.Contains(body, []byte("upgrades")) {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestKubeconfig(t *testing.T) {
	_, p := start(t, "HTTP/2", &hooks{})
	path := filepath.Join(t.TempDir(), "kubeconfig")
	check(t, os.WriteFile(path, nil, 0o666))
	check(t, p.WriteKubeconfig(path))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v, want the kubeconfig only", files, err)
	}
	c, err := clientcmd.BuildConfigFromFlags("", path)
	check(t, err)
	check(t, ctrlClient(t, c).Create(t.Context(), newBackup("b")))
	if err := p.WriteKubeconfig(filepath.Join(t.TempDir(), "none", "kubeconfig")); err == nil || !strings.Contains(err.Error(), "none/kubeconfig") {
		t.Errorf("no folder: %v", err)
	}
}

func TestStartWithoutUpstream(t *testing.T) {
	if _, err := proxy.Start(proxy.Options{}); err == nil || !strings.Contains(err.Error(), "Options.Upstream") {
		t.Errorf("%v, want one that names Options.Upstream", err)
	}
}
