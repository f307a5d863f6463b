package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	logtest "github.com/sirupsen/logrus/hooks/test"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/examples/internal/testcluster"
	"github.com/velosim/velosim/sim/actions"
)

func TestMain(m *testing.M) { testcluster.Main(m, "dr-job", main) }

func TestList(t *testing.T) {
	log, _ := logtest.NewNullLogger()
	plugins, err := actions.List(t.Context(), testcluster.Executable(t, "dr-job"), log)
	if err != nil || len(plugins) != 1 || plugins[0].Kind != actions.PluginKindPostBackupAction {
		t.Errorf("%v, %v; want one PostBackupAction", plugins, err)
	}
}

const manifest = `
apiVersion: batch/v1
kind: Job
metadata: {labels: {team: storage}}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers: [{name: login, image: example.io/cli}]
      containers: [{name: copy, image: example.io/copy, env: [{name: SITE, value: b}]}]
`

// env is a namespace with the template of a job.
type env struct {
	t         *testing.T
	c         client.WithWatch
	namespace string
}

func newEnv(t *testing.T, c client.WithWatch, manifest string) env {
	t.Helper()
	e := env{t: t, c: c, namespace: testcluster.Namespace(t, c)}
	template := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "template"}, Data: map[string]string{templateKey: manifest}}
	if err := c.Create(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e env) execute(c client.Client, b *velerov1.Backup) error {
	e.t.Helper()
	log, _ := logtest.NewNullLogger()
	d, err := newDRJob(c, log, e.namespace+"/template")
	if err != nil {
		e.t.Fatal(err)
	}
	return d.Execute(e.t.Context(), b)
}

func (e env) jobs() []batchv1.Job {
	e.t.Helper()
	var jobs batchv1.JobList
	if err := e.c.List(e.t.Context(), &jobs, client.InNamespace(e.namespace)); err != nil {
		e.t.Fatal(err)
	}
	return jobs.Items
}

func backup(name string, uid types.UID, phase velerov1.BackupPhase) *velerov1.Backup {
	return &velerov1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: name, UID: uid},
		Spec:       velerov1.BackupSpec{StorageLocation: "default"},
		Status:     velerov1.BackupStatus{Phase: phase},
	}
}

func TestJob(t *testing.T) {
	c := testcluster.New(t)
	t.Run("created once", func(t *testing.T) {
		e := newEnv(t, c, manifest)
		for range 2 {
			if err := e.execute(c, backup("daily.1", "uid-1", velerov1.BackupPhasePartiallyFailed)); err != nil {
				t.Fatal(err)
			}
		}
		jobs := e.jobs()
		if len(jobs) != 1 {
			t.Fatalf("%d jobs, want 1", len(jobs))
		}
		job := jobs[0]
		if job.Name != "dr-daily.1" || job.Labels["team"] != "storage" || job.Labels["velero.io/backup-name"] != "daily.1" {
			t.Errorf("job %s, labels %v", job.Name, job.Labels)
		}
		var values []string
		for _, container := range append(job.Spec.Template.Spec.InitContainers, job.Spec.Template.Spec.Containers...) {
			for _, v := range container.Env {
				values = append(values, container.Name+" "+v.Name+"="+v.Value)
			}
		}
		want := strings.Split(strings.TrimSpace(`
login BACKUP_NAMESPACE=velero
login BACKUP_NAME=daily.1
login BACKUP_PHASE=PartiallyFailed
login BACKUP_STORAGE_LOCATION=default
copy SITE=b
copy BACKUP_NAMESPACE=velero
copy BACKUP_NAME=daily.1
copy BACKUP_PHASE=PartiallyFailed
copy BACKUP_STORAGE_LOCATION=default`), "\n")
		if diff := cmp.Diff(want, values); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	})
	for name, after := range map[string]bool{"dies before": false, "dies after": true} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, c, manifest)
			dying, _ := testcluster.Dying(c, 1, after)
			if err := e.execute(dying, backup("daily", "uid-1", velerov1.BackupPhaseCompleted)); err == nil {
				t.Error("it has not died")
			}
			if err := e.execute(c, backup("daily", "uid-1", velerov1.BackupPhaseCompleted)); err != nil {
				t.Error(err)
			}
			if n := len(e.jobs()); n != 1 {
				t.Errorf("%d jobs, want 1", n)
			}
		})
	}
	t.Run("long names differ", func(t *testing.T) {
		e := newEnv(t, c, manifest)
		long := strings.Repeat("a", 100)
		for i, name := range []string{long, long + "b"} {
			if err := e.execute(c, backup(name, types.UID(name), velerov1.BackupPhaseCompleted)); err != nil {
				t.Fatal(err)
			}
			if n := len(e.jobs()); n != i+1 {
				t.Errorf("%d jobs, want %d", n, i+1)
			}
		}
	})
	t.Run("the job of another backup", func(t *testing.T) {
		e := newEnv(t, c, manifest)
		if err := e.execute(c, backup("daily", "uid-1", velerov1.BackupPhaseCompleted)); err != nil {
			t.Fatal(err)
		}
		err := e.execute(c, backup("daily", "uid-2", velerov1.BackupPhaseCompleted))
		if err == nil || !strings.Contains(err.Error(), "dr-daily exists and is not of this backup: delete it") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("nothing to copy", func(t *testing.T) {
		e := newEnv(t, c, manifest)
		for _, phase := range []velerov1.BackupPhase{velerov1.BackupPhaseFailed, "FailedPreBackupActions"} {
			if err := e.execute(c, backup("daily", "uid-1", phase)); err != nil {
				t.Error(err)
			}
		}
		if n := len(e.jobs()); n != 0 {
			t.Errorf("%d jobs, want none", n)
		}
	})
	t.Run("wrong templates", func(t *testing.T) {
		e := newEnv(t, c, "specs: {}")
		err := e.execute(c, backup("daily", "uid-1", velerov1.BackupPhaseCompleted))
		if err == nil || !strings.Contains(err.Error(), "configmap "+e.namespace+`/template: job.yaml: error unmarshaling JSON`) {
			t.Errorf("error %v", err)
		}
		log, _ := logtest.NewNullLogger()
		d, err := newDRJob(c, log, e.namespace+"/none")
		if err != nil {
			t.Fatal(err)
		}
		err = d.Execute(t.Context(), backup("daily", "uid-1", velerov1.BackupPhaseCompleted))
		if err == nil || !strings.Contains(err.Error(), `the template of the job: configmaps "none" not found`) {
			t.Errorf("error %v", err)
		}
		for _, template := range []string{"", "name", "/name", "namespace/"} {
			if _, err := newDRJob(c, log, template); err == nil || !strings.Contains(err.Error(), "DR_JOB_TEMPLATE is") {
				t.Errorf("%q: error %v", template, err)
			}
		}
	})
}
