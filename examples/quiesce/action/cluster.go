package action

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/sirupsen/logrus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type cluster struct {
	client client.Client
	log    logrus.FieldLogger
}

// workload is a Deployment or StatefulSet.
type workload struct {
	client.Object
	kind     string
	spec     **int32 // its replicas, 1 if nil
	selector *metav1.LabelSelector
}

func (w workload) String() string { return w.kind + " " + w.GetNamespace() + "/" + w.GetName() }

func (w workload) replicas() int32 {
	if *w.spec == nil {
		return 1
	}
	return **w.spec
}

func (w workload) scale(replicas int32) { *w.spec = &replicas }

// annotate sets an annotation, or removes it if the value is empty.
func (w workload) annotate(key, value string) {
	annotations := w.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	if value == "" {
		delete(annotations, key)
	}
	w.SetAnnotations(annotations)
}

// workloads are those of the cluster that of selects.
func (c cluster) workloads(ctx context.Context, of func(workload) bool) ([]workload, error) {
	var deployments appsv1.DeploymentList
	if err := c.client.List(ctx, &deployments); err != nil {
		return nil, err
	}
	var sets appsv1.StatefulSetList
	if err := c.client.List(ctx, &sets); err != nil {
		return nil, err
	}
	var all []workload
	add := func(w workload) {
		if of(w) {
			all = append(all, w)
		}
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		add(workload{d, "deployment", &d.Spec.Replicas, d.Spec.Selector})
	}
	for i := range sets.Items {
		s := &sets.Items[i]
		add(workload{s, "statefulset", &s.Spec.Replicas, s.Spec.Selector})
	}
	return all, nil
}

// update changes the selected workloads, where change says so, each in one update that fails if somebody else was faster. Then, and when
// the API server was out of reach or could not serve it, it looks at all of them again, until ctx ends. What cannot be changed does not keep
// the others from it.
func (c cluster) update(ctx context.Context, of func(workload) bool, change func(workload) (bool, error)) error {
	for {
		again, err := c.pass(ctx, of, change)
		if !again {
			return err
		}
		c.log.WithError(err).Warn("Trying again")
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(poll):
		}
	}
}

// pass changes them once. It reports whether another pass may get further.
func (c cluster) pass(ctx context.Context, of func(workload) bool, change func(workload) (bool, error)) (again bool, err error) {
	workloads, err := c.workloads(ctx, of)
	if err != nil {
		return transient(err), err
	}
	var errs []error
	for _, w := range workloads {
		before := w.replicas()
		changed, err := change(w)
		if changed && err == nil {
			err = c.client.Update(ctx, w.Object)
		}
		switch {
		case apierrors.IsNotFound(err): // it has been deleted
		case err != nil:
			again = again || transient(err)
			errs = append(errs, fmt.Errorf("%s: %w", w, err))
		case changed:
			c.log.Infof("Scaled %s from %d to %d", w, before, w.replicas())
		}
	}
	return again, errors.Join(errs...)
}

// transient tells whether what has failed may succeed later.
func transient(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonConflict, metav1.StatusReasonInternalError, metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout,
		metav1.StatusReasonTooManyRequests, metav1.StatusReasonServiceUnavailable:
		return true
	}
	return errors.As(err, new(*url.Error)) // there was no answer
}

// running are the pods of the selected workloads that have not ended.
func (c cluster) running(ctx context.Context, of func(workload) bool) ([]string, error) {
	workloads, err := c.workloads(ctx, of)
	if err != nil {
		return nil, err
	}
	var running []string
	for _, w := range workloads {
		selector, err := metav1.LabelSelectorAsSelector(w.selector)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		var pods corev1.PodList
		if err := c.client.List(ctx, &pods, client.InNamespace(w.GetNamespace()), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return nil, err
		}
		for _, p := range pods.Items {
			if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
				running = append(running, p.Namespace+"/"+p.Name)
			}
		}
	}
	return running, nil
}
