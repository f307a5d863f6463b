package envtest

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/velosim/velosim/envtest/supervise"
)

// TestInCluster: the program finds what a pod does, and nothing of it is seen outside.
func TestInCluster(t *testing.T) {
	secrets := filepath.Join(t.TempDir(), "secrets")
	c := &rest.Config{Host: "https://127.0.0.1:4321", BearerToken: "the token", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("the CA")}}
	env, err := inCluster(c, "velero-1", secrets)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=4321"}; !slices.Equal(env, want) {
		t.Errorf("environment %v, want %v", env, want)
	}
	const print = "cd /var/run/secrets/kubernetes.io/serviceaccount && cat token ca.crt namespace"
	var out bytes.Buffer
	p, err := supervise.Start(supervise.Command{
		Path: "/proc/self/exe", Args: []string{inClusterArgument, secrets, "/bin/sh", "-c", print}, MountNamespace: true, Stdout: &out, Stderr: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil || out.String() != "the tokenthe CAvelero-1" {
		t.Errorf("the program saw %q, %v", out.String(), err)
	}
	if found, _ := filepath.Glob("/var/run/secrets/kubernetes.io/serviceaccount/*"); len(found) > 0 {
		t.Errorf("outside there is %v", found)
	}
}
