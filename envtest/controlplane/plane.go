package controlplane

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/velosim/velosim/envtest/supervise"
)

// argument makes the executable the process of a control plane, with the folder of etcd and kube-apiserver as the next one.
const argument = "--be-a-control-plane"

// startWithin is how long each of etcd and kube-apiserver may take to start, on a busy machine too. In wall time.
const startWithin = time.Minute

// Main must be called first thing in main, and in TestMain, of every executable that calls [Start]; it calls
// supervise.Main. In processes of a control plane it does not return; elsewhere it does nothing.
func Main() {
	supervise.Main()
	if len(os.Args) == 3 && os.Args[1] == argument {
		err := run(os.Args[2], os.Stdout)
		json.NewEncoder(os.Stdout).Encode(message{Error: err.Error()}) //nolint:errcheck // then the exit status must do
		os.Exit(1)
	}
}

// message is what the process writes to stdout, as a line of JSON, when kube-apiserver serves and when it ends.
type message struct {
	Kubeconfig []byte `json:"kubeconfig,omitempty"`
	Error      string `json:"error,omitempty"` // why it ends
}

// run runs a control plane, and tells out when it is ready. It returns why it cannot go on. It leaves its processes to the
// supervisor.
func run(assets string, out io.Writer) error {
	logf.SetLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, "envtest:", prefix, args) }, funcr.Options{}))
	env := environment(assets)
	if _, err := env.Start(); err != nil {
		// Another process may have taken a port before etcd or kube-apiserver did: a new environment has new ones.
		fmt.Fprintln(os.Stderr, "velosim:", err)
		env.Stop() //nolint:errcheck // the supervisor stops what is left
		env = environment(assets)
		if _, err := env.Start(); err != nil {
			return err
		}
	}
	children, err := children()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(message{Kubeconfig: env.KubeConfig}); err != nil {
		return err
	}
	return children.wait()
}

func environment(assets string) *envtest.Environment {
	env := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		UseExistingCluster:       ptr.To(false),
		ControlPlaneStartTimeout: startWithin,
	}
	etcd := &envtest.Etcd{Out: os.Stderr, Err: os.Stderr}
	env.ControlPlane.Etcd = etcd
	set(etcd.Configure(), map[string]string{
		"log-level":           "warn",
		"quota-backend-bytes": "536870912", // 512 MiB
		"unsafe-no-fsync":     "true",
	})
	apiserver := env.ControlPlane.GetAPIServer()
	apiserver.Out, apiserver.Err = os.Stderr, os.Stderr
	set(apiserver.Configure(), map[string]string{
		// The address of the service kubernetes, which nobody uses. Without these two kube-apiserver needs a default route.
		"advertise-address":        "127.0.0.1",
		"endpoint-reconciler-type": "none",
		"event-ttl":                "10m",
		"profiling":                "false",
	})
	return env
}

func set(args *envtest.Arguments, flags map[string]string) {
	for name, value := range flags {
		args.Set(name, value)
	}
}
