package prepost

import (
	"context"
	"slices"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/velosim/velosim/sim/actions"
)

// abreast is how many objects' post-actions are called at once, lest one that hangs until its deadline leave others' workloads stopped.
const abreast = 8

// SetupWithManager adds the controllers of post-actions, each to its view of the manager.
func (s *Server) SetupWithManager(manager func(controller string) ctrl.Manager) error {
	if err := s.setup(manager, ControllerPostBackupActions, func() client.Object { return &velerov1.Backup{} }); err != nil {
		return err
	}
	return s.setup(manager, ControllerPostRestoreActions, func() client.Object { return &velerov1.Restore{} })
}

func (s *Server) setup(manager func(string) ctrl.Manager, name string, object func() client.Object) error {
	has := predicate.NewPredicateFuncs(func(o client.Object) bool { return slices.Contains(o.GetFinalizers(), actions.Finalizer) })
	return ctrl.NewControllerManagedBy(manager(name)).For(object()).Named(name).WithEventFilter(has).
		WithOptions(controller.Options{MaxConcurrentReconciles: abreast}).
		Complete(reconcile.Func(func(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
			o := object()
			if err := s.Views.Direct(name).Get(ctx, q.NamespacedName, o); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			return ctrl.Result{}, s.settle(ctx, o)
		}))
}

// settle calls the post-actions of an object that has ended and gives it free, once it has.
func (s *Server) settle(ctx context.Context, o client.Object) error {
	_, controller := controllers(o)
	r := recordOf(o)
	switch {
	case !controllerutil.ContainsFinalizer(o, actions.Finalizer):
		return nil
	case r == nil && s.isRunning(o): // somebody has taken its record away, and the next pre-action's status brings it back
		return nil
	case r == nil: // a copy that sync or a restore has brought
		return s.release(ctx, o)
	case !s.ended(o):
		return nil
	case len(s.due(o, r)) == 0:
		return s.release(ctx, o)
	}
	return s.lead(ctx, controller, o, func(ctx context.Context) error {
		o, err := s.live(ctx, controller, o)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		if r := recordOf(o); r != nil && controllerutil.ContainsFinalizer(o, actions.Finalizer) && s.ended(o) { // nobody else has been here
			return client.IgnoreNotFound(s.post(ctx, o, r))
		}
		return nil
	})
}

// ended reports whether the object's run is over. A backup that is being deleted is so, but for one whose run has gone on meanwhile.
func (s *Server) ended(o client.Object) bool {
	switch p := phaseOf(o); p {
	case string(velerov1.BackupPhaseCompleted), string(velerov1.BackupPhasePartiallyFailed), string(velerov1.BackupPhaseFailed),
		string(actions.BackupPhaseFailedPreBackupActions), string(actions.RestorePhaseFailedPreRestoreActions):
		return true
	default:
		return p == string(velerov1.BackupPhaseDeleting) && !s.isRunning(o)
	}
}

// due are the plugins whose post-actions are to be called: those whose pre-action has begun, or that have none.
func (s *Server) due(o client.Object, r *record) []framework.PluginIdentifier {
	pre, post := kinds(o)
	all := s.Plugins.List()
	return slices.DeleteFunc(actions.Select(all, post, o.GetAnnotations()), func(p framework.PluginIdentifier) bool {
		paired := slices.ContainsFunc(actions.Select(all, pre, o.GetAnnotations()), func(q framework.PluginIdentifier) bool { return q.Name == p.Name })
		done := find(r.Post, p.Name)
		return paired && find(r.Pre, p.Name) == nil || done != nil && done.Phase != actions.InProgress
	})
}

// post calls the post-actions that are due. The error is one of what stands around them: theirs are in their statuses, and in their log.
func (s *Server) post(ctx context.Context, o client.Object, r *record) error {
	due := s.due(o, r)
	if len(due) == 0 { // a server that has died meanwhile has called the last
		return s.release(ctx, o)
	}
	_, controller := controllers(o)
	log, err := s.newLog(o)
	if err != nil {
		return err
	}
	defer log.close()
	caller := s.Plugins.Open(controller, log)
	defer caller.Close()
	for _, p := range due {
		status := actions.Status{PluginName: p.Name, StartTimestamp: now(), Phase: actions.InProgress}
		note := func(r *record) { r.Post = with(r.Post, status) }
		if o, err = s.update(ctx, controller, o, note); err != nil {
			return err
		}
		log.Infof("Calling %s %s", p.Kind, p.Name)
		err := caller.Execute(ctx, p, o)
		if ctx.Err() != nil { // another server may have taken over
			return ctx.Err()
		}
		if end(&status, err); err != nil {
			log.WithError(err).Errorf("%s %s failed", p.Kind, p.Name)
		}
		if o, err = s.update(ctx, controller, o, note); err != nil { // it would be called again, as one that was cut off
			return err
		}
	}
	log.upload(ctx, o)
	return s.release(ctx, o)
}

// release gives the object free.
func (s *Server) release(ctx context.Context, o client.Object) error {
	_, controller := controllers(o)
	free := o.DeepCopyObject().(client.Object)
	controllerutil.RemoveFinalizer(free, actions.Finalizer)
	return client.IgnoreNotFound(s.Views.Direct(controller).Patch(ctx, free, client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{})))
}
