package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// delete deletes old, or marks it as being deleted if it has finalizers. It returns what is left of it.
func (s *Server) delete(c *call, old *object) (now *object, a answer, err error) {
	if old == nil {
		return nil, a, apierrors.NewNotFound(c.gr, c.Name)
	}
	if err := c.checkPreconditions(old); err != nil {
		return nil, a, err
	}
	if len(old.content.GetFinalizers()) == 0 {
		a, err = c.answerDeleted(old)
		if err != nil {
			return nil, a, err
		}
		return nil, a, s.remove(c, old)
	}
	now = old
	if old.content.GetDeletionTimestamp() == nil {
		if now, err = s.markDeleted(c, old); err != nil {
			return nil, a, err
		}
	}
	a, err = c.answer(http.StatusOK, now)
	return now, a, err
}

func (c *call) checkPreconditions(o *object) error {
	p := c.delete.Preconditions
	switch {
	case p == nil:
		return nil
	case p.UID != nil && *p.UID != o.content.GetUID():
		return apierrors.NewConflict(c.gr, c.Name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*p.UID, o.content.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != o.content.GetResourceVersion():
		return apierrors.NewConflict(c.gr, c.Name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*p.ResourceVersion, o.content.GetResourceVersion()))
	}
	return nil
}

func (c *call) answerDeleted(o *object) (answer, error) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: o.content.GetName(), Group: c.gr.Group, Kind: c.gr.Resource, UID: o.content.GetUID(),
		},
	})
	if err != nil {
		return answer{}, apierrors.NewInternalError(err)
	}
	return answer{code: http.StatusOK, body: body}, nil
}

// markDeleted does what k8s.io/apiserver's registry.markAsDeleting does.
func (s *Server) markDeleted(c *call, old *object) (*object, error) {
	m := maps.Clone(old.content.Object)
	metadata := maps.Clone(metadataOf(m))
	metadata["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	metadata["deletionGracePeriodSeconds"] = int64(0)
	if generation := old.content.GetGeneration(); generation > 0 {
		metadata["generation"] = generation + 1
	}
	m["metadata"] = metadata
	now, err := newObject(m, s.revision+1)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	s.commit(c.resource, event{watch.Modified, now, old})
	return now, nil
}

// remove removes old for good.
func (s *Server) remove(c *call, old *object) error {
	last, err := old.at(s.revision + 1)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	s.commit(c.resource, event{watch.Deleted, last, old})
	return nil
}

// deleteCollection deletes what the call selects, one by one. It stops at the first error, of which there is none but a
// failed precondition.
func (s *Server) deleteCollection(c *call) (a answer, last *observation, err error) {
	var selected []*object
	for _, o := range slices.Clone(c.in(c.Namespace)) {
		if !c.selector.matches(o) {
			continue
		}
		now, _, err := s.delete(c, o)
		a.changed = a.changed || err == nil && now != o
		last = s.record(newWrite(c.Request, o, now, err))
		if err != nil {
			return a, last, err
		}
		selected = append(selected, o)
	}
	changed := a.changed
	a, err = c.answerList(selected, s.revision)
	a.changed = changed
	return a, last, err
}
