// Velosim-server is Velero's server with pre- and post-actions: the same controllers, assembled by package sim/velero/server, on a real manager.
// Its action plugins are in --plugin-dir, beside Velero's (sim/actions, Discover). Without any it does what Velero's server does.
//
//	velosim-server server --plugin-dir /plugins --action-timeout PostBackupAction:example.io/resume=1m
//
// It takes the flags of velero server, and has none of its command line but run-plugins, by which it starts Velero's internal plugins. It serves
// no metrics and no profiler, and runs all controllers: those that disable some are refused.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"github.com/vmware-tanzu/velero/pkg/buildinfo"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/cmd"
	"github.com/vmware-tanzu/velero/pkg/cmd/server/config"
	"github.com/vmware-tanzu/velero/pkg/cmd/server/plugin"
	veleroflag "github.com/vmware-tanzu/velero/pkg/cmd/util/flag"
	"github.com/vmware-tanzu/velero/pkg/features"
	"github.com/vmware-tanzu/velero/pkg/util/logging"
	"k8s.io/klog/v2"
)

func main() {
	defer klog.Flush()
	buildinfo.Version = release()
	cmd.CheckError(command().Execute())
}

// release of Velero that is linked in.
func release() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range b.Deps {
		if m.Path == "github.com/vmware-tanzu/velero" {
			return m.Version
		}
	}
	return ""
}

// command is what of Velero's command line a server needs (pkg/cmd/velero/velero.go). Velero gives its plugins the server's arguments.
func command() *cobra.Command {
	c, err := veleroclient.LoadConfig()
	if err != nil {
		fmt.Fprintf(os.Stderr, "WARNING: Error reading config file: %v\n", err)
	}
	f := veleroclient.NewFactory("velero", c)
	var enabled veleroflag.StringArray
	t := timeouts{}
	root := &cobra.Command{
		Use: "velosim-server", Short: "Run a Velero server with pre- and post-actions",
		PersistentPreRun: func(*cobra.Command, []string) { features.Enable(append(c.Features(), enabled...)...) },
	}
	flags := root.PersistentFlags()
	f.BindFlags(flags)
	flags.Var(&enabled, "features", "Comma-separated list of features to enable for this Velero process.")
	flags.Var(t, "action-timeout", "`KIND:NAME=DURATION`: how long each call of that plugin's pre- or post-action may take; may be repeated (default 10m)")
	klog.InitFlags(flag.CommandLine)
	flags.AddGoFlagSet(flag.CommandLine)
	root.AddCommand(serverCommand(f, t), plugin.NewCommand(f))
	return root
}

func serverCommand(f veleroclient.Factory, t timeouts) *cobra.Command {
	flags := config.GetDefaultConfig()
	c := &cobra.Command{
		Use: "server", Short: "Run the server", Args: cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			log.SetOutput(os.Stdout) // go-plugin's
			logrus.SetOutput(os.Stdout)
			level := flags.LogLevel.Parse()
			logger := logging.DefaultLogger(level, flags.LogFormat.Parse())
			logger.Infof("setting log-level to %s", strings.ToUpper(level.String()))
			logger.Infof("Starting Velero server %s, with pre- and post-actions", buildinfo.Version)
			f.SetBasename("velero-server")
			cmd.CheckError(run(f, flags, t, logger))
		},
	}
	flags.BindFlags(c.Flags())
	return c
}
