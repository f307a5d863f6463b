package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/label"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// templateVariable is the environment variable with the namespace/name of the ConfigMap that holds the Job.
	templateVariable = "DR_JOB_TEMPLATE"
	templateKey      = "job.yaml"
	// uidAnnotation tells a Job's backup from one of the same name.
	uidAnnotation = "dr-job.velosim.io/backup-uid"
)

// drJob is the PostBackupAction.
type drJob struct {
	client   client.Client
	log      logrus.FieldLogger
	template types.NamespacedName
}

func newDRJob(c client.Client, log logrus.FieldLogger, template string) (*drJob, error) {
	namespace, name, ok := strings.Cut(template, "/")
	if !ok || namespace == "" || name == "" {
		return nil, fmt.Errorf("%s is %q: it must be namespace/name of a ConfigMap with a Job in %s", templateVariable, template, templateKey)
	}
	return &drJob{client: c, log: log, template: types.NamespacedName{Namespace: namespace, Name: name}}, nil
}

func (d *drJob) Execute(ctx context.Context, backup *velerov1.Backup) error {
	if phase := backup.Status.Phase; phase != velerov1.BackupPhaseCompleted && phase != velerov1.BackupPhasePartiallyFailed {
		d.log.Infof("No job, as the backup is %s", phase)
		return nil
	}
	job, err := d.job(ctx, backup)
	if err != nil {
		return err
	}
	// The name is the backup's: whoever calls again, maybe after a crash, finds the Job.
	err = d.client.Create(ctx, job)
	if apierrors.IsAlreadyExists(err) {
		return d.check(ctx, job)
	} else if err != nil {
		return fmt.Errorf("create job %s/%s: %w", job.Namespace, job.Name, err)
	}
	d.log.Infof("Created job %s/%s", job.Namespace, job.Name)
	return nil
}

// job is the Job of the backup.
func (d *drJob) job(ctx context.Context, backup *velerov1.Backup) (*batchv1.Job, error) {
	var template corev1.ConfigMap
	if err := d.client.Get(ctx, d.template, &template); err != nil {
		return nil, fmt.Errorf("the template of the job: %w", err)
	}
	job := new(batchv1.Job)
	if err := yaml.UnmarshalStrict([]byte(template.Data[templateKey]), job); err != nil {
		return nil, fmt.Errorf("configmap %s: %s: %w", d.template, templateKey, err)
	}
	if job.Namespace == "" {
		job.Namespace = d.template.Namespace
	}
	job.Name = label.GetValidName("dr-" + backup.Name)
	job.Labels = with(job.Labels, velerov1.BackupNameLabel, label.GetValidName(backup.Name))
	job.Annotations = with(job.Annotations, uidAnnotation, string(backup.UID))
	env := []corev1.EnvVar{
		{Name: "BACKUP_NAMESPACE", Value: backup.Namespace},
		{Name: "BACKUP_NAME", Value: backup.Name},
		{Name: "BACKUP_PHASE", Value: string(backup.Status.Phase)},
		{Name: "BACKUP_STORAGE_LOCATION", Value: backup.Spec.StorageLocation},
	}
	spec := &job.Spec.Template.Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].Env = append(containers[i].Env, env...)
		}
	}
	return job, nil
}

// check checks that the Job that exists is this backup's.
func (d *drJob) check(ctx context.Context, job *batchv1.Job) error {
	existing := new(batchv1.Job)
	if err := d.client.Get(ctx, client.ObjectKeyFromObject(job), existing); err != nil {
		return err
	}
	if existing.Annotations[uidAnnotation] != job.Annotations[uidAnnotation] {
		return fmt.Errorf("job %s/%s exists and is not of this backup: delete it", job.Namespace, job.Name)
	}
	d.log.Infof("Job %s/%s exists already", job.Namespace, job.Name)
	return nil
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
