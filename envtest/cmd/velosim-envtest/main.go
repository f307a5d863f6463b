// Velosim-envtest is the executable of the world of real processes. The CLI starts it, and talks to it over stdin and stdout.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/velosim/velosim/envtest"
	"github.com/velosim/velosim/envtest/supervise"
	"github.com/velosim/velosim/sim/world"
)

func main() {
	envtest.Main()
	ctrl.SetLogger(logr.Discard())
	var o envtest.Options
	flag.StringVar(&o.Assets, "assets", "", "the folder of etcd and kube-apiserver")
	flag.StringVar(&o.Server, "server", "", "the velero executable")
	flag.StringVar(&o.Velero, "velero", "", "its release")
	flag.StringVar(&o.ActionsServer, "actions-server", "", "a velero executable with pre- and post-actions (velosim-server), for the scenarios that have some")
	flag.StringVar(&o.Plugins, "plugins", "", "the executable of scripted plugins")
	flag.BoolVar(&o.Exclusive, "exclusive", false, "run one server at a time")
	flag.Func("plugin", "a further plugin `executable`; may be repeated", func(path string) error {
		o.Extra = append(o.Extra, path)
		return nil
	})
	flag.Func("crds", "a `file` with definitions of custom resources; may be repeated", func(path string) error {
		o.CRDs = append(o.CRDs, path)
		return nil
	})
	flag.Parse()
	if dir := world.PrivateFolder(); dir != "" { // the CLI may be killed before it removes it
		if _, err := supervise.Sweep(dir); err != nil {
			fmt.Fprintln(os.Stderr, "velosim-envtest:", err)
			os.Exit(1)
		}
	}
	w := envtest.New(o)
	err := world.Serve(context.Background(), w, os.Stdin, os.Stdout)
	w.Close() //nolint:errcheck // the supervisors go on trying
	if err != nil {
		fmt.Fprintln(os.Stderr, "velosim-envtest:", err)
		os.Exit(1)
	}
}
