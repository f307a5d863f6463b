package plugintest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/sim/world"
)

// Main is what TestMain calls. Where Velero has started the test binary, it serves the plugins that register registers, as main would, and
// does not return; else it runs the tests.
func Main(m *testing.M, register func(framework.Server)) {
	handshake := framework.Handshake()
	if os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		os.Exit(m.Run())
	}
	server := framework.NewServer().BindFlags(pflag.NewFlagSet("plugin", pflag.ContinueOnError))
	register(server)
	server.Serve()
	os.Exit(0)
}

// Now is the time, for the plugin: in virtual time that at which its process was started, as what it does takes none.
func Now() time.Time {
	virtual := os.Getenv(world.PluginTime)
	if virtual == "" {
		return time.Now()
	}
	t, err := time.Parse(time.RFC3339Nano, virtual)
	if err != nil {
		panic(fmt.Sprintf("%s is %q: the world sets it, nobody else has to", world.PluginTime, virtual))
	}
	return t
}
