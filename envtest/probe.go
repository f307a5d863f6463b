package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/supervise"
	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/sim/actions"
)

// probeArgument makes the executable one that probes the plugin which follows.
const probeArgument = "--probe-a-plugin"

// Main must be called first thing in main, and in TestMain, of an executable that has a World: it does not return in the processes
// that the world makes of it.
func Main() {
	controlplane.Main()
	if len(os.Args) == 3 && os.Args[1] == probeArgument {
		registered, err := registers(os.Args[2])
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(registered)
		}
		if err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == directArgument {
		err := callDirectly(os.Args[2])
		if err == nil {
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, errNotStarted) {
			os.Exit(notStarted)
		}
		os.Exit(1)
	}
	if len(os.Args) > 3 && os.Args[1] == inClusterArgument {
		fmt.Fprintln(os.Stderr, becomeInCluster(os.Args[2], os.Args[3], os.Args[4:])) // it returns only if it fails
		os.Exit(1)
	}
}

// probe starts a plugin as Velero's server does when it starts, to list what it registers (pkg/plugin/clientmgmt/process), and says why
// that fails: the server itself would only say that it does. It is done in a process of its own, with which all that the plugin has
// started ends.
func probe(ctx context.Context, path, folder string) ([]framework.PluginIdentifier, error) {
	var said bytes.Buffer
	p, err := supervise.Start(supervise.Command{
		Path: "/proc/self/exe", Args: []string{probeArgument, path}, Dir: folder, Stdout: &said,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder},
	})
	if err != nil {
		return nil, err
	}
	defer p.Kill() //nolint:errcheck // the supervisor goes on trying
	select {
	case <-p.Done():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.Err() != nil {
		return nil, fmt.Errorf("the plugin %s does not start: %s", path, strings.TrimSpace(said.String()))
	}
	var registered []framework.PluginIdentifier
	err = json.Unmarshal(said.Bytes(), &registered)
	return registered, err
}

// registers starts a plugin and asks what it registers.
func registers(path string) ([]framework.PluginIdentifier, error) {
	p, err := subprocess.Start(subprocess.Options{Path: path})
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	registered, err := p.Registers()
	if err == nil {
		var once []framework.PluginIdentifier
		log := logrus.New()
		log.Out = io.Discard
		once, err = actions.List(context.Background(), path, log)
		registered = append(registered, once...)
	}
	if err == nil && len(registered) == 0 {
		err = fmt.Errorf("it registers nothing\nits stderr says: %s", p.Said())
	}
	return registered, err
}
