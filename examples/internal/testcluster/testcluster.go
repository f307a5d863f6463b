// Package testcluster gives the tests of the examples a cluster: a real API server if KUBEBUILDER_ASSETS names a folder with etcd and
// kube-apiserver, else controller-runtime's fake client, so that they run everywhere.
package testcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/velosim/velosim/envtest/controlplane"
)

// Main is the TestMain of a package whose main is called in a link to the test binary of this name.
func Main(m *testing.M, name string, main func()) {
	controlplane.Main()
	if filepath.Base(os.Args[0]) == name {
		main()
		return
	}
	os.Exit(m.Run())
}

// Executable returns the path of a link to the test binary.
func Executable(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// New returns a client of an empty cluster.
func New(t *testing.T) client.WithWatch {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Log("KUBEBUILDER_ASSETS is not set: the cluster is a fake")
		return fake.NewClientBuilder().Build()
	}
	c, err := controlplane.Start(t.Context(), controlplane.Options{Assets: assets, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop() }) //nolint:errcheck
	cluster, err := client.NewWithWatch(c.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// Namespace makes a namespace with a name of its own.
func Namespace(t *testing.T, c client.Client) string {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n.Name
}

// errDied is the error of all calls after a death.
var errDied = errors.New("the process has died")

// Dying returns a client whose process dies at the nth write, from 1: before it is sent, or when it is applied and before the reply.
// died says whether it has.
func Dying(c client.WithWatch, nth int, after bool) (dying client.Client, died func() bool) {
	writes := 0
	dead := func() bool { return writes >= nth }
	write := func(apply func() error) error {
		if dead() {
			return errDied
		}
		writes++
		if dead() && !after {
			return errDied
		}
		if err := apply(); err != nil || !dead() {
			return err
		}
		return errDied
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return write(func() error { return c.Create(ctx, o, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			return write(func() error { return c.Update(ctx, o, options...) })
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, options ...client.ListOption) error {
			if dead() {
				return errDied
			}
			return c.List(ctx, l, options...)
		},
	}), dead
}
