package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const contentJSON = "application/json"

// Transport returns a connection to the server for a client to use. A nil Gate lets everything pass. The host of a
// request's URL is ignored.
func (s *Server) Transport(g Gate) http.RoundTripper { return &transport{s, g} }

type transport struct {
	server *Server
	gate   Gate
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if document, contentType, ok := t.server.discovery.lookup(r); ok {
		return respond(r, http.StatusOK, contentType, document), nil
	}
	c, err := t.server.parse(r, body)
	if err != nil {
		return fail(r, err)
	}
	if t.gate != nil {
		if err := t.gate.Request(ctx, c.Request); err != nil {
			return fail(r, err)
		}
	}
	a, err := t.server.serve(c)
	var watch *watchBody
	if err == nil && c.Verb == "watch" {
		watch = newWatchBody(ctx, t, c, a.watch)
	}
	if t.gate != nil {
		if replaced := t.gate.Reply(ctx, c.Request, a.changed, err); replaced != nil {
			if watch != nil {
				watch.Close()
			}
			return fail(r, replaced)
		}
	}
	if err != nil {
		return fail(r, err)
	}
	response := respond(r, a.code, contentJSON, a.body)
	if watch != nil {
		response.Body, response.ContentLength = watch, -1
	}
	return response, nil
}

// readBody also closes it, as a RoundTripper must.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	return body, errors.Join(err, r.Body.Close())
}

func respond(r *http.Request, code int, contentType string, body []byte) *http.Response {
	return &http.Response{
		Status:     strconv.Itoa(code) + " " + http.StatusText(code),
		StatusCode: code,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}
}

// fail answers with a status if err is one; any other error breaks the connection.
func fail(r *http.Request, err error) (*http.Response, error) {
	status, ok := statusOf(err)
	if !ok {
		return nil, err
	}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	response := respond(r, int(status.Code), contentJSON, body)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	return response, nil
}

func statusOf(err error) (metav1.Status, bool) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		return metav1.Status{}, false
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	return status, true
}
