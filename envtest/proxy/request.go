package proxy

import (
	"net/http"
	"strings"
)

// newRequest says what r asks for.
func newRequest(r *http.Request) *Request {
	q := &Request{
		Client: ClientOf(r.UserAgent()), UserAgent: r.UserAgent(), Path: r.URL.Path, Query: r.URL.Query(),
		ContentType: r.Header.Get("Content-Type"),
	}
	q.parsePath()
	q.parseVerb(r.Method)
	return q
}

// ClientOf tells the server, "server", from plugins by the User-Agent. Velero's command line makes it of its executable's
// name (pkg/client/client.go, buildUserAgent): velero-server/v1.18.3 (linux/amd64) … in the server
// (pkg/cmd/server/server.go), velero/v1.18.3 … in `velero run-plugins`, the internal plugins. The server reads one ConfigMap
// as APIGroupVersionsRestore (pkg/restore/prioritize_group_version.go). Other plugins send client-go's default, which has
// their executable's name: it must not end in -server.
func ClientOf(userAgent string) string {
	product, _, _ := strings.Cut(userAgent, "/")
	product, _, _ = strings.Cut(product, " ")
	if strings.HasSuffix(product, "-server") || product == "APIGroupVersionsRestore" {
		return "server"
	}
	return product
}

// parsePath takes apart /api/VERSION/… and /apis/GROUP/VERSION/…, as k8s.io/apiserver's RequestInfoFactory does, which is
// not used since it brings the API server's metrics and feature gates with it. The paths of the old watch and proxy verbs
// (/api/v1/watch/…) are not taken apart: no client of ours uses them.
func (q *Request) parsePath() {
	parts := strings.Split(strings.Trim(q.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		q.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		q.Group, q.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return
	}
	if parts[0] == "watch" || parts[0] == "proxy" {
		q.Group, q.Version = "", ""
		return
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		q.Namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	parts = append(parts, "", "")
	q.Resource, q.Name, q.Subresource = parts[0], parts[1], parts[2]
}

func (q *Request) parseVerb(method string) {
	q.Verb = strings.ToLower(method)
	if q.Resource == "" {
		return
	}
	switch method {
	case http.MethodGet, http.MethodHead:
		switch watch := q.Query.Get("watch"); {
		case q.Name != "":
			q.Verb = "get"
		case watch == "true" || watch == "1" || q.Query.Has("watch") && watch == "":
			q.Verb = "watch"
		default:
			q.Verb = "list"
		}
	case http.MethodPost:
		q.Verb = "create"
	case http.MethodPut:
		q.Verb = "update"
	case http.MethodDelete:
		if q.Name == "" {
			q.Verb = "deletecollection"
		}
	}
}

// key identifies the object that is written.
func (q *Request) key() string {
	return strings.Join([]string{q.Group, q.Resource, q.Namespace, q.Name}, "/")
}
