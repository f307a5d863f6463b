package apiserver

import (
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answer is what a call comes to.
type answer struct {
	code    int
	body    []byte
	changed bool
	watch   *watcher
}

// serve applies a call. Every error is a status.
func (s *Server) serve(c *call) (answer, error) {
	switch c.Verb {
	case "get":
		return s.get(c)
	case "list":
		return s.list(c)
	case "watch":
		return s.watch(c)
	default:
		return s.write(c)
	}
}

func (s *Server) get(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := c.get(c.Namespace, c.Name)
	if o == nil {
		return answer{}, apierrors.NewNotFound(c.gr, c.Name)
	}
	return c.answer(http.StatusOK, o)
}

// answer answers with an object.
func (v *version) answer(code int, o *object) (answer, error) {
	o, err := v.convert(o)
	if err != nil {
		return answer{}, apierrors.NewInternalError(err)
	}
	return answer{code: code, body: v.encode(o)}, nil
}

func (s *Server) list(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, err := s.parseRevision(c.list.ResourceVersion)
	if err != nil {
		return answer{}, err
	}
	if c.list.ResourceVersionMatch == metav1.ResourceVersionMatchExact && revision != s.revision {
		return answer{}, expired(revision, s.revision)
	}
	var objects []*object
	for _, o := range c.in(c.Namespace) {
		if c.selector.matches(o) {
			objects = append(objects, o)
		}
	}
	return c.answerList(objects, s.revision)
}

func (v *version) answerList(objects []*object, revision uint64) (answer, error) {
	body := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d"},"items":[`,
		v.gvk.GroupVersion(), v.listKind, revision)
	for i, o := range objects {
		if i > 0 {
			body = append(body, ',')
		}
		o, err := v.convert(o)
		if err != nil {
			return answer{}, apierrors.NewInternalError(err)
		}
		if v.custom {
			body = append(body, v.encode(o)...)
		} else { // the items of built-in lists have no apiVersion and kind
			body = append(body, o.body...)
		}
	}
	return answer{code: http.StatusOK, body: append(body, "]}"...)}, nil
}

// parseRevision parses the resourceVersion of a list or watch; empty is 0. s.mu is held.
func (s *Server) parseRevision(resourceVersion string) (uint64, error) {
	if resourceVersion == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q: it must be a number", resourceVersion))
	}
	if revision > s.revision { // as k8s.io/apiserver's storage.NewTooLargeResourceVersionError
		err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", revision, s.revision), 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{
			{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"},
		}
		return 0, err
	}
	return revision, nil
}

func expired(revision, oldest uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", revision, oldest))
}
