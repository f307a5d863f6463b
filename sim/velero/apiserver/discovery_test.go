package apiserver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	velerodiscovery "github.com/vmware-tanzu/velero/pkg/discovery"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

func TestDiscovery(t *testing.T) {
	s := newServer(t, gadgetCRD())
	for _, legacy := range []bool{false, true} {
		name := "aggregated"
		if legacy {
			name = "unaggregated"
		}
		t.Run(name, func(t *testing.T) {
			c, err := discovery.NewDiscoveryClientForConfig(config(s, nil))
			if err != nil {
				t.Fatal(err)
			}
			c.UseLegacyDiscovery = legacy
			groups, lists, err := c.ServerGroupsAndResources()
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, g := range groups {
				names = append(names, g.Name+" "+g.PreferredVersion.Version)
			}
			want := []string{" v1", "apiextensions.k8s.io v1", "apps v1", "batch v1", "example.io v1", "rbac.authorization.k8s.io v1", "velero.io v1"}
			if d := cmp.Diff(want, names); d != "" {
				t.Errorf("groups and their preferred versions (-want +got):\n%s", d)
			}
			found := map[string]metav1.APIResource{}
			for _, list := range lists {
				for _, r := range list.APIResources {
					found[list.GroupVersion+" "+r.Name] = r
				}
			}
			for _, want := range []string{
				"v1 pods", "v1 pods/status", "apps/v1 deployments", "velero.io/v1 backups", "velero.io/v2alpha1 datauploads",
				"example.io/v1 gadgets/status", "example.io/v1alpha1 gadgets", "apiextensions.k8s.io/v1 customresourcedefinitions",
			} {
				if found[want].Kind == "" {
					t.Errorf("%s is not discovered", want)
				}
			}
			if _, ok := found["velero.io/v1 backups/status"]; ok {
				t.Error("backups have no status subresource, but it is discovered")
			}
			if b := found["velero.io/v1 backups"]; !b.Namespaced || b.Kind != "Backup" || b.SingularName != "backup" || !slices.Contains(b.Verbs, "watch") {
				t.Errorf("backups are discovered as %+v", b)
			}
		})
	}
}

func TestVeleroDiscoveryHelper(t *testing.T) {
	s := newServer(t)
	c, err := discovery.NewDiscoveryClientForConfig(config(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	logger := logrus.New()
	logger.SetOutput(t.Output())
	helper, err := velerodiscovery.NewHelper(c, logger)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"persistentvolumeclaims", "pvc", "customresourcedefinitions", "crds", "backups"} {
		if gvr, _, err := helper.ResourceFor(schema.GroupVersionResource{Resource: name}); err != nil || gvr.Resource == "" {
			t.Errorf("ResourceFor(%s): %v, %v", name, gvr, err)
		}
	}
	if v := helper.ServerVersion(); v == nil || !strings.HasPrefix(v.String(), "v1.33") {
		t.Errorf("server version %v", v)
	}
}

func TestDynamicRESTMapper(t *testing.T) {
	s := newServer(t)
	cfg := config(s, nil)
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(cfg, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := mapper.RESTMapping(velerov1.SchemeGroupVersion.WithKind("Backup").GroupKind())
	if err != nil || mapping.Resource != backups {
		t.Errorf("RESTMapping of Backup: %v, %v", mapping, err)
	}
}

func TestCustomResourceDefinitions(t *testing.T) {
	s := newServer(t)
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	c := untyped(t, s, nil).Resource(crds)
	list, err := c.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) < 13 {
		t.Fatalf("%d CRDs, want all of Velero's: %v", len(list.Items), err)
	}
	crd, err := c.Get(t.Context(), "backups.velero.io", metav1.GetOptions{})
	if err != nil || crd.GetUID() == "" {
		t.Fatalf("get: %v, %v", crd, err)
	}
	if err := c.Delete(t.Context(), "backups.velero.io", metav1.DeleteOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("delete of a CRD: %v, want MethodNotSupported", err)
	}
}

// Whatever a client sends, it gets a status.
func TestBadRequests(t *testing.T) {
	s := newServer(t)
	const cms = "/api/v1/namespaces/velero/configmaps"
	for _, test := range []struct {
		method, url, contentType, body string
		code                           int
	}{
		{"GET", "/", "", "", 404},
		{"GET", "/openapi/v2", "", "", 404},
		{"GET", "/api/v2", "", "", 404},
		{"GET", "/apis/nowhere.io/v1/things", "", "", 404},
		{"GET", "/api/v1/configmaps/cm", "", "", 404},
		{"GET", "/api/v1/namespaces/velero/nodes", "", "", 404},
		{"GET", cms + "/cm/log", "", "", 404},
		{"GET", cms + "/cm/status/x", "", "", 404},
		{"GET", cms + "?labelSelector=a%3D%3D%3Db", "", "", 400},
		{"GET", cms + "?fieldSelector=%3F", "", "", 400},
		{"GET", cms + "?resourceVersion=x", "", "", 400},
		{"GET", cms + "?continue=x", "", "", 400},
		{"GET", cms + "?limit=x", "", "", 400},
		{"GET", cms + "?watch=true&sendInitialEvents=true", "", "", 422},
		{"GET", cms + "?resourceVersion=1000000", "", "", 504},
		{"GET", cms + "?resourceVersion=1&resourceVersionMatch=Exact", "", "", 410},
		{"POST", cms, "application/json", "", 400},
		{"POST", cms, "application/json", "null", 400},
		{"POST", cms, "application/json", `{"metadata":1}`, 400},
		{"POST", cms, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":1}`, 400},
		{"POST", cms, "application/json", `{"apiVersion":"v1","kind":"ConfigMap"}`, 422},
		{"POST", cms, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}}`, 400},
		{"POST", cms, "application/vnd.kubernetes.protobuf", "k8s", 415},
		{"POST", cms, ";", "{}", 400},
		{"POST", cms + "?dryRun=All", "application/json", "{}", 400},
		{"POST", "/api/v1/configmaps", "application/json", "{}", 405},
		{"POST", "/apis", "application/json", "{}", 404},
		{"POST", "/apis/velero.io/v1/namespaces/velero/backups", "", `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":[]}`, 400},
		{"POST", "/apis/velero.io/v1/namespaces/velero/backups", "", `{"apiVersion":"velero.io/v1","kind":"Backup"}`, 422},
		{"PUT", cms, "application/json", "{}", 405},
		{"PATCH", cms + "/cm", "", "{}", 404},
		{"DELETE", cms + "/cm", "application/json", "[", 400},
		{"DELETE", cms + "/cm", "application/json", `{"dryRun":["All"]}`, 400},
		{"DELETE", "/api/v1/configmaps", "", "", 405},
		{"OPTIONS", cms, "", "", 405},
	} {
		t.Run(test.method+" "+test.url+" "+test.body, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), test.method, "http://apiserver"+test.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if test.contentType != "" {
				r.Header.Set("Content-Type", test.contentType)
			}
			response, err := s.Transport(nil).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var status metav1.Status
			if err := json.NewDecoder(response.Body).Decode(&status); err != nil || status.Kind != "Status" {
				t.Fatalf("the reply is no status: %v", err)
			}
			if response.StatusCode != test.code || int(status.Code) != test.code {
				t.Errorf("got %d (%s), want %d", response.StatusCode, status.Message, test.code)
			}
		})
	}
}
