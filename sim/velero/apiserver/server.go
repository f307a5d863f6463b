package apiserver

import (
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Options of a Server.
type Options struct {
	// CRDs whose resources are served, in every version that they say is served. They are not modified.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Definitions keeps what is made of them for later servers. Default: nothing is kept.
	Definitions *Definitions
	// Leases and StatefulSets are served, too. Default: they are not, as Velero would look for some in every namespace that it backs up.
	Leases, StatefulSets bool
	// WatchHistory is how many past events of a resource a watch can be resumed from. Default: 1000.
	WatchHistory int
}

// Server is an API server. It may be used concurrently.
type Server struct {
	resources map[schema.GroupResource]*resource // the map is fixed by New
	discovery discovery

	mu         sync.Mutex // never held while waiting
	revision   uint64     // the resourceVersion of the newest write
	uids       uint64     // how many UIDs were given out
	names      uint64     // how many name suffixes were given out
	observers  []func(Write)
	unobserved []*observation // in order of application
	observing  bool           // a goroutine is at it
}

// New makes a server that holds no object but the given CRDs. It fails if a CRD is not one that a real server would
// establish.
func New(o Options) (*Server, error) {
	if o.WatchHistory == 0 {
		o.WatchHistory = 1000
	}
	resources, err := builtinResources(o)
	if err != nil {
		return nil, err
	}
	s := &Server{revision: 1}
	for _, crd := range o.CRDs {
		definition, err := o.Definitions.get(crd)
		if err != nil {
			return nil, fmt.Errorf("CRD %q cannot be served: %w", crd.Name, err)
		}
		r, object, err := newCustomResource(definition)
		if err != nil {
			return nil, fmt.Errorf("CRD %q cannot be served: %w", crd.Name, err)
		}
		resources = append(resources, r)
		s.uids++
		s.revision++
		object.SetUID(uid(s.uids))
		stored, err := newObject(object.Object, s.revision)
		if err != nil {
			return nil, fmt.Errorf("CRD %q cannot be stored: %w", crd.Name, err)
		}
		resources[crdIndex].put(stored)
	}
	s.resources = make(map[schema.GroupResource]*resource, len(resources))
	for _, r := range resources {
		if s.resources[r.gr] != nil {
			return nil, fmt.Errorf("resource %s is defined twice: remove one of its CRDs", r.gr)
		}
		r.historyLimit = o.WatchHistory
		s.resources[r.gr] = r
	}
	s.discovery, err = newDiscovery(resources)
	return s, err
}

// Get returns an object as stored. It is not to be modified. A cluster-scoped one has an empty namespace.
func (s *Server) Get(gvr schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.version(gvr)
	if v == nil {
		return nil, false
	}
	o, err := v.convert(v.get(namespace, name))
	if o == nil || err != nil {
		return nil, false
	}
	return o.content, true
}

// List returns the objects of a resource as stored, sorted by namespace and name. They are not to be modified.
func (s *Server) List(gvr schema.GroupVersionResource) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.version(gvr)
	if v == nil {
		return nil
	}
	var list []*unstructured.Unstructured
	for _, o := range v.objects {
		if o, err := v.convert(o); err == nil {
			list = append(list, o.content)
		}
	}
	return list
}

// version returns nil for a resource or version that is not served.
func (s *Server) version(gvr schema.GroupVersionResource) *version {
	r := s.resources[gvr.GroupResource()]
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(r.versions, func(v *version) bool { return v.gvk.Version == gvr.Version })
	if i < 0 {
		return nil
	}
	return r.versions[i]
}

// observation is a Write that the observers are to see.
type observation struct {
	write Write
	seen  chan struct{}
}

// OnWrite adds an observer of writes. It is called for each write that reached the server, applied or rejected, in order of
// application and before its reply. It must not panic, write to the server, or wait for someone who does. Add observers
// before the first request.
func (s *Server) OnWrite(observe func(Write)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observers = append(s.observers, observe)
}

// record queues a write for the observers. s.mu is held. It returns nil if there is none.
func (s *Server) record(w Write) *observation {
	if len(s.observers) == 0 {
		return nil
	}
	o := &observation{w, make(chan struct{})}
	s.unobserved = append(s.unobserved, o)
	return o
}

// observe returns when the observers have seen o, and so every write before it. s.mu is not held.
func (s *Server) observe(o *observation) {
	if o == nil {
		return
	}
	s.mu.Lock()
	if s.observing {
		s.mu.Unlock()
		<-o.seen
		return
	}
	s.observing = true
	for len(s.unobserved) > 0 {
		next := s.unobserved[0]
		s.unobserved = s.unobserved[1:]
		observers := s.observers
		s.mu.Unlock()
		for _, observe := range observers {
			observe(next.write)
		}
		close(next.seen)
		s.mu.Lock()
	}
	s.observing = false
	s.mu.Unlock()
}
