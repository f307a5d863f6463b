package controlplane

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/velosim/velosim/envtest/supervise"
)

// Options say what to start.
type Options struct {
	// Assets is the folder that holds the executables etcd and kube-apiserver.
	Assets string
	// CRDs are installed and served when Start returns, for example those of package velerocrds.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Log gets what etcd and kube-apiserver print. Nil is nowhere; errors show the last lines that matter either way.
	Log io.Writer
	// Temp is the folder in which the control plane's own folder is made (mode 0700), and removed at its end. Empty is
	// os.TempDir().
	Temp string
}

// ControlPlane is one that runs. Its methods may be called at the same time.
type ControlPlane struct {
	process    *supervise.Process
	output     *output
	config     *rest.Config
	kubeconfig []byte
}

// Start starts a control plane, and returns when it serves requests and the CRDs, which takes seconds; an error, then
// nothing is left of it, if it does not or if ctx ends before. It runs until Stop, not until ctx ends.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	c, err := start(o)
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	if err := c.await(ctx, o.CRDs); err != nil {
		return nil, fmt.Errorf("control plane: %w", errors.Join(err, c.Stop()))
	}
	return c, nil
}

// start starts the process.
func start(o Options) (*ControlPlane, error) {
	if o.Temp == "" {
		o.Temp = os.TempDir()
	}
	for _, path := range []*string{&o.Assets, &o.Temp} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(o.Assets, name)); err != nil {
			return nil, fmt.Errorf("Options.Assets must be a folder with etcd and kube-apiserver: %w", err)
		}
	}
	folder := filepath.Join(o.Temp, "velosim-controlplane-"+rand.Text())
	c := &ControlPlane{output: newOutput(o.Log)}
	var err error
	c.process, err = supervise.Start(supervise.Command{
		Path: "/proc/self/exe",
		Args: []string{argument, o.Assets},
		// etcd and kube-apiserver get nothing of the user's environment, as etcd reads ETCD_ variables, and envtest
		// KUBEBUILDER_ ones. All temporary folders are made below the one that is removed at the end.
		Env:    []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "XDG_CACHE_HOME=" + folder},
		Dir:    o.Temp,
		Stdout: writer(c.output.stdout),
		Stderr: writer(c.output.stderr),
		Folder: folder,
	})
	return c, err
}

// await waits until the control plane serves.
func (c *ControlPlane) await(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-c.Done():
			cancel(c.Err())
		case <-ctx.Done():
		}
	}()
	err := c.configure(ctx)
	if err == nil {
		err = install(ctx, c.config, crds)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // it says why
	}
	return err
}

// configure waits until the process tells how to connect to kube-apiserver.
func (c *ControlPlane) configure(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case m := <-c.output.messages:
		if m.Error != "" {
			return c.Err()
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(m.Kubeconfig)
		if err != nil {
			return err
		}
		config.QPS = -1 // no limit
		c.config, c.kubeconfig = config, m.Kubeconfig
		return nil
	}
}

// Config returns the configuration of a client that may do everything (group system:masters), without a rate limit. It is
// the caller's to change.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the same as a kubeconfig file's contents. They hold a private key.
func (c *ControlPlane) Kubeconfig() []byte { return bytes.Clone(c.kubeconfig) }

// Stop kills the control plane, and returns when its processes and files are gone. There is nothing to stop gracefully, as
// nothing of it is kept. The error says what could not be removed, or what could not be written to Log.
func (c *ControlPlane) Stop() error { return c.process.Kill() }

// Done is closed when the control plane is gone, after Stop or because etcd or kube-apiserver ended by itself.
func (c *ControlPlane) Done() <-chan struct{} { return c.process.Done() }

// Err says why the control plane ended, with the last lines of its log that may explain it. It waits for Done.
func (c *ControlPlane) Err() error {
	err := c.process.Err()
	reason, lines := c.output.end()
	if reason != "" {
		err = errors.New(reason)
	}
	if len(lines) == 0 {
		return fmt.Errorf("it ended: %w", err)
	}
	return fmt.Errorf("it ended: %w; its last words:\n%s", err, strings.Join(lines, "\n"))
}
