package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
)

// exitCheck is how often the executable that is stood for is looked after. Velero finds out as late that a plugin has ended.
const exitCheck = 20 * time.Millisecond

// forward stands for an executable of the user's, until Velero says that it is enough: it registers the same, passes calls on, and tells
// the world of those of item actions. It ends when that ends.
func forward(client *wire.Client, r wire.Registration) error {
	runtime.LockOSThread()      // the executable ends with the thread that has started it
	os.Unsetenv(wire.SocketEnv) //nolint:errcheck // it is a valid name
	p, err := subprocess.Start(subprocess.Options{Path: r.Forward, Args: os.Args[1:], Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer p.Stop()
	registered, err := p.Registers()
	if err != nil {
		return err
	}
	server := framework.NewServer().BindFlags(pflag.CommandLine)
	register := map[common.PluginKind]func(string, common.HandlerInitializer) framework.Server{
		common.PluginKindBackupItemAction:    server.RegisterBackupItemAction,
		common.PluginKindBackupItemActionV2:  server.RegisterBackupItemActionV2,
		common.PluginKindRestoreItemAction:   server.RegisterRestoreItemAction,
		common.PluginKindRestoreItemActionV2: server.RegisterRestoreItemActionV2,
		common.PluginKindDeleteItemAction:    server.RegisterDeleteItemAction,
		common.PluginKindItemBlockAction:     server.RegisterItemBlockAction,
		common.PluginKindObjectStore:         server.RegisterObjectStore,
		common.PluginKindVolumeSnapshotter:   server.RegisterVolumeSnapshotter,
	}
	for _, id := range registered {
		with, ok := register[id.Kind]
		if !ok {
			return fmt.Errorf("%s registers the %s %s, which cannot be forwarded", r.Forward, id.Kind, id.Name)
		}
		with(id.Name, func(logrus.FieldLogger) (any, error) { return p.Plugin(id.Kind, id.Name, journal(client, id), r.Epoch) })
	}
	var enough atomic.Bool
	go func() {
		for !p.Exited() {
			time.Sleep(exitCheck)
		}
		if enough.Load() {
			return
		}
		fmt.Fprintf(os.Stderr, "%s has ended\n", r.Forward)
		os.Exit(1)
	}()
	server.Serve()
	enough.Store(true)
	return nil
}

// journal tells the world of the calls of an item action.
func journal(client *wire.Client, id framework.PluginIdentifier) fakeplugins.Journal {
	return client.Journal(wire.Plugin{Name: id.Name, Action: scenario.Action(strings.TrimSuffix(id.Kind.String(), "V2"))})
}
