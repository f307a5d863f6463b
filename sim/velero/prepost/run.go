package prepost

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/backup"
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
		return errors.Join(err, empty(file))
	}
	return b.Backupper.BackupWithResolvers(log, r, file, a, i, v)
}

// empty writes the contents of a backup without items, which Velero stores, and its deletion reads.
func empty(file io.Writer) error {
	z := gzip.NewWriter(file)
	return errors.Join(tar.NewWriter(z).Close(), z.Close())
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

// pre calls the pre-actions of the object, until one fails, while no other server calls its actions. Its post-actions, if another server ends the
// run meanwhile, come after.
func (s *Server) pre(o client.Object, log logrus.FieldLogger) error {
	kind, _ := kinds(o)
	selected := actions.Select(s.Plugins.List(), kind, o.GetAnnotations())
	if len(selected) == 0 || recordOf(o) == nil { // a run that began without a record is that of an older server
		return nil
	}
	controller, _ := controllers(o)
	caller := s.Plugins.Open(controller, log)
	defer caller.Close()
	waiting, cancel := context.WithTimeoutCause(s.Context, s.ResourceTimeout, errors.New("the lease of its actions was not to be had"))
	defer cancel()
	err := s.lead(waiting, controller, o, func(context.Context) error { // a lease that is lost ends no pre-action: its run goes on
		for _, p := range selected {
			log.Infof("Calling %s %s", kind, p.Name)
			if err := s.begin(controller, caller, o, p, log); err != nil {
				return fmt.Errorf("%s %s: %w", kind, p.Name, err)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnded) {
		s.fails(o, err)
	}
	return err
}

// errEnded is that another server has marked the run as failed. That is what Velero's own writes make of it as well.
var errEnded = errors.New("another server has ended the run")

// begin calls a pre-action.
func (s *Server) begin(controller string, caller Caller, o client.Object, p framework.PluginIdentifier, log logrus.FieldLogger) error {
	if live, err := s.live(s.Context, controller, o); err == nil && phaseOf(live) != string(velerov1.BackupPhaseInProgress) {
		return errEnded
	}
	status := actions.Status{PluginName: p.Name, StartTimestamp: now(), Phase: actions.InProgress}
	note := func(r *record) { r.Pre = with(r.Pre, status) }
	if _, err := s.update(s.Context, controller, o, note); err != nil {
		return err
	}
	err := caller.Execute(s.Context, p, o)
	end(&status, err)
	live, lost := s.update(s.Context, controller, o, note)
	switch {
	case lost != nil: // it stays InProgress there, which is what comes of a server that dies
		log.WithError(lost).Warnf("The status of %s %s could not be written", p.Kind, p.Name)
	case phaseOf(live) != string(velerov1.BackupPhaseInProgress):
		return errEnded
	}
	return err
}

// maxMessage is how long the message of a status is, in bytes: all annotations of an object may have 256 KiB, and its failure is no reason that
// its status cannot be written.
const maxMessage = 1 << 10

// end is the end of a call.
func end(s *actions.Status, err error) {
	s.CompletionTimestamp, s.Phase, s.Message = now(), actions.Completed, ""
	if err != nil {
		s.Phase, s.Message = actions.Failed, shorten(err.Error())
	}
}

func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
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
	switch phase := phaseOf(o); {
	case phase == "" || !s.acts(o):
	case phase == string(velerov1.BackupPhaseInProgress): // the one patch with it: that to it
		marked := o.DeepCopyObject().(client.Object)
		mark(marked)
		fresh, err := locked(patch, marked)
		if err != nil {
			return err
		}
		if err := c.Client.Patch(ctx, marked, fresh, options...); err != nil {
			return err
		}
		assign(o, marked)
		s.begins(o)
		return nil
	case s.failure(o.GetUID()) != "":
		rewritten := o.DeepCopyObject().(client.Object)
		blame(rewritten, s.failure(o.GetUID()))
		if err := c.Client.Patch(ctx, rewritten, patch, options...); err != nil {
			return err
		}
		assign(o, rewritten)
		setPhase(o, phase) // what the controller expects: it lets go of the backup then
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

// locked is a merge patch of the object that is refused if it was written since it was read: a run that begins anew because of a stale cache
// would forget what was called in the first.
func locked(patch client.Patch, o client.Object) (client.Patch, error) {
	data, err := patch.Data(o)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	metadata, ok := fields["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		fields["metadata"] = metadata
	}
	metadata["resourceVersion"] = o.GetResourceVersion()
	data, err = json.Marshal(fields)
	return client.RawPatch(patch.Type(), data), err
}

// blame gives an object the phase of one whose pre-action has failed, and the reason, if Velero has not.
func blame(o client.Object, why string) {
	switch o := o.(type) {
	case *velerov1.Backup:
		o.Status.Phase, o.Status.FailureReason = actions.BackupPhaseFailedPreBackupActions, cmp.Or(shorten(o.Status.FailureReason), why)
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
