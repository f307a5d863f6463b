package proxy_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// apiServer plays a kube-apiserver, as far as clients need one: JSON, any resource, resourceVersions and watches.
type apiServer struct {
	*httptest.Server
	// intercept, unless nil, may answer in its place.
	intercept func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	version int
	objects map[string]*unstructured.Unstructured // by path
	events  []event
	changed chan struct{} // closed when there is another event
	protos  map[string]int
}

type event struct {
	version int
	path    string
	body    []byte
}

// kinds of upstreams.
var kinds = []string{"HTTP", "TLS with HTTP/1.1", "HTTP/2"}

func newAPIServer(t testing.TB, kind string) (*apiServer, *rest.Config) {
	t.Helper()
	s := &apiServer{objects: map[string]*unstructured.Unstructured{}, changed: make(chan struct{}), protos: map[string]int{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2000}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	c := &rest.Config{BearerToken: "upstream's", QPS: -1}
	switch kind {
	case "HTTP":
		s.Start()
	default:
		s.EnableHTTP2 = kind == "HTTP/2"
		s.StartTLS()
		c.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	c.Host = s.URL
	return s, c
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.protos[r.Proto]++
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer upstream's" {
		fail(w, apierrors.NewUnauthorized("not the upstream's token"))
		return
	}
	if s.intercept != nil && s.intercept(w, r) {
		return
	}
	if r.URL.Query().Get("watch") == "true" {
		s.watch(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if object, err := s.do(r, body); err != nil {
		fail(w, err)
	} else {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object)
	}
}

func fail(w http.ResponseWriter, err error) {
	full := err.(apierrors.APIStatus).Status()
	full.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(full.Code))
	_ = json.NewEncoder(w).Encode(full)
}

func (s *apiServer) do(r *http.Request, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	o, made := s.objects[path], &unstructured.Unstructured{Object: map[string]any{}}
	if o == nil && r.Method != http.MethodPost && (r.Method != http.MethodGet || strings.Count(path, "/")%2 == 1) {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, path)
	}
	switch r.Method {
	case http.MethodGet:
		if o != nil {
			return o, nil
		}
		return s.list(path), nil
	case http.MethodDelete:
		delete(s.objects, path)
		s.put(path, "DELETED", o)
		return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
	case http.MethodPatch:
		made = o.DeepCopy()
	}
	var sent map[string]any
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	merge(made.Object, sent)
	if r.Method == http.MethodPost {
		if made.GetName() == "" {
			made.SetName(fmt.Sprint(made.GetGenerateName(), s.version))
		}
		path += "/" + made.GetName()
		if s.objects[path] != nil {
			return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "objects"}, made.GetName())
		}
		s.put(path, "ADDED", made)
		return made, nil
	}
	s.put(path, "MODIFIED", made)
	return made, nil
}

// merge applies a merge patch without nulls.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		a, ok := into[key].(map[string]any)
		if b, both := value.(map[string]any); ok && both {
			merge(a, b)
		} else {
			into[key] = value
		}
	}
}

func (s *apiServer) put(path, kind string, o *unstructured.Unstructured) {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	if kind != "DELETED" {
		s.objects[path] = o
	}
	body, _ := json.Marshal(map[string]any{"type": kind, "object": o.Object})
	s.events = append(s.events, event{s.version, path, body})
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *apiServer) list(path string) any {
	list := &unstructured.UnstructuredList{Object: map[string]any{"kind": "List", "apiVersion": "v1"}}
	list.SetResourceVersion(strconv.Itoa(s.version))
	for at, o := range s.objects {
		if strings.HasPrefix(at, path+"/") {
			list.SetAPIVersion(o.GetAPIVersion())
			list.SetKind(o.GetKind() + "List")
			list.Items = append(list.Items, *o)
		}
	}
	return list.UnstructuredContent()
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	for i := 0; ; {
		s.mu.Lock()
		events, changed := s.events[i:], s.changed
		i = len(s.events)
		s.mu.Unlock()
		var out bytes.Buffer
		for _, e := range events {
			if e.version > since && strings.HasPrefix(e.path, r.URL.Path+"/") {
				out.Write(append(e.body, '\n'))
			}
		}
		_, _ = w.Write(out.Bytes())
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
