package main

import (
	"context"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
)

// serve serves what the process registers by Velero's plugin framework; or, if it has actions that are called once for a backup or restore,
// by theirs. Velero passes the server's own flags on.
func serve(client *wire.Client, r wire.Registration) {
	if slices.ContainsFunc(r.Plugins, func(p wire.Plugin) bool { return p.Action.Once() }) {
		serveActions(client, r.Plugins)
		return
	}
	server := framework.NewServer().BindFlags(pflag.CommandLine)
	if r.ObjectStore {
		server.RegisterObjectStore("velosim.io/object-store", always(&objectStore{client: client}))
	}
	register := map[common.PluginKind]func(string, common.HandlerInitializer) framework.Server{
		common.PluginKindBackupItemAction:    server.RegisterBackupItemAction,
		common.PluginKindBackupItemActionV2:  server.RegisterBackupItemActionV2,
		common.PluginKindRestoreItemAction:   server.RegisterRestoreItemAction,
		common.PluginKindRestoreItemActionV2: server.RegisterRestoreItemActionV2,
		common.PluginKindDeleteItemAction:    server.RegisterDeleteItemAction,
	}
	for _, p := range r.Plugins {
		kind, handler := itemAction(p, scripted(client, p))
		register[kind](p.Name, always(handler))
	}
	server.Serve()
}

// scripted is the process of a scripted plugin.
func scripted(client *wire.Client, p wire.Plugin) *fakeplugins.Process {
	return fakeplugins.NewProcessOf(context.Background(), p.Name, client.Caller(p))
}

// itemAction is the process as Velero's kind of plugin that the scripted item action is.
func itemAction(p wire.Plugin, process *fakeplugins.Process) (common.PluginKind, any) {
	switch v1 := p.Version == 1; {
	case p.Action == scenario.BackupItemAction && v1:
		return common.PluginKindBackupItemAction, process.BackupItemActionV1()
	case p.Action == scenario.BackupItemAction:
		return common.PluginKindBackupItemActionV2, process.BackupItemAction()
	case p.Action == scenario.RestoreItemAction && v1:
		return common.PluginKindRestoreItemAction, process.RestoreItemActionV1()
	case p.Action == scenario.RestoreItemAction:
		return common.PluginKindRestoreItemActionV2, process.RestoreItemAction()
	default:
		return common.PluginKindDeleteItemAction, process.DeleteItemAction()
	}
}

// always returns the same handler.
func always(handler any) common.HandlerInitializer {
	return func(logrus.FieldLogger) (any, error) { return handler, nil }
}
