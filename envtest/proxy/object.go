package proxy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// protobufMagic opens an object in Kubernetes' protobuf: then comes a runtime.Unknown that holds it.
var protobufMagic = []byte("k8s\x00")

const protobufMediaType = runtime.ContentTypeProtobuf

// header is what the proxy reads of an object.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func (h *header) isStatus() bool { return h.Kind == "Status" && h.APIVersion == "v1" }

func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return t
}

// readHeader reads what it can of an object; status is set if the object is one. It returns false if it can read nothing.
func readHeader(contentType string, body []byte) (h header, status *metav1.Status, ok bool) {
	switch mediaType(contentType) {
	case runtime.ContentTypeJSON:
		// A Status has a metadata too, and may have what a header does not expect elsewhere: kind decides.
		if json.Unmarshal(body, &h) != nil {
			return header{}, nil, false
		}
		if h.isStatus() {
			status = &metav1.Status{}
			ok = json.Unmarshal(body, status) == nil
			return h, status, ok
		}
		return h, nil, true
	case protobufMediaType:
		var unknown runtime.Unknown
		raw, found := bytes.CutPrefix(body, protobufMagic)
		if !found || unknown.Unmarshal(raw) != nil {
			return header{}, nil, false
		}
		h.Kind, h.APIVersion = unknown.Kind, unknown.APIVersion
		if h.isStatus() {
			status = &metav1.Status{}
			return h, status, status.Unmarshal(unknown.Raw) == nil
		}
		// The metadata is the first field of all built-in types, and protobuf passes over the others.
		var partial metav1.PartialObjectMetadata
		if partial.Unmarshal(unknown.Raw) != nil {
			return header{}, nil, false
		}
		h.Metadata.Name, h.Metadata.ResourceVersion = partial.Name, partial.ResourceVersion
		return h, nil, true
	}
	return header{}, nil, false
}

// newResponse reads an answer. Body is as it came.
func newResponse(q *Request, answer *http.Response, body []byte) *Response {
	r := &Response{Code: answer.StatusCode, Name: q.Name}
	plain, err := decompress(answer.Header.Get("Content-Encoding"), body)
	if err != nil {
		return &Response{Name: q.Name, Err: fmt.Errorf("read the answer to %s %s: %w", q.Verb, q.Path, err)}
	}
	contentType := answer.Header.Get("Content-Type")
	h, status, ok := readHeader(contentType, plain)
	switch {
	case r.Code > 299 && status != nil:
		r.Status = status
		if status.Code == 0 {
			status.Code = int32(r.Code)
		}
	case r.Code > 299:
		r.Status = &metav1.Status{Status: metav1.StatusFailure, Code: int32(r.Code), Message: fmt.Sprintf("%s: %s", http.StatusText(r.Code), plain)}
	case ok && status == nil:
		if h.Metadata.Name != "" {
			r.Name = h.Metadata.Name
		}
		r.ResourceVersion = h.Metadata.ResourceVersion
		if mediaType(contentType) == runtime.ContentTypeJSON {
			r.Object = plain
		}
	}
	return r
}

func decompress(encoding string, body []byte) ([]byte, error) {
	switch encoding {
	case "":
		return body, nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	}
	return nil, fmt.Errorf("its encoding %q is none that the client asked for", encoding)
}
