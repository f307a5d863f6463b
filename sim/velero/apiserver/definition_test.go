package apiserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1crds "github.com/vmware-tanzu/velero/config/crd/v1/crds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/sim/velero/apiserver"
)

// A server made of definitions that another one has used serves the same, from a time of its own.
func TestDefinitionsAreShared(t *testing.T) {
	gvr := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	var definitions apiserver.Definitions
	serve := func(d *apiserver.Definitions) []*unstructured.Unstructured {
		s, err := apiserver.New(apiserver.Options{CRDs: v1crds.CRDs, Definitions: d})
		if err != nil {
			t.Fatal(err)
		}
		return s.List(gvr)
	}
	synctest.Test(t, func(t *testing.T) {
		first, began := serve(&definitions), metav1.Now()
		time.Sleep(time.Hour)
		second, whole := serve(&definitions), serve(nil)
		if len(whole) != len(v1crds.CRDs) {
			t.Fatalf("%d CRDs are served, want %d", len(whole), len(v1crds.CRDs))
		}
		if diff := cmp.Diff(whole, second); diff != "" {
			t.Errorf("with definitions kept (+) and without (-):\n%s", diff)
		}
		if at := first[0].GetCreationTimestamp(); !at.Equal(&began) {
			t.Errorf("the first server's CRDs were created at %v, want %v", at, began)
		}
	})
}
