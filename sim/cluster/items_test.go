package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestRestOfItems: what the scenario expects something of is read once, by its namespace in the cluster, and is told by that of the scenario.
func TestRestOfItems(t *testing.T) {
	s, errs := scenario.Parse("items.yaml", []byte(`apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: items}
expect:
  phase: Completed
  manifests:
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: app}, spec: {replicas: 3}}
  - {apiVersion: v1, kind: Secret, metadata: {name: token, namespace: velero}}
  deviation:
    rule: progress-error-is-final
    phase: PartiallyFailed
    manifests:
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: app}, spec: {replicas: 0}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: app}}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	replicas := int32(2)
	c := fake.NewClientBuilder().WithObjects(
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "app-j1", Name: "web", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
		},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "velero-j1", Name: "token"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "app", Name: "made"}}, // of another scenario
	).Build()
	u := cluster.User{Cluster: cluster.Cluster{Scenario: s, Velero: "velero-j1", Suffix: "-j1"}, Client: c}
	type seen struct {
		Item      string
		Namespace string
		Replicas  int
		Managed   bool
	}
	var got []seen
	err := u.RestOfItems(t.Context(), func(item string, is trace.Item) {
		x := seen{Item: item}
		if is.Manifest != nil {
			var o struct {
				Metadata metav1.ObjectMeta
				Spec     struct{ Replicas int }
			}
			if err := json.Unmarshal(is.Manifest, &o); err != nil {
				t.Error(err)
			}
			x.Namespace, x.Replicas, x.Managed = o.Metadata.Namespace, o.Spec.Replicas, o.Metadata.ManagedFields != nil
		}
		got = append(got, x)
	})
	want := []seen{{"deployments/app/web", "app", 2, false}, {"secrets/velero/token", "velero", 0, false}, {"configmaps/app/made", "", 0, false}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	u.Client = interceptor.NewClient(c, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("no leader")
		},
	})
	if err := u.RestOfItems(t.Context(), func(string, trace.Item) {}); err == nil || !strings.Contains(err.Error(), "deployments/app/web at the end: no leader") {
		t.Errorf("error %v", err)
	}
}
