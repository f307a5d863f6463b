package apiserver_test

import (
	"bytes"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Whatever the body, the server answers.
func FuzzBodies(f *testing.F) {
	for _, body := range []string{
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":1}]}]}}}}`,
		`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"d"},"spec":{"ttl":"1h"},"status":{"phase":"New"}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}],"$setElementOrder/containers":[{"name":"c"}]}}}}`,
		`{"metadata":{"$retainKeys":["name"],"finalizers":["a"],"$deleteFromPrimitiveList/finalizers":["a"]}}`,
		`[{"op":"add","path":"/spec/x","value":{"a":[1,null]}},{"op":"move","from":"/spec","path":"/spec/y"},{"op":"test","path":"/kind","value":"x"}]`,
		`[{"op":"remove","path":"/metadata"}]`,
		`{"preconditions":{"uid":"x","resourceVersion":"1"}}`,
		`null`, `[]`, `""`, `{"metadata":null}`, `{"apiVersion":1}`,
	} {
		f.Add([]byte(body))
	}
	s := newServer(f)
	const deployments = "/apis/apps/v1/namespaces/velero/deployments"
	const backups = "/apis/velero.io/v1/namespaces/velero/backups"
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{deployments, backups} {
			for _, r := range []struct{ method, path, contentType string }{
				{"POST", path, ""},
				{"PUT", path + "/d", ""},
				{"PATCH", path + "/d", string(types.MergePatchType)},
				{"PATCH", path + "/d", string(types.JSONPatchType)},
				{"PATCH", path + "/d", string(types.StrategicMergePatchType)},
				{"PATCH", path + "/d/status", string(types.StrategicMergePatchType)},
				{"DELETE", path + "/d", ""},
			} {
				request, err := http.NewRequestWithContext(t.Context(), r.method, "http://apiserver"+r.path, bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", r.contentType)
				response, err := s.Transport(nil).RoundTrip(request)
				if err != nil {
					t.Fatalf("%s %s: %v", r.method, r.path, err)
				}
				if response.StatusCode == http.StatusInternalServerError && !bytes.Contains(body, []byte("resourceVersion")) {
					t.Errorf("%s %s: internal error", r.method, r.path)
				}
			}
		}
	})
}
