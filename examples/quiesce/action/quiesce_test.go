package action

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/velosim/velosim/examples/internal/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, "quiesce", nil) }

func TestQuiesce(t *testing.T) {
	c := testcluster.New(t)
	for name, test := range map[string]func(*testing.T, env){
		"scales down and back":                     scalesDownAndBack,
		"dies at any write before":                 diesBefore,
		"dies at any write after":                  diesAfter,
		"takes over what another backup has left":  takesOver,
		"keeps what was scaled meanwhile":          keepsWhatWasScaled,
		"tries again after a conflict":             triesAgain,
		"tries again when the API server fails":    triesAgainAfterFailures,
		"does not try again what is forbidden":     doesNotTryForbidden,
		"waits for pods":                           waitsForPods,
		"resumes what is restored":                 resumesRestored,
		"says what it cannot resume":               saysWhatItCannotResume,
		"refuses all namespaces":                   refusesAllNamespaces,
		"does not stop Velero or other namespaces": leavesOthers,
	} {
		t.Run(name, func(t *testing.T) {
			e := env{t: t, c: c, namespace: testcluster.Namespace(t, c)}
			test(t, e)
		})
	}
}

func scalesDownAndBack(t *testing.T, e env) {
	before := e.apps()
	for range 2 { // the second time changes nothing
		e.must(quiesce{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
		e.want(map[string]string{
			"deployment web": "0 of 3 by velero/backup-1", "deployment off": "0",
			"statefulset db": "0 of 2 by velero/backup-1", "statefulset one": "0 of 1 by velero/backup-1",
		})
	}
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-2")))
	if e.state()["deployment web"] == "3" {
		t.Error("the end of another backup has resumed it")
	}
	for range 2 {
		e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
		e.want(before)
	}
}

func diesBefore(t *testing.T, e env) { dies(t, e, false) }
func diesAfter(t *testing.T, e env)  { dies(t, e, true) }

// dies lets the process die at each write, of either action, and calls the post-action, as Velero would: all is as before.
func dies(t *testing.T, e env, after bool) {
	before := e.apps()
	log, _ := logtest.NewNullLogger()
	run := func(nth int, action func(cluster) error) bool {
		c, died := testcluster.Dying(e.c, nth, after)
		if err := action(cluster{client: c, log: log}); died() != (err != nil) {
			t.Errorf("write %d: error %v, died: %t", nth, err, died())
		}
		return died()
	}
	begin := func(c cluster) error { return quiesce{c}.Execute(t.Context(), e.backup("backup-1")) }
	end := func(c cluster) error { return resume{c}.Execute(t.Context(), e.backup("backup-1")) }
	deaths := 0
	for _, again := range []bool{false, true} { // the pre-action is called again if it is only the plugin that has died
		for nth := 1; run(nth, begin); nth++ {
			if again {
				e.must(begin(e.cluster()))
			}
			e.must(end(e.cluster()))
			e.want(before)
			deaths++
		}
		e.must(end(e.cluster()))
	}
	for nth := 1; ; nth++ {
		e.must(begin(e.cluster()))
		died := run(nth, end)
		e.must(end(e.cluster()))
		e.want(before)
		if !died {
			break
		}
		deaths++
	}
	if deaths != 9 { // three writes of the pre-action, twice, and three of the post-action
		t.Errorf("it died %d times, want 9", deaths)
	}
}

func takesOver(t *testing.T, e env) {
	before := e.apps()
	e.must(quiesce{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
	e.must(quiesce{e.cluster()}.Execute(t.Context(), e.backup("backup-2")))
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
	if got := e.state()["deployment web"]; got != "0 of 3 by velero/backup-2" {
		t.Errorf("deployment web is %s", got)
	}
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-2")))
	e.want(before)
}

func keepsWhatWasScaled(t *testing.T, e env) {
	e.deployment("web", 3)
	scale := func(replicas int32) {
		t.Helper()
		d := new(appsv1.Deployment)
		e.must(e.c.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "web"}, d))
		d.Spec.Replicas = &replicas
		e.must(e.c.Update(t.Context(), d))
	}
	e.must(quiesce{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
	scale(5)
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
	e.want(map[string]string{"deployment web": "5"})
	// Scaled up after a backup whose end nobody saw: the next one remembers that.
	e.must(quiesce{e.cluster()}.Execute(t.Context(), e.backup("backup-2")))
	scale(7)
	e.must(quiesce{e.cluster()}.Execute(t.Context(), e.backup("backup-3")))
	e.want(map[string]string{"deployment web": "0 of 7 by velero/backup-3"})
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-3")))
	e.want(map[string]string{"deployment web": "7"})
}

// triesAgain lets another writer be faster once.
func triesAgain(t *testing.T, e env) {
	e.deployment("web", 3)
	faster := true
	c := interceptor.NewClient(e.c, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if faster {
				faster = false
				d := new(appsv1.Deployment)
				e.must(e.c.Get(ctx, client.ObjectKeyFromObject(o), d))
				d.Spec.Replicas = new(int32(4))
				e.must(e.c.Update(ctx, d))
			}
			return c.Update(ctx, o, options...)
		},
	})
	e.must(quiesce{cluster{client: c, log: e.cluster().log}}.Execute(t.Context(), e.backup("backup-1")))
	e.want(map[string]string{"deployment web": "0 of 4 by velero/backup-1"})
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
}

// failing is a client whose first update of every workload, and the first list, fail.
func (e env) failing(err error) cluster {
	failed := map[string]bool{}
	fails := func(what string) error {
		if failed[what] {
			return nil
		}
		failed[what] = true
		return err
	}
	c := interceptor.NewClient(e.c, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if err := fails(o.GetName()); err != nil {
				return err
			}
			return c.Update(ctx, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, options ...client.ListOption) error {
			if err := fails("list"); err != nil {
				return err
			}
			return c.List(ctx, l, options...)
		},
	})
	return cluster{client: c, log: e.cluster().log}
}

func triesAgainAfterFailures(t *testing.T, e env) {
	before := e.apps()
	for name, err := range map[string]error{
		"an error":  apierrors.NewInternalError(errors.New("etcdserver: no leader")),
		"no answer": &url.Error{Op: "Put", URL: "https://kubernetes.default.svc", Err: io.ErrUnexpectedEOF},
	} {
		e.must(quiesce{e.failing(err)}.Execute(t.Context(), e.backup("backup-1")))
		if e.state()["deployment web"] != "0 of 3 by velero/backup-1" {
			t.Errorf("%s: %v", name, e.state())
		}
		e.must(resume{e.failing(err)}.Execute(t.Context(), e.backup("backup-1")))
		e.want(before)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the deadline is over"))
	err := quiesce{e.failing(apierrors.NewInternalError(errors.New("no leader")))}.Execute(ctx, e.backup("backup-1"))
	if err == nil || !strings.Contains(err.Error(), "no leader") || !strings.Contains(err.Error(), "the deadline is over") {
		t.Errorf("error %v", err)
	}
}

func doesNotTryForbidden(t *testing.T, e env) {
	e.deployment("web", 3)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web", errors.New("no role"))
	if err := (quiesce{e.failing(forbidden)}).Execute(t.Context(), e.backup("backup-1")); !apierrors.IsForbidden(err) {
		t.Errorf("error %v", err)
	}
	e.want(map[string]string{"deployment web": "3"})
}

func waitsForPods(t *testing.T, e env) {
	e.deployment("web", 1)
	pod := func(name string) *corev1.Pod {
		_, t := template("web")
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name, Labels: t.Labels}, Spec: t.Spec}
	}
	running, ended := pod("web-1"), pod("web-2")
	e.must(e.c.Create(t.Context(), running))
	e.must(e.c.Create(t.Context(), ended))
	ended.Status.Phase = corev1.PodSucceeded
	e.must(e.c.Status().Update(t.Context(), ended))

	looked := make(chan struct{}, 100)
	c := interceptor.NewClient(e.c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, l, options...)
			if _, ok := l.(*corev1.PodList); ok {
				looked <- struct{}{}
			}
			return err
		},
	})
	start := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() { done <- quiesce{cluster{client: c, log: e.cluster().log}}.Execute(ctx, e.backup("backup-1")) }()
		<-looked
		return done
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := start(ctx)
	cancel(errors.New("the deadline is over"))
	want := "pods still run: " + e.namespace + "/web-1: the deadline is over"
	if err := <-done; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	done = start(t.Context())
	select {
	case err := <-done:
		t.Fatalf("it did not wait for the pod: %v", err)
	case <-looked: // it looks again
	}
	e.must(e.c.Delete(t.Context(), running))
	select {
	case err := <-done:
		e.must(err)
	case <-time.After(time.Minute):
		t.Error("it does not see that the pod is gone")
	}
	e.must(resume{e.cluster()}.Execute(t.Context(), e.backup("backup-1")))
}

