package apiserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/watch"
)

// watcher is a watch on a resource.
type watcher struct {
	selector selector
	queue    []event
	// cut: the server ends it.
	cut bool
	// wake holds a token if the queue has grown since it was last found empty.
	wake chan struct{}
}

// watch starts one: from the objects as they are if there is no resourceVersion or it is 0, else from the events after it.
func (s *Server) watch(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, err := s.parseRevision(c.list.ResourceVersion)
	if err != nil {
		return answer{}, err
	}
	w := &watcher{selector: c.selector, wake: make(chan struct{}, 1)}
	switch {
	case revision == 0:
		for _, o := range c.in(c.Namespace) {
			w.enqueue(event{kind: watch.Added, object: o})
		}
	case revision < c.forgotten:
		return answer{}, expired(revision, c.forgotten)
	default:
		for _, e := range c.history {
			if e.object.revision > revision {
				w.enqueue(e)
			}
		}
	}
	c.watches = append(c.watches, w)
	return answer{code: http.StatusOK, watch: w}, nil
}

// enqueue adds the event as the selector sees it: a change may bring an object into view, or take it out of it.
// Server.mu is held.
func (w *watcher) enqueue(e event) {
	sees := e.kind != watch.Deleted && w.selector.matches(e.object)
	saw := w.selector.matches(e.old)
	switch {
	case sees && !saw:
		e.kind = watch.Added
	case !sees && saw && e.kind != watch.Deleted:
		// The object as it was in view, at the revision that took it out of it.
		gone, err := e.old.at(e.object.revision)
		if err != nil {
			return // cannot be: it was encoded before
		}
		e.kind, e.object = watch.Deleted, gone
	case !sees && !saw:
		return
	}
	w.queue = append(w.queue, e)
	w.rouse()
}

func (w *watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// EndWatches ends every watch that is open, with what was not handed over yet. Clients may watch on from where they were.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.resources {
		for _, w := range r.watches {
			w.cut, w.queue = true, nil
			w.rouse()
		}
	}
}

// watchBody is the body of a watch's response. It is read by one goroutine.
type watchBody struct {
	transport *transport
	call      *call
	watcher   *watcher
	ctx       context.Context // ends when the request is cancelled or the body closed
	cancel    context.CancelFunc
	unread    []byte // of the event last handed over
	err       error  // what ended the watch, once all is read
}

func newWatchBody(ctx context.Context, t *transport, c *call, w *watcher) *watchBody {
	b := &watchBody{transport: t, call: c, watcher: w}
	b.ctx, b.cancel = context.WithCancel(ctx)
	return b
}

// Read returns bytes of one event at a time, so that the Gate is asked about an event only when its reader wants it.
func (b *watchBody) Read(p []byte) (int, error) {
	for len(b.unread) == 0 {
		if b.err == nil {
			b.unread, b.err = b.next()
		}
		if b.err != nil && len(b.unread) == 0 {
			return 0, b.err
		}
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	return n, nil
}

// next waits for an event and returns it encoded.
func (b *watchBody) next() ([]byte, error) {
	e, err := b.wait()
	if err != nil {
		return nil, err
	}
	if e.kind == "" {
		return b.cut()
	}
	o, err := b.call.convert(e.object)
	if err != nil {
		return nil, err
	}
	if gate := b.transport.gate; gate != nil {
		if err := gate.Watch(b.ctx, b.call.Request, WatchEvent{e.kind, o.content}); err != nil {
			return b.end(err)
		}
		if b.isCut() { // meanwhile
			return nil, io.EOF
		}
	}
	return frame(e.kind, b.call.encode(o)), nil
}

// cut ends the watch as EndWatches wants it.
func (b *watchBody) cut() ([]byte, error) {
	if gate := b.transport.gate; gate != nil {
		if err := gate.Watch(b.ctx, b.call.Request, WatchEvent{}); err != nil {
			return b.end(err)
		}
	}
	return nil, io.EOF
}

func (b *watchBody) isCut() bool {
	b.transport.server.mu.Lock()
	defer b.transport.server.mu.Unlock()
	return b.watcher.cut
}

// end ends the watch with the Gate's error.
func (b *watchBody) end(err error) ([]byte, error) {
	status, ok := statusOf(err)
	if !ok {
		return nil, err
	}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	return frame(watch.Error, body), io.EOF
}

func frame(kind watch.EventType, object []byte) []byte {
	b := make([]byte, 0, len(object)+40)
	b = append(b, `{"type":"`...)
	b = append(b, kind...)
	b = append(b, `","object":`...)
	b = append(b, object...)
	return append(b, "}\n"...)
}

func (b *watchBody) wait() (event, error) {
	for {
		if err := b.ctx.Err(); err != nil {
			return event{}, err
		}
		if e, ok := b.dequeue(); ok {
			return e, nil
		}
		select {
		case <-b.watcher.wake:
		case <-b.ctx.Done():
		}
	}
}

// dequeue returns the next event: the zero one if the watch ends.
func (b *watchBody) dequeue() (event, bool) {
	b.transport.server.mu.Lock()
	defer b.transport.server.mu.Unlock()
	w := b.watcher
	if w.cut {
		return event{}, true
	}
	if len(w.queue) == 0 {
		w.queue = nil
		return event{}, false
	}
	e := w.queue[0]
	w.queue[0] = event{}
	w.queue = w.queue[1:]
	return e, true
}

// Close ends the watch; a Read that waits returns.
func (b *watchBody) Close() error {
	b.cancel()
	b.transport.server.mu.Lock()
	defer b.transport.server.mu.Unlock()
	r := b.call.resource
	r.watches = slices.DeleteFunc(r.watches, func(w *watcher) bool { return w == b.watcher })
	return nil
}
