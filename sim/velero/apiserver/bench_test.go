package apiserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/velosim/velosim/sim/velero/apiserver"
	"k8s.io/apimachinery/pkg/types"
)

// send measures the server without a client's decoding.
func send(b *testing.B, s *apiserver.Server, method, path, contentType, body string) {
	r, err := http.NewRequestWithContext(b.Context(), method, "http://apiserver"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	response, err := s.Transport(nil).RoundTrip(r)
	if err != nil || response.StatusCode > 299 {
		b.Fatalf("%s %s: %v, %v", method, path, response, err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkServer(b *testing.B) {
	const path = "/apis/velero.io/v1/namespaces/velero/backups"
	s := newServer(b)
	c := controllerRuntime(b, s, nil)
	for i := range 10 {
		if err := c.Create(b.Context(), newBackup(fmt.Sprint("b-", i))); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			send(b, s, "POST", "/api/v1/namespaces/velero/configmaps", "application/json",
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"cm-"},"data":{"a":"b"}}`)
		}
	})
	b.Run("patch", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			send(b, s, "PATCH", path+"/b-0", string(types.MergePatchType),
				fmt.Sprintf(`{"status":{"phase":"InProgress","progress":{"totalItems":%d}}}`, n))
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			send(b, s, "GET", path+"/b-0", "", "")
		}
	})
	b.Run("list10", func(b *testing.B) {
		for b.Loop() {
			send(b, s, "GET", path, "", "")
		}
	})
}