func resumesRestored(t *testing.T, e env) {
	stopped := []string{replicasAnnotation, "3", backupAnnotation, "other/backup-1"}
	restored := e.deployment("restored", 0, stopped...)
	restored.Labels = map[string]string{velerov1.RestoreNameLabel: "restore-1"}
	e.must(e.c.Update(t.Context(), restored))
	e.deployment("not-restored", 0, stopped...)
	e.must(resumeRestored{e.cluster()}.Execute(t.Context(), &velerov1.Restore{
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "restore-1"},
		Spec:       velerov1.RestoreSpec{BackupName: "backup-1"},
	}))
	e.want(map[string]string{"deployment restored": "3", "deployment not-restored": "0 of 3 by other/backup-1"})
}

func saysWhatItCannotResume(t *testing.T, e env) {
	e.deployment("broken", 0, replicasAnnotation, "many", backupAnnotation, "velero/backup-1")
	e.deployment("fine", 0, replicasAnnotation, "3", backupAnnotation, "velero/backup-1")
	err := resume{e.cluster()}.Execute(t.Context(), e.backup("backup-1"))
	if err == nil || !strings.Contains(err.Error(), "deployment "+e.namespace+"/broken") || !strings.Contains(err.Error(), "scale it by hand") {
		t.Errorf("error %v", err)
	}
	e.want(map[string]string{"deployment broken": "0 of many by velero/backup-1", "deployment fine": "3"})
	e.must(e.c.DeleteAllOf(t.Context(), new(appsv1.Deployment), client.InNamespace(e.namespace)))
}

func refusesAllNamespaces(t *testing.T, e env) {
	before := e.apps()
	for _, included := range [][]string{nil, {"*"}, {e.namespace, "*"}} {
		b := e.backup("backup-1")
		b.Spec.IncludedNamespaces = included
		err := quiesce{e.cluster()}.Execute(t.Context(), b)
		if err == nil || !strings.Contains(err.Error(), "velosim.io/quiesce.prebackup: skip") {
			t.Errorf("%q: error %v", included, err)
		}
	}
	e.want(before)
}

func leavesOthers(t *testing.T, e env) {
	before := e.apps()
	b := e.backup("backup-1")
	b.Namespace = e.namespace // Velero's own
	e.must(quiesce{e.cluster()}.Execute(t.Context(), b))
	e.want(before)
	b = e.backup("backup-1")
	b.Spec.IncludedNamespaces, b.Spec.ExcludedNamespaces = []string{"test-*"}, []string{e.namespace[:len(e.namespace)-1] + "?"}
	if err := (quiesce{e.cluster()}).Execute(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	e.want(before)
	e.must(resume{e.cluster()}.Execute(t.Context(), b))
}
