package action

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	logtest "github.com/sirupsen/logrus/hooks/test"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// env is a namespace of a cluster.
type env struct {
	t         *testing.T
	c         client.WithWatch
	namespace string
}

func (e env) cluster() cluster {
	log, _ := logtest.NewNullLogger()
	return cluster{client: e.c, log: log}
}

// backup is one of the namespace.
func (e env) backup(name string) *velerov1.Backup {
	return &velerov1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: name},
		Spec:       velerov1.BackupSpec{IncludedNamespaces: []string{e.namespace}},
	}
}

func (e env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func template(app string) (*metav1.LabelSelector, corev1.PodTemplateSpec) {
	labels := map[string]string{"app": app}
	return &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.io/app"}}},
	}
}

func (e env) deployment(name string, replicas int32, annotations ...string) *appsv1.Deployment {
	e.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name, Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		d.Annotations[annotations[i]] = annotations[i+1]
	}
	d.Spec.Replicas = &replicas
	d.Spec.Selector, d.Spec.Template = template(name)
	e.must(e.c.Create(e.t.Context(), d))
	return d
}

func (e env) statefulSet(name string, replicas *int32) {
	e.t.Helper()
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
	s.Spec.Replicas = replicas
	s.Spec.Selector, s.Spec.Template = template(name)
	e.must(e.c.Create(e.t.Context(), s))
}

// state is the replicas of each workload, and its annotations if there are any.
func (e env) state() map[string]string {
	e.t.Helper()
	all, err := e.cluster().workloads(context.Background(), func(w workload) bool { return w.GetNamespace() == e.namespace })
	e.must(err)
	state := map[string]string{}
	for _, w := range all {
		s := fmt.Sprint(w.replicas())
		if a := w.GetAnnotations(); a[replicasAnnotation]+a[backupAnnotation] != "" {
			s += " of " + a[replicasAnnotation] + " by " + a[backupAnnotation]
		}
		state[w.kind+" "+w.GetName()] = s
	}
	return state
}

func (e env) want(want map[string]string) {
	e.t.Helper()
	if diff := cmp.Diff(want, e.state()); diff != "" {
		e.t.Errorf("workloads (-want +got):\n%s", diff)
	}
}

// apps makes four workloads.
func (e env) apps() (before map[string]string) {
	e.t.Helper()
	e.deployment("web", 3)
	e.deployment("off", 0)
	e.statefulSet("db", new(int32(2)))
	e.statefulSet("one", nil)
	return map[string]string{"deployment web": "3", "deployment off": "0", "statefulset db": "2", "statefulset one": "1"}
}
