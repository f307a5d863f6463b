package proxy

import (
	"context"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/sim/trace"
)

// Hooks decide what becomes of requests. They are called from many goroutines at once, decide at once, and leave all
// blocking to Action.Wait. Once Proxy.Close has returned they are not called any more.
type Hooks interface {
	// Before is called for every request, reads and watches too, before it is passed on.
	Before(*Request) Action
	// After is called for every write that was passed on, once it has been answered or has failed, and before the client
	// gets the answer. It is called in the order that the package comment describes, and also when the client has gone.
	After(*Request, *Response) Action
}

// Action is what becomes of a request or of an answer. The zero Action lets it pass.
type Action struct {
	// Wait, unless nil, is called first, and what follows happens once it has returned. It may block, but must return soon
	// after its context ends: the client has gone, or the proxy closes. Then neither is the request passed on nor the
	// answer given. So this kills the server before it learns of its write: func(ctx) { kill(); <-ctx.Done() }.
	Wait func(ctx context.Context)
	// Drop closes the connection without an answer (in HTTP/2: resets that request's stream, no other). A client over
	// HTTP/1.1 may repeat a GET that was dropped.
	Drop bool
	// Answer is what the client gets instead: Before does not pass the request on, After replaces the true answer. Its Code
	// is the HTTP status code (0 means 500). With details.retryAfterSeconds, client-go repeats 429 and 5xx by itself.
	Answer *metav1.Status
}

// Request is a request of a client.
type Request struct {
	// Client that sent it: "server", or the first word of the User-Agent, which for a plugin is its executable's name
	// unless it says otherwise, and for Velero's internal plugins the name of Velero's executable. See ClientOf.
	Client    string
	UserAgent string
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; if Resource is empty, the HTTP method in
	// lower case.
	Verb string
	// What the path names. Resource is empty if that is no resource: /version, /apis/velero.io/v1.
	Group, Version, Namespace, Resource, Subresource string
	// Name is that of the path, or in a create that of the body, unless the API server generates it.
	Name  string
	Path  string
	Query url.Values
	// ContentType and Body of a write; Body is nil for others. Must not be changed.
	ContentType string
	Body        []byte
}

// IsWrite reports whether the request changes an object: not for reads, dry runs, and what is no resource.
func (r *Request) IsWrite() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return r.Resource != "" && !r.Query.Has("dryRun")
	}
	return false
}

// Response is what the API server answered to a write.
type Response struct {
	// Code is the HTTP status code; 0: see Err.
	Code int
	// Name of the object; empty if neither request nor answer have it.
	Name string
	// ResourceVersion of the object after the write; empty if it failed or the object is gone.
	ResourceVersion string
	// Object after the write, as JSON; nil if it failed, the object is gone, or the answer is not JSON (for built-in types
	// clients ask for protobuf). Must not be changed.
	Object []byte
	// Status that refused the write; nil if it succeeded.
	Status *metav1.Status
	// Err is why there is no answer, so that nobody knows whether the write was applied.
	Err error
	// Late: After was called for a later write to the object before. See the package comment.
	Late bool
}

// error is why the write did not succeed; nil: it did.
func (r *Response) error() error {
	switch {
	case r.Err != nil:
		return r.Err
	case r.Status != nil:
		return &apierrors.StatusError{ErrStatus: *r.Status}
	}
	return nil
}

// Write is a write and its answer as a trace has it. Resource has the subresource behind a slash: pods/status.
func Write(q *Request, r *Response) trace.Write {
	w := trace.Write{Client: q.Client, Verb: q.Verb, Resource: q.Resource, Name: r.Name, ResourceVersion: r.ResourceVersion}
	if q.Subresource != "" {
		w.Resource += "/" + q.Subresource
	}
	if q.Namespace != "" && q.Resource != "namespaces" {
		w.Name = q.Namespace + "/" + w.Name
	}
	if q.Verb == "patch" {
		w.Change = string(q.Body)
	}
	if err := r.error(); err != nil {
		w.Error = err.Error()
	}
	return w
}

type noHooks struct{}

func (noHooks) Before(*Request) Action           { return Action{} }
func (noHooks) After(*Request, *Response) Action { return Action{} }

// wait is false if the client has gone, so that nothing must follow.
func (a Action) wait(ctx context.Context) bool {
	if a.Wait != nil {
		a.Wait(ctx)
	}
	return ctx.Err() == nil
}

func (a Action) code() int {
	if a.Answer.Code == 0 {
		return http.StatusInternalServerError
	}
	return int(a.Answer.Code)
}
