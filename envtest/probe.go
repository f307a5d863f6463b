package envtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
)

// handshakeWithin is how long a plugin may take to say that it is one. Velero would wait for a minute.
const handshakeWithin = 30 * time.Second

// probe starts a plugin as Velero's server does when it starts, to list what it registers (pkg/plugin/clientmgmt/process), and says why
// that fails: the server itself would only say that it does.
func probe(ctx context.Context, path, folder string) error {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: framework.Handshake(), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Plugins: map[string]plugin.Plugin{string(common.PluginKindPluginLister): framework.NewPluginListerPlugin(nil)},
		Cmd:     cmd, Stderr: &stderr, Logger: hclog.NewNullLogger(), StartTimeout: handshakeWithin,
	})
	defer client.Kill()
	err := func() error {
		protocol, err := client.Client()
		if err != nil {
			return err
		}
		lister, err := protocol.Dispense(string(common.PluginKindPluginLister))
		if err != nil {
			return err
		}
		registered, err := lister.(framework.PluginLister).ListPlugins()
		if err == nil && len(registered) == 0 {
			err = fmt.Errorf("it registers nothing")
		}
		return err
	}()
	if err == nil {
		return nil
	}
	client.Kill() // so that all of its stderr is there
	said := strings.TrimSpace(stderr.String())
	if said == "" {
		said = "nothing"
	}
	return fmt.Errorf("the plugin %s does not start: %w\nIts stderr says: %s", path, err, said)
}
