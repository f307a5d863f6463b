// Package action is what the plugin quiesce does, whose executable is the package above: so a test can run it with a client of its own.
package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/label"
	"github.com/vmware-tanzu/velero/pkg/util/collections"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/actions"
)

// A workload that is quiesced says so itself, in the update that scales it to 0: so it is known whatever dies when.
const (
	replicasAnnotation = "quiesce.velosim.io/replicas"
	backupAnnotation   = "quiesce.velosim.io/backup" // namespace/name
)

// Name is the plugin's.
const Name = "velosim.io/quiesce"

const poll = time.Second // how often pods are looked for, and how long what has failed is left alone

type quiesce struct{ cluster }

// NewQuiesce returns the PreBackupAction: it stops the workloads of the backup's namespaces.
func NewQuiesce(c client.Client, log logrus.FieldLogger) actions.PreBackupAction {
	return quiesce{cluster{c, log}}
}

func (q quiesce) Execute(ctx context.Context, backup *velerov1.Backup) error {
	namespaces, err := namespaces(backup)
	if err != nil {
		return err
	}
	mine := func(w workload) bool {
		return namespaces.ShouldInclude(w.GetNamespace()) && w.GetNamespace() != backup.Namespace
	}
	id := backup.Namespace + "/" + backup.Name
	if err := q.update(ctx, mine, func(w workload) (bool, error) {
		replicas, annotations := w.replicas(), w.GetAnnotations()
		switch {
		case replicas > 0:
			w.annotate(replicasAnnotation, strconv.Itoa(int(replicas)))
		case annotations[replicasAnnotation] == "" || annotations[backupAnnotation] == id:
			return false, nil // its owner wants none, or an earlier call was here
		}
		// One that another backup has left at 0 is taken over, with the replicas that it had.
		w.annotate(backupAnnotation, id)
		w.scale(0)
		return true, nil
	}); err != nil {
		return err
	}
	return q.awaitEnd(ctx, func(w workload) bool { return w.GetAnnotations()[backupAnnotation] == id })
}

// namespaces are those that the backup includes. It must name them: nobody wants to stop a whole cluster.
func namespaces(backup *velerov1.Backup) (*collections.IncludesExcludes, error) {
	included := backup.Spec.IncludedNamespaces
	if len(included) == 0 || slices.Contains(included, "*") {
		return nil, fmt.Errorf("the backup is of all namespaces, and the workloads of all will not be stopped: give includedNamespaces, or the annotation %s: skip",
			actions.SkipAnnotation(actions.PluginKindPreBackupAction, Name))
	}
	return collections.NewIncludesExcludes().Includes(included...).Excludes(backup.Spec.ExcludedNamespaces...), nil
}

// awaitEnd waits until no pods of the workloads run.
func (c cluster) awaitEnd(ctx context.Context, of func(workload) bool) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		running, err := c.running(ctx, of)
		switch {
		case err != nil && !transient(err):
			return err
		case err == nil && len(running) == 0:
			return nil
		case err != nil:
			c.log.WithError(err).Warn("Trying again")
		default:
			c.log.WithField("pods", running).Info("Waiting for the end of pods")
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
		switch {
		case ctx.Err() == nil:
		case err != nil:
			return errors.Join(err, context.Cause(ctx))
		default:
			return fmt.Errorf("pods still run: %s: %w", strings.Join(running, ", "), context.Cause(ctx))
		}
	}
}

type resume struct{ cluster }

// NewResume returns the PostBackupAction: it starts the workloads again that the backup's PreBackupAction has stopped.
func NewResume(c client.Client, log logrus.FieldLogger) actions.PostBackupAction {
	return resume{cluster{c, log}}
}

func (r resume) Execute(ctx context.Context, backup *velerov1.Backup) error {
	id := backup.Namespace + "/" + backup.Name
	return r.resume(ctx, func(w workload) bool { return w.GetAnnotations()[backupAnnotation] == id })
}

type resumeRestored struct{ cluster }

// NewResumeRestored returns the PostRestoreAction: it starts the workloads that were restored, as those in the backup were stopped.
func NewResumeRestored(c client.Client, log logrus.FieldLogger) actions.PostRestoreAction {
	return resumeRestored{cluster{c, log}}
}

func (r resumeRestored) Execute(ctx context.Context, restore *velerov1.Restore) error {
	return r.resume(ctx, func(w workload) bool {
		// The backup may be from a cluster where Velero is in another namespace.
		_, backup, _ := strings.Cut(w.GetAnnotations()[backupAnnotation], "/")
		return backup == restore.Spec.BackupName && w.GetLabels()[velerov1.RestoreNameLabel] == label.GetValidName(restore.Name)
	})
}

// resume gives workloads their replicas back, once: one that has been scaled by somebody else since keeps what it has.
func (c cluster) resume(ctx context.Context, of func(workload) bool) error {
	return c.update(ctx, of, func(w workload) (bool, error) {
		replicas, err := strconv.ParseInt(w.GetAnnotations()[replicasAnnotation], 10, 32)
		if err == nil && replicas < 0 {
			err = errors.New("it is negative")
		}
		if err != nil {
			return false, fmt.Errorf("%s: scale it by hand and remove the annotations %s and %s: %w", w, replicasAnnotation, backupAnnotation, err)
		}
		if w.replicas() == 0 {
			w.scale(int32(replicas))
		}
		w.annotate(replicasAnnotation, "")
		w.annotate(backupAnnotation, "")
		return true, nil
	})
}
