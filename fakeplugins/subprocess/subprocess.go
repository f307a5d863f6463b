package subprocess

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/framework/backupitemaction/v2"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	ibav1 "github.com/vmware-tanzu/velero/pkg/plugin/framework/itemblockaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/framework/restoreitemaction/v2"
)

// HandshakeWithin is how long a plugin may take to say that it is one. Velero would wait for a minute.
const HandshakeWithin = 30 * time.Second

// stopWithin is how long the end of a process is waited for: for longer than the two seconds that it has.
const stopWithin = 3 * time.Second

// drainWithin is how long what a plugin that has not started still has to say is waited for.
const drainWithin = time.Second

// Options say what to start.
type Options struct {
	// Path of the executable, and its arguments: Velero passes the flags of its server on.
	Path string
	Args []string
	// Dir is where it runs. Default: here.
	Dir string
	// Env is added to the environment, which it inherits.
	Env []string
	// Stderr is where it writes its log to, as lines of JSON. Default: nowhere.
	Stderr io.Writer
}

// Process is a process of the executable. It is safe for concurrent use, but for Stop.
type Process struct {
	client   *plugin.Client
	cmd      *exec.Cmd
	protocol plugin.ClientProtocol
	last     *tail
}

// Start starts the executable, and waits for its handshake. The error of one that does not start has what it wrote to its stderr last.
func Start(o Options) (*Process, error) {
	silent := logrus.New()
	silent.Out = io.Discard
	log := common.ClientLogger(silent)
	last := &tail{}
	stderr := io.Writer(last)
	if o.Stderr != nil {
		stderr = io.MultiWriter(last, o.Stderr)
	}
	cmd := exec.Command(o.Path, o.Args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = o.Dir, o.Env, dependent()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Plugins: map[string]plugin.Plugin{
			string(common.PluginKindPluginLister):        framework.NewPluginListerPlugin(nil),
			string(common.PluginKindBackupItemAction):    framework.NewBackupItemActionPlugin(log),
			string(common.PluginKindBackupItemActionV2):  biav2.NewBackupItemActionPlugin(log),
			string(common.PluginKindRestoreItemAction):   framework.NewRestoreItemActionPlugin(log),
			string(common.PluginKindRestoreItemActionV2): riav2.NewRestoreItemActionPlugin(log),
			string(common.PluginKindDeleteItemAction):    framework.NewDeleteItemActionPlugin(log),
			string(common.PluginKindItemBlockAction):     ibav1.NewItemBlockActionPlugin(log),
			string(common.PluginKindObjectStore):         framework.NewObjectStorePlugin(log),
			string(common.PluginKindVolumeSnapshotter):   framework.NewVolumeSnapshotterPlugin(log),
		},
		Cmd: cmd, Stderr: stderr, Logger: hclog.NewNullLogger(), StartTimeout: HandshakeWithin,
	})
	protocol, err := client.Client()
	if err != nil {
		drain(client)
		return nil, fmt.Errorf("%w\nits stderr says: %s", err, last)
	}
	return &Process{client: client, cmd: cmd, protocol: protocol, last: last}, nil
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

// Registers is what the executable registers by Velero's framework.
func (p *Process) Registers() ([]framework.PluginIdentifier, error) {
	lister, err := p.protocol.Dispense(string(common.PluginKindPluginLister))
	if err != nil {
		return nil, err
	}
	return lister.(framework.PluginLister).ListPlugins()
}

// Said is the end of what the process has written to its stderr.
func (p *Process) Said() string { return p.last.String() }

// Exited reports whether the process has ended.
func (p *Process) Exited() bool { return p.client.Exited() }

// Stop asks the process to end, as Velero does, and kills it if it has not two seconds later. It reports whether it has ended by itself, and
// with it what it has started, as far as that has its stderr: for that, Velero would wait.
func (p *Process) Stop() (byItself bool) {
	if !p.ended() {
		return false
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Exited()
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it has ended
	p.ended()
}

// ended has go-plugin end the process, and reports whether it came to that.
func (p *Process) ended() bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.client.Kill()
	}()
	select {
	case <-done:
		return true
	case <-time.After(stopWithin):
		return false
	}
}
