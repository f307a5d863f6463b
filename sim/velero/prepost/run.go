package prepost

import (
	"context"
	"fmt"
	"io"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/backup"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/restore"
	"github.com/vmware-tanzu/velero/pkg/util/results"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/actions"
)

// Backupper calls pre-actions before the items are backed up.
func (s *Server) Backupper(b backup.Backupper) backup.Backupper {
	if s == nil {
		return b
	}
	return backupper{b, s}
}

type backupper struct {
	backup.Backupper
	server *Server
}

func (b backupper) BackupWithResolvers(log logrus.FieldLogger, r *backup.Request, file io.Writer, a framework.BackupItemActionResolverV2, i framework.ItemBlockActionResolver, v backup.VolumeSnapshotterGetter) error {
	if err := b.server.pre(r.Backup, log); err != nil {
		return err
	}
	return b.Backupper.BackupWithResolvers(log, r, file, a, i, v)
}

// Restorer calls pre-actions before the items are restored.
func (s *Server) Restorer(r restore.Restorer) restore.Restorer {
	if s == nil {
		return r
	}
	return restorer{r, s}
}

type restorer struct {
	restore.Restorer
	server *Server
}

func (r restorer) RestoreWithResolvers(q *restore.Request, a framework.RestoreItemActionResolverV2, v restore.VolumeSnapshotterGetter) (warnings, errs results.Result) {
	if err := r.server.pre(q.Restore, q.Log); err != nil {
		return results.Result{}, results.Result{Velero: []string{err.Error()}}
	}
	return r.Restorer.RestoreWithResolvers(q, a, v)
}

// pre calls the pre-actions of the object, until one fails.
func (s *Server) pre(o client.Object, log logrus.FieldLogger) error {
	kind, _ := kinds(o)
	selected := actions.Select(s.Plugins.List(), kind, o.GetAnnotations())
	r := recordOf(o)
	if len(selected) == 0 || r == nil { // a run that began without a record is that of an older server
		return nil
	}
	controller, _ := controllers(o)
	caller := s.Plugins.Open(controller, log)
	defer caller.Close()
	for _, p := range selected {
		log.Infof("Calling %s %s", kind, p.Name)
		r.Pre = append(r.Pre, actions.Status{PluginName: p.Name, StartTimestamp: now(), Phase: actions.InProgress})
		_, err := s.persist(s.Context, controller, o, r)
		if err == nil {
			err = caller.Execute(s.Context, p, o)
			end(&r.Pre[len(r.Pre)-1], err)
			if _, lost := s.persist(s.Context, controller, o, r); lost != nil { // it stays InProgress there, which is what comes of a server that dies
				log.WithError(lost).Warnf("The status of %s %s could not be written", kind, p.Name)
			}
		}
		if err != nil {
			err = fmt.Errorf("%s %s: %w", kind, p.Name, err)
			s.fails(o, err)
			return err
		}
	}
	return nil
}

// persist writes the record of a run, again and again as Velero does what it must write then, until ctx ends. It returns the object as it is
// then.
func (s *Server) persist(ctx context.Context, controller string, o client.Object, r *record) (written client.Object, err error) {
	write := func() (err error) {
		written, err = s.write(ctx, controller, o, r)
		return err
	}
	err = veleroclient.RetryOnRetriableMaxBackOff(s.ResourceTimeout, write, func(error) bool { return ctx.Err() == nil })
	return written, err
}

// end is the end of a call.
func end(s *actions.Status, err error) {
	s.CompletionTimestamp, s.Phase, s.Message = now(), actions.Completed, ""
	if err != nil {
		s.Phase, s.Message = actions.Failed, err.Error()
	}
}

func now() *metav1.Time {
	t := metav1.Now()
	return &t
}

// Client is what the controllers of backups and restores write with. It marks the objects whose runs begin, and writes of a run whose
// pre-action has failed that this is why.
func (s *Server) Client(c client.Client) client.Client {
	if s == nil {
		return c
	}
	return runClient{c, s}
}

type runClient struct {
	client.Client
	server *Server
}

func (c runClient) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	s := c.server
	switch was := phaseOf(o); {
	case was == "" || !s.acts(o):
	case was == string(velerov1.BackupPhaseInProgress):
		if recordOf(o) == nil {
			marked := o.DeepCopyObject().(client.Object)
			mark(marked)
			if err := c.Client.Patch(ctx, marked, patch, options...); err != nil {
				return err
			}
			assign(o, marked)
			s.begins(o)
			return nil
		}
	case s.failure(o.GetUID()) != "":
		rewritten := o.DeepCopyObject().(client.Object)
		blame(rewritten, s.failure(o.GetUID()))
		if err := c.Client.Patch(ctx, rewritten, patch, options...); err != nil {
			return err
		}
		assign(o, rewritten)
		setPhase(o, was) // what the controller expects: it lets go of the backup then
		s.ends(o)
		return nil
	default:
		err := c.Client.Patch(ctx, o, patch, options...)
		if err == nil {
			s.ends(o)
		}
		return err
	}
	return c.Client.Patch(ctx, o, patch, options...)
}

// blame gives an object the phase of one whose pre-action has failed. Of a backup, Velero writes the reason.
func blame(o client.Object, why string) {
	switch o := o.(type) {
	case *velerov1.Backup:
		o.Status.Phase = actions.BackupPhaseFailedPreBackupActions
		if o.Status.CompletionTimestamp == nil {
			o.Status.CompletionTimestamp = now()
		}
	case *velerov1.Restore:
		o.Status.Phase, o.Status.FailureReason = actions.RestorePhaseFailedPreRestoreActions, why
		if o.Status.CompletionTimestamp == nil {
			o.Status.CompletionTimestamp = now()
		}
	}
}

func phaseOf(o client.Object) string {
	switch o := o.(type) {
	case *velerov1.Backup:
		return string(o.Status.Phase)
	case *velerov1.Restore:
		return string(o.Status.Phase)
	}
	return ""
}

func setPhase(o client.Object, phase string) {
	switch o := o.(type) {
	case *velerov1.Backup:
		o.Status.Phase = velerov1.BackupPhase(phase)
	case *velerov1.Restore:
		o.Status.Phase = velerov1.RestorePhase(phase)
	}
}

// assign makes o what other is.
func assign(o, other client.Object) {
	switch o := o.(type) {
	case *velerov1.Backup:
		other.(*velerov1.Backup).DeepCopyInto(o)
	case *velerov1.Restore:
		other.(*velerov1.Restore).DeepCopyInto(o)
	}
}
