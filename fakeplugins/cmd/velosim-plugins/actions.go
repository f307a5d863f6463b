package main

import (
	"context"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/framework/backupitemaction/v2"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/framework/restoreitemaction/v2"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/scenario"
)

// Scripted actions that are called once for a backup or restore. They do not heed the end of a call's context: a script that hangs is one
// that is killed.
type (
	backupAction  struct{ *fakeplugins.Process }
	restoreAction struct{ *fakeplugins.Process }
)

func (a backupAction) Execute(_ context.Context, b *velerov1.Backup) error {
	return a.Act("backup/"+b.Name, string(b.Status.Phase))
}

func (a restoreAction) Execute(_ context.Context, r *velerov1.Restore) error {
	return a.Act("restore/"+r.Name, string(r.Status.Phase))
}

// serveActions serves such actions, and item actions of the same executable.
func serveActions(client *wire.Client, plugins []wire.Plugin) {
	log := common.ServerLogger(logrus.New())
	items := map[common.PluginKind]interface {
		framework.Interface
		Register(string, common.HandlerInitializer)
	}{
		common.PluginKindBackupItemAction:    framework.NewBackupItemActionPlugin(log),
		common.PluginKindBackupItemActionV2:  biav2.NewBackupItemActionPlugin(log),
		common.PluginKindRestoreItemAction:   framework.NewRestoreItemActionPlugin(log),
		common.PluginKindRestoreItemActionV2: riav2.NewRestoreItemActionPlugin(log),
		common.PluginKindDeleteItemAction:    framework.NewDeleteItemActionPlugin(log),
	}
	server := actions.NewServer()
	for kind, p := range items {
		server.RegisterVelero(kind, p)
	}
	for _, p := range plugins {
		process := scripted(client, p)
		switch p.Action {
		case scenario.PreBackupAction:
			server.RegisterPreBackupAction(p.Name, always(backupAction{process}))
		case scenario.PostBackupAction:
			server.RegisterPostBackupAction(p.Name, always(backupAction{process}))
		case scenario.PreRestoreAction:
			server.RegisterPreRestoreAction(p.Name, always(restoreAction{process}))
		case scenario.PostRestoreAction:
			server.RegisterPostRestoreAction(p.Name, always(restoreAction{process}))
		default:
			kind, handler := itemAction(p, process)
			items[kind].Register(p.Name, always(handler))
		}
	}
	server.Serve()
}
