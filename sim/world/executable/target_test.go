package executable

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// executables writes files that can be run.
func executables(t *testing.T, dir string, names ...string) string {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// builder plays the go command: a build makes an empty executable.
func builder(t *testing.T, built *[]string) Command {
	return func(_ context.Context, _ string, stdout, _ io.Writer, _ string, args ...string) error {
		switch args[0] {
		case "env":
			fmt.Fprintln(stdout, "/go")
		case "build":
			*built = append(*built, args[len(args)-1])
			out := args[slices.Index(args, "-o")+1]
			return os.WriteFile(out, nil, 0o700)
		}
		return nil
	}
}

func TestControlPlane(t *testing.T) {
	const etcd, apiserver = "go.etcd.io/etcd/server/v3", "k8s.io/kubernetes/cmd/kube-apiserver"
	root := tree(t, t.TempDir(), map[string]string{
		"go.mod": "module github.com/velosim/velosim\n", "envtest/build/controlplane/go.mod": "module example.com/controlplane\n",
	})
	var built []string
	f, _ := finder(t, root, builder(t, &built))

	first, err := f.ControlPlane(t.Context())
	if err != nil || !slices.Equal(built, []string{etcd, apiserver}) {
		t.Fatalf("%v; built %v", err, built)
	}
	if entries, _ := os.ReadDir(first); len(entries) != 2 {
		t.Errorf("%s holds %v", first, entries)
	}
	if again, err := f.ControlPlane(t.Context()); again != first || err != nil || len(built) != 2 {
		t.Errorf("the second time: %s, %v, built %v; want %s", again, err, built, first)
	}

	downloads := t.TempDir()
	f.Downloads = filepath.Join(downloads, "*-linux-amd64")
	executables(t, downloads, "1.33.0-linux-amd64/etcd", "1.33.0-linux-amd64/kube-apiserver", "1.34.1-linux-amd64/etcd", "1.99.0-plan9/etcd")
	if got, err := f.ControlPlane(t.Context()); err != nil || got != filepath.Join(downloads, "1.33.0-linux-amd64") {
		t.Errorf("%s, %v; want the newest download that is complete", got, err)
	}

	f.Assets = executables(t, t.TempDir(), "etcd")
	if _, err := f.ControlPlane(t.Context()); err == nil || !strings.Contains(err.Error(), "KUBEBUILDER_ASSETS="+f.Assets+" does not hold etcd and kube-apiserver") {
		t.Errorf("error %v", err)
	}
	executables(t, f.Assets, "kube-apiserver")
	if got, err := f.ControlPlane(t.Context()); got != f.Assets || err != nil {
		t.Errorf("%s, %v; want %s", got, err, f.Assets)
	}
}

func TestServer(t *testing.T) {
	root := tree(t, t.TempDir(), map[string]string{
		"go.mod":                             "module github.com/velosim/velosim\n",
		"envtest/build/velero-1.14.0/go.mod": "module example.com/old\n", "envtest/build/velero-1.18.3/go.mod": "module example.com/new\n",
	})
	var built []string
	f, _ := finder(t, root, builder(t, &built))
	for _, version := range []string{"1.18.3", "v1.14.0"} {
		path, err := f.Server(t.Context(), version)
		if err != nil || filepath.Base(path) != "velero-"+strings.TrimPrefix(version, "v") || !executable(path) {
			t.Errorf("%s: %s, %v", version, path, err)
		}
	}
	if _, err := f.Server(t.Context(), "1.2"); err == nil || !strings.Contains(err.Error(), "there is no Velero 1.2 here; there are: 1.14.0, 1.18.3 ") {
		t.Errorf("error %v", err)
	}
	if len(built) != 2 {
		t.Errorf("built %v", built)
	}
}

// TestStamp: kube-apiserver tells the version that it is built from.
func TestStamp(t *testing.T) {
	b, err := os.ReadFile("../../../" + builds + "/controlplane/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version, _, _ := strings.Cut(stamp[strings.Index(stamp, "=v")+1:], " ")
	if !strings.Contains(string(b), "k8s.io/kubernetes "+version+" ") {
		t.Errorf("the stamp %s is not what go.mod requires", version)
	}
}

// TestEnvtest: the server with actions is asked for when they are, and only of the release that there is one of.
func TestEnvtest(t *testing.T) {
	root := tree(t, t.TempDir(), map[string]string{
		"go.mod": "module github.com/velosim/velosim\n", "envtest/build/controlplane/go.mod": "module example.com/controlplane\n",
		"envtest/build/velero-1.14.0/go.mod": "module example.com/old\n", "envtest/build/velero-1.18.3/go.mod": "module example.com/new\n",
		"envtest/cmd/velosim-envtest/main.go": "package main\n", "fakeplugins/cmd/velosim-plugins/main.go": "package main\n",
		"sim/velero/go.mod": "module github.com/velosim/velosim/sim/velero\n", "sim/velero/cmd/velosim-server/main.go": "package main\n",
	})
	for _, test := range []struct {
		velero        string
		actions, want bool
	}{{"1.18.3", true, true}, {"v1.18.3", true, true}, {"1.18.3", false, false}, {"1.14.0", true, false}} {
		var built []string
		f, _ := finder(t, root, builder(t, &built))
		_, args, err := f.Envtest(t.Context(), test.velero, test.actions)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.Index(args, "--actions-server")
		if i >= 0 != test.want || i >= 0 && filepath.Base(args[i+1]) != "velosim-server" {
			t.Errorf("%+v: %v", test, args)
		}
	}
	b, err := os.ReadFile("../../velero/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "github.com/vmware-tanzu/velero v"+linkedRelease+"\n") {
		t.Errorf("sim/velero links no Velero %s", linkedRelease)
	}
}
