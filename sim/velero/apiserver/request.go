package apiserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// call is a request that was understood.
type call struct {
	Request
	*version
	selector selector             // of list, watch and deletecollection
	list     metav1.ListOptions   // of list, watch and deletecollection
	delete   metav1.DeleteOptions // of delete and deletecollection
}

// parse makes a call of an HTTP request, or says with a status why it cannot.
func (s *Server) parse(r *http.Request, body []byte) (*call, error) {
	c := &call{Request: Request{Body: body}}
	if !c.parsePath(r.URL.Path) {
		return nil, notServed(r)
	}
	c.version = s.version(schema.GroupVersionResource{Group: c.Group, Version: c.Version, Resource: c.Resource})
	switch {
	case c.version == nil,
		c.Subresource != "" && !(c.Subresource == "status" && c.status),
		c.Namespace != "" && !c.namespaced,
		c.Name != "" && c.Namespace == "" && c.namespaced:
		return nil, notServed(r)
	}
	query := r.URL.Query()
	if err := metav1.Convert_url_Values_To_v1_ListOptions(&query, &c.list, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if !c.parseVerb(r.Method) {
		return nil, apierrors.NewMethodNotSupported(c.gr, strings.ToLower(r.Method))
	}
	if query.Has("dryRun") {
		return nil, apierrors.NewBadRequest("dryRun is not supported by this server")
	}
	return c, c.parseOptions(r.Header)
}

func notServed(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, strings.ToLower(r.Method), schema.GroupResource{}, "", "", 0, true)
}

// parsePath takes apart /api/VERSION/… and /apis/GROUP/VERSION/…, as k8s.io/apiserver's RequestInfoFactory does.
func (c *call) parsePath(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		c.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		c.Group, c.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return false
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" {
		c.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return false
	}
	parts = append(parts, "", "")
	c.Resource, c.Name, c.Subresource = parts[0], parts[1], parts[2]
	return true
}

// parseVerb is false if the method is not allowed here.
func (c *call) parseVerb(method string) bool {
	named := c.Name != ""
	switch {
	case method == http.MethodGet && named:
		c.Verb = "get"
	case method == http.MethodGet && c.list.Watch:
		c.Verb = "watch"
	case method == http.MethodGet:
		c.Verb = "list"
	case c.readOnly, c.Subresource != "" && method != http.MethodPut && method != http.MethodPatch:
		return false
	case method == http.MethodPost && !named && (c.Namespace != "") == c.namespaced:
		c.Verb = "create"
	case method == http.MethodPut && named:
		c.Verb = "update"
	case method == http.MethodPatch && named:
		c.Verb = "patch"
	case method == http.MethodDelete && named:
		c.Verb = "delete"
	case method == http.MethodDelete && (c.Namespace != "") == c.namespaced:
		c.Verb = "deletecollection"
	default:
		return false
	}
	return true
}

// parseOptions parses what the verb needs beyond the path.
func (c *call) parseOptions(header http.Header) error {
	var err error
	mediaType := header.Get("Content-Type")
	if mediaType != "" {
		if mediaType, _, err = mime.ParseMediaType(mediaType); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if c.Verb == "patch" {
		c.PatchType = types.PatchType(mediaType)
		return nil
	}
	if len(c.Body) > 0 && cmp.Or(mediaType, contentJSON) != contentJSON {
		return unsupportedMediaType(fmt.Sprintf("a body of type %s: set rest.Config.ContentType to %s", mediaType, contentJSON))
	}
	switch c.Verb {
	case "create":
		var named struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		// A body that is no such object is reported when the call is served.
		_ = json.Unmarshal(c.Body, &named)
		c.Name = named.Metadata.Name
	case "delete", "deletecollection":
		if len(c.Body) > 0 {
			if err := json.Unmarshal(c.Body, &c.delete); err != nil {
				return apierrors.NewBadRequest("the DeleteOptions cannot be decoded: " + err.Error())
			}
		}
		if len(c.delete.DryRun) > 0 {
			return apierrors.NewBadRequest("dryRun is not supported by this server")
		}
	}
	if c.list.Continue != "" {
		return apierrors.NewBadRequest("continue token is not valid: this server gives out none")
	}
	if c.list.SendInitialEvents != nil {
		return apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "ListOptions"}, "", field.ErrorList{field.Forbidden(
			field.NewPath("sendInitialEvents"), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")})
	}
	if c.selector, err = newSelector(c.Namespace, c.list); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func unsupportedMediaType(what string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "not supported: " + what,
	}}
}
