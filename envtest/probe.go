package envtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/supervise"
	"github.com/velosim/velosim/sim/actions"
)

// probeArgument makes the executable one that probes the plugin which follows.
const probeArgument = "--probe-a-plugin"

// Main must be called first thing in main, and in TestMain, of an executable that has a World: it does not return in the processes
// that the world makes of it.
func Main() {
	controlplane.Main()
	if len(os.Args) == 3 && os.Args[1] == probeArgument {
		registered, err := start(os.Args[2])
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(registered)
		}
		if err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
		os.Exit(0)
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

// handshakeWithin is how long a plugin may take to say that it is one. Velero would wait for a minute.
const handshakeWithin = 30 * time.Second

// drainWithin is how long what a plugin that has not started still has to say is waited for.
const drainWithin = time.Second

// start starts a plugin and asks what it registers.
func start(path string) ([]framework.PluginIdentifier, error) {
	stderr := &tail{}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Plugins: map[string]plugin.Plugin{string(common.PluginKindPluginLister): framework.NewPluginListerPlugin(nil)},
		Cmd:     exec.Command(path), Stderr: stderr, Logger: hclog.NewNullLogger(), StartTimeout: handshakeWithin,
	})
	protocol, err := client.Client()
	if err != nil {
		drain(client)
		return nil, fmt.Errorf("%w\nits stderr says: %s", err, stderr)
	}
	lister, err := protocol.Dispense(string(common.PluginKindPluginLister))
	if err != nil {
		return nil, err
	}
	registered, err := lister.(framework.PluginLister).ListPlugins()
	if err == nil {
		var once []framework.PluginIdentifier
		log := logrus.New()
		log.Out = io.Discard
		once, err = actions.List(context.Background(), path, log)
		registered = append(registered, once...)
	}
	if err == nil && len(registered) == 0 {
		err = errors.New("it registers nothing")
	}
	return registered, err
}

// drain waits until all that a plugin has said before it ended was read, or for drainWithin: what it has started may hold its stderr open.
func drain(client *plugin.Client) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		client.Kill()
	}()
	select {
	case <-drained:
	case <-time.After(drainWithin):
	}
}

// tail keeps the end of what is written. It is read when the writing is over, or nobody waits for it any more.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-4<<10):]
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(strings.TrimSpace(string(t.text)), "nothing")
}
