package proxy_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velosim/velosim/envtest/proxy"
)

func TestRequests(t *testing.T) {
	for _, test := range []struct{ method, url, want string }{
		{"GET", "/", "get"},
		{"GET", "/version", "get"},
		{"GET", "/api/v1", "get"},
		{"GET", "/apis/velero.io/v1", "get"},
		{"POST", "/apis", "post"},
		{"GET", "/api/v1/namespaces", "list /v1 namespaces"},
		{"POST", "/api/v1/namespaces", "create /v1 namespaces W"},
		{"GET", "/api/v1/namespaces/n", "get /v1 n namespaces n"},
		{"PUT", "/api/v1/namespaces/n/finalize", "update /v1 n namespaces n finalize W"},
		{"PATCH", "/api/v1/namespaces/n/status", "patch /v1 n namespaces n status W"},
		{"GET", "/api/v1/namespaces/n/pods?watch=true", "watch /v1 n pods"},
		{"GET", "/api/v1/namespaces/n/pods?watch=1", "watch /v1 n pods"},
		{"GET", "/api/v1/namespaces/n/pods?watch=false", "list /v1 n pods"},
		{"GET", "/api/v1/namespaces/n/pods/p/log", "get /v1 n pods p log"},
		{"POST", "/api/v1/namespaces/n/pods/p/binding", "create /v1 n pods p binding W"},
		{"GET", "/api/v1/nodes/a", "get /v1 nodes a"},
		{"GET", "/api/v1/watch/pods", "get"},
		{"GET", "/apis/velero.io/v1/backups", "list velero.io/v1 backups"},
		{"HEAD", "/apis/velero.io/v1/namespaces/velero/backups/b", "get velero.io/v1 velero backups b"},
		{"POST", "/apis/velero.io/v1/namespaces/velero/backups", "create velero.io/v1 velero backups W"},
		{"PUT", "/apis/velero.io/v1/namespaces/velero/backups/b", "update velero.io/v1 velero backups b W"},
		{"PATCH", "/apis/velero.io/v1/namespaces/velero/backups/b?dryRun=All", "patch velero.io/v1 velero backups b"},
		{"DELETE", "/apis/velero.io/v1/namespaces/velero/backups/b", "delete velero.io/v1 velero backups b W"},
		{"DELETE", "/apis/velero.io/v1/namespaces/velero/backups?labelSelector=a", "deletecollection velero.io/v1 velero backups W"},
		{"DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/c", "delete apiextensions.k8s.io/v1 customresourcedefinitions c W"},
	} {
		q := proxy.NewRequest(httptest.NewRequest(test.method, test.url, nil))
		parts := []string{q.Verb}
		if q.Resource != "" {
			parts = append(parts, q.Group+"/"+q.Version)
		}
		parts = append(parts, q.Namespace, q.Resource, q.Name, q.Subresource)
		if q.IsWrite() {
			parts = append(parts, "W")
		}
		if got := strings.Join(strings.Fields(strings.Join(parts, " ")), " "); got != test.want {
			t.Errorf("%s %s is %q, want %q", test.method, test.url, got, test.want)
		}
	}
}

func TestClientOf(t *testing.T) {
	for userAgent, want := range map[string]string{
		serverAgent:                                     "server",
		"velero-1.14.0-server/v1.14.0 (a/b) -":          "server",
		"APIGroupVersionsRestore/v1.18.3 (a/b)":         "server",
		"velero/v1.18.3 (linux/amd64) -":                "velero",
		"mover/v0.0.0 (linux/amd64) kubernetes/$Format": "mover",
		"mover other":                                   "mover",
		"":                                              "",
	} {
		if got := proxy.ClientOf(userAgent); got != want {
			t.Errorf("%q is %q, want %q", userAgent, got, want)
		}
	}
}

// What ClientOf knows of Velero still stands in Velero's source.
func TestVelerosUserAgents(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/vmware-tanzu/velero").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("Velero's source is not in the module cache: run go mod download github.com/vmware-tanzu/velero (%v)", err)
	}
	for file, want := range map[string]string{
		"cmd/velero/velero.go":                    "filepath.Base(os.Args[0])",
		"pkg/cmd/server/server.go":                `f.SetBasename(fmt.Sprintf("%s-%s", c.Parent().Name(), c.Name()))`,
		"pkg/client/client.go":                    `"%s/%s (%s/%s) %s", command, version, os, arch, formattedSha`,
		"pkg/restore/prioritize_group_version.go": `client.NewFactory("APIGroupVersionsRestore"`,
	} {
		if source, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(source), want) {
			t.Errorf("%s has no %s (%v)", file, want, err)
		}
	}
}

// A trace's write of a subresource, of what has no namespace, and of one whose name the API server made.
func TestWrite(t *testing.T) {
	for want, test := range map[string]struct {
		q proxy.Request
		r proxy.Response
	}{
		"server update pods/status n/p  5": {
			proxy.Request{Client: "server", Verb: "update", Namespace: "n", Resource: "pods", Name: "p", Subresource: "status", Body: []byte("{}")},
			proxy.Response{Name: "p", ResourceVersion: "5"},
		},
		"server patch namespaces n {} 6": {proxy.Request{Client: "server", Verb: "patch", Namespace: "n", Resource: "namespaces", Name: "n", Body: []byte("{}")}, proxy.Response{Name: "n", ResourceVersion: "6"}},
		"server create nodes a-1  7":     {proxy.Request{Client: "server", Verb: "create", Resource: "nodes"}, proxy.Response{Name: "a-1", ResourceVersion: "7"}},
	} {
		w := proxy.Write(&test.q, &test.r)
		if got := strings.Join([]string{w.Client, w.Verb, w.Resource, w.Name, w.Change, w.ResourceVersion}, " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
