package subprocess

import (
	"fmt"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v1"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	riav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"

	"github.com/velosim/velosim/fakeplugins"
)

// Client is the plugin of that kind and name, as Velero's framework has it: a biav2.BackupItemAction, a velero.ObjectStore, ….
func (p *Process) Client(kind common.PluginKind, name string) (any, error) {
	dispensed, err := p.protocol.Dispense(string(kind))
	if err != nil {
		return nil, err
	}
	clients, ok := dispensed.(common.ClientDispenser)
	if !ok {
		return nil, fmt.Errorf("nothing calls a %s", kind)
	}
	return clients.ClientFor(name), nil
}

// Plugin is Client, with a journal that is told of the calls of an item action; the trace counts time from epoch. Plugins of other kinds are
// as they are.
func (p *Process) Plugin(kind common.PluginKind, name string, journal fakeplugins.Journal, epoch time.Time) (any, error) {
	client, err := p.Client(kind, name)
	if err != nil {
		return nil, err
	}
	r := fakeplugins.Recorded{Name: name, Journal: journal, Epoch: epoch}
	switch kind {
	case common.PluginKindBackupItemAction:
		return r.BackupItemActionV1(client.(biav1.BackupItemAction)), nil
	case common.PluginKindBackupItemActionV2:
		return r.BackupItemAction(client.(biav2.BackupItemAction)), nil
	case common.PluginKindRestoreItemAction:
		return r.RestoreItemActionV1(client.(riav1.RestoreItemAction)), nil
	case common.PluginKindRestoreItemActionV2:
		return r.RestoreItemAction(client.(riav2.RestoreItemAction)), nil
	case common.PluginKindDeleteItemAction:
		return r.DeleteItemAction(client.(velero.DeleteItemAction)), nil
	}
	return client, nil
}
