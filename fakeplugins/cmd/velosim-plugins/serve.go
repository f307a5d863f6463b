package main

import (
	"context"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
)

// serve serves what the process registers by Velero's plugin framework. Velero passes the server's own flags on.
func serve(client *wire.Client, r wire.Registration) {
	server := framework.NewServer().BindFlags(pflag.CommandLine)
	if r.ObjectStore {
		server.RegisterObjectStore("velosim.io/object-store", always(&objectStore{client: client}))
	}
	for _, p := range r.Plugins {
		process, v1 := fakeplugins.NewProcessOf(context.Background(), p.Name, client.Caller(p)), p.Version == 1
		switch {
		case p.Action == scenario.BackupItemAction && v1:
			server.RegisterBackupItemAction(p.Name, always(process.BackupItemActionV1()))
		case p.Action == scenario.BackupItemAction:
			server.RegisterBackupItemActionV2(p.Name, always(process.BackupItemAction()))
		case p.Action == scenario.RestoreItemAction && v1:
			server.RegisterRestoreItemAction(p.Name, always(process.RestoreItemActionV1()))
		case p.Action == scenario.RestoreItemAction:
			server.RegisterRestoreItemActionV2(p.Name, always(process.RestoreItemAction()))
		case p.Action == scenario.DeleteItemAction:
			server.RegisterDeleteItemAction(p.Name, always(process.DeleteItemAction()))
		}
	}
	server.Serve()
}

// always returns the same handler.
func always(handler any) common.HandlerInitializer {
	return func(logrus.FieldLogger) (any, error) { return handler, nil }
}
