package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Request is a request for a resource. Discovery is none.
type Request struct {
	// Verb as in Kubernetes' audit log: get, list, watch, create, update, patch, delete or deletecollection.
	Verb                     string
	Group, Version, Resource string
	// Subresource is empty or status.
	Subresource string
	Namespace   string
	// Name is empty for list, watch and deletecollection. For create it is the name in the body, so that it is empty if the
	// server is to generate one.
	Name string
	// PatchType of a patch; else empty.
	PatchType types.PatchType
	// Body as sent. Not to be modified.
	Body []byte
}

// Gate stands between a client and the server. Its methods may wait as long as they like; other requests go on. They are
// called in the goroutine of the client's call, and may be called concurrently.
//
// An error that is an apierrors.APIStatus is what the server answers. Any other error breaks the connection: the
// transport returns it as it is.
type Gate interface {
	// Request is called before r is applied. On an error, it is not.
	Request(ctx context.Context, r Request) error
	// Reply is called when r was applied or rejected with err, before the client sees the reply. An error takes the place of
	// the reply; a write stays applied. changed says whether r changed anything.
	Reply(ctx context.Context, r Request, changed bool, err error) error
	// Watch is called before e is handed to a client that watches with r, in the goroutine that reads the watch. An error
	// ends that watch: a status is sent as its last event, any other error is what the reader gets. The zero e is the end of the
	// watch by EndWatches.
	Watch(ctx context.Context, r Request, e WatchEvent) error
}

// WatchEvent is an event about to be handed to a watching client.
type WatchEvent struct {
	// Type is ADDED, MODIFIED or DELETED, as the watch's selectors make it.
	Type watch.EventType
	// Object as the event carries it. Not to be modified.
	Object *unstructured.Unstructured
}

// Write is what became of a write to one object.
type Write struct {
	Request
	// Old is the object before the write: nil if there was none. Not to be modified.
	Old *unstructured.Unstructured
	// New is the object after it: Old itself if the write changed nothing, nil if the object is gone or Err is set. Not to
	// be modified.
	New *unstructured.Unstructured
	// Err is why the write was rejected.
	Err error
}
