package envtest

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"
)

// inClusterArgument makes the executable one that takes the place of the program that follows, after the folder of its secrets.
const inClusterArgument = "--in-cluster"

// serviceAccount is where rest.InClusterConfig of client-go looks, as Kubernetes mounts it into pods.
const serviceAccount = "secrets/kubernetes.io/serviceaccount"

// inCluster returns what a pod has to reach the API server by: environment variables, and the secrets, in a folder that becomes its
// service account's.
func inCluster(c *rest.Config, namespace, folder string) (env []string, err error) {
	u, err := url.Parse(c.Host)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	for name, data := range map[string]string{"token": c.BearerToken, "ca.crt": string(c.CAData), "namespace": namespace} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"KUBERNETES_SERVICE_HOST=" + u.Hostname(), "KUBERNETES_SERVICE_PORT=" + u.Port()}, nil
}

// becomeInCluster mounts the secrets where a pod has them, in a mount namespace of this process' own, and becomes the program. Where
// that is not allowed, the program goes without: its log says so.
func becomeInCluster(folder, program string, args []string) error {
	if err := mountSecrets(folder); err != nil {
		fmt.Fprintf(os.Stderr, "velosim: there is no service account for plugins that ask for the in-cluster configuration: %v\n", err)
	}
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

func mountSecrets(folder string) error {
	run, err := filepath.EvalSymlinks("/var/run")
	if err != nil {
		return err
	}
	if strings.HasPrefix(folder, run+"/") {
		return fmt.Errorf("the run's files are in %s, which would be hidden: set TMPDIR to another folder", run)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("none", run, "tmpfs", 0, "mode=0755"); err != nil {
		return err
	}
	at := filepath.Join(run, serviceAccount)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return syscall.Mount(folder, at, "", syscall.MS_BIND, "")
}
