package prepost

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A server that has died holds the lease of an object for leaseDuration. The others are the usual fractions of it.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// lead does something for an object, as a controller, while no other controller does, of this server or another. It waits until it may, or until ctx
// ends. The context that do is given ends with ctx, or when another may take over. The lease is held until do has returned, and not left behind.
func (s *Server) lead(ctx context.Context, controller string, o client.Object, do func(context.Context) error) error {
	leases := s.Views.Kube(controller).CoordinationV1()
	lease := metav1.ObjectMeta{Namespace: s.Namespace, Name: "actions-" + string(o.GetUID())}
	leading, ended := make(chan context.Context, 1), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: lease, Client: leases, LockConfig: resourcelock.ResourceLockConfig{Identity: s.Identity + "/" + controller},
		},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { leading <- ctx },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	term, end := context.WithCancel(context.WithoutCancel(ctx)) // what is done may end after ctx
	defer end()
	go func() {
		defer close(ended)
		elector.Run(term)
	}()
	var led context.Context
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case led = <-leading:
	}
	doing, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(led, cancel)()
	err = do(doing)
	if led.Err() != nil {
		return err
	}
	end()
	<-ended // it would be renewed
	deleting, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewDeadline)
	defer cancel()
	if lost := leases.Leases(s.Namespace).Delete(deleting, lease.Name, metav1.DeleteOptions{}); lost != nil && !apierrors.IsNotFound(lost) {
		s.Log.WithError(lost).Warnf("The lease %s could not be deleted", lease.Name)
	}
	return err
}
