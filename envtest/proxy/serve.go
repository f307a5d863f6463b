package proxy

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// errDropped: there is to be no answer.
var errDropped = errors.New("dropped by a hook")

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// requestKey is the context key of the *Request of a write or a watch.
type requestKey struct{}

// abort ends the request without an answer.
func abort() { panic(http.ErrAbortHandler) }

// ServeHTTP serves one request; it is the server's handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		abort()
	}
	defer p.requests.Done()
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.config.BearerToken)) != 1 {
		writeStatus(w, refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "the API proxy wants the token of its own kubeconfig"))
		return
	}
	if r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect {
		writeStatus(w, refuse(http.StatusNotImplemented, "", "the API proxy passes no upgrades on (exec, attach, port-forward)"))
		return
	}
	ctx, cancel := p.line.over(r.Context())
	defer cancel()
	q := newRequest(r)
	r = r.WithContext(context.WithValue(ctx, requestKey{}, q))
	if q.IsWrite() {
		p.readWrite(r, q)
	}
	switch a := p.hooks.Before(q); {
	case !a.wait(ctx), a.Drop:
		abort()
	case a.Answer != nil:
		writeStatus(w, a)
	default:
		p.reverse.ServeHTTP(w, r)
	}
}

// readWrite reads a write's body, and puts it back into the request.
func (p *Proxy) readWrite(r *http.Request, q *Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		abort() // the client went away
	}
	q.Body = body
	if q.Verb == "create" && q.Name == "" {
		h, _, _ := readHeader(q.ContentType, body)
		q.Name = h.Metadata.Name
	}
	// With GetBody, the transport may send it again over another connection, if it knows that the first got nothing of it.
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// roundTrip passes a request on.
func (p *Proxy) roundTrip(out *http.Request) (*http.Response, error) {
	q := out.Context().Value(requestKey{}).(*Request)
	switch {
	case q.Verb == "watch":
		return p.watch(out)
	case !q.IsWrite():
		return p.upstream.RoundTrip(out)
	}
	w := p.writes.begin(q.key())
	answer, body, err := p.pass(out)
	response := &Response{Name: q.Name, Err: err}
	if err == nil {
		response = newResponse(q, answer, body)
	}
	version, _ := strconv.ParseUint(response.ResourceVersion, 10, 64) // 0 if there is none
	a := p.writes.hand(w, version, func(late bool) Action {
		response.Late = late
		return p.hooks.After(q, response)
	})
	switch {
	case !a.wait(out.Context()), a.Drop:
		return nil, errDropped
	case a.Answer != nil:
		return statusResponse(out, a), nil
	}
	return answer, err
}

// watch passes a watch on.
func (p *Proxy) watch(out *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(out.Context())
	answer, err := p.upstream.RoundTrip(out.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	answer.Body = p.line.watch(ctx, answer.Body, cancel)
	return answer, nil
}

// pass passes a write on, and reads the answer. That the client goes away does not matter to it: the API server may have
// applied the write, so what it answers is to be told.
func (p *Proxy) pass(out *http.Request) (*http.Response, []byte, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(out.Context()))
	defer cancel()
	defer context.AfterFunc(p.graced, cancel)()
	answer, err := p.upstream.RoundTrip(out.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if e := answer.Body.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, body, nil
}

// failed answers a request that the API server has not answered.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errDropped) || r.Context().Err() != nil { // the client's, or the line's
		abort()
	}
	p.log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
	writeStatus(w, refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, fmt.Sprintf("the API proxy got no answer of the kube-apiserver: %v", err)))
}

func refuse(code int32, reason metav1.StatusReason, message string) Action {
	return Action{Answer: &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

// encode is a's answer, with its headers.
func encode(a Action, header http.Header) []byte {
	status := *a.Answer
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Code = int32(a.code())
	header.Set("Content-Type", runtime.ContentTypeJSON)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	body, err := json.Marshal(&status)
	if err != nil {
		panic(err) // a Status has nothing that cannot be JSON
	}
	return body
}

func writeStatus(w http.ResponseWriter, a Action) {
	body := encode(a, w.Header())
	w.WriteHeader(a.code())
	_, _ = w.Write(body) // if that fails, the client has gone
}

func statusResponse(r *http.Request, a Action) *http.Response {
	header := http.Header{}
	body := encode(a, header)
	return &http.Response{
		StatusCode: a.code(), Header: header, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}
