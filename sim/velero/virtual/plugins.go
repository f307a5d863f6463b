package virtual

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	ibav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/itemblockaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/server"
)

// pluginManager is Velero's plugin manager as one reconcile has it: the scripted plugins' processes start when they are
// first asked for and end with CleanupClients. Methods that Velero's controllers do not call here are nil.
type pluginManager struct {
	clientmgmt.Manager
	inc        *incarnation
	controller string
	log        logrus.FieldLogger
	store      *objectStore
	object     string          // that Velero's log says it is for; empty: for several, or none
	ctx        context.Context // of the plugins' processes
	stop       context.CancelFunc
	processes  map[string]*restartable // by name: no controller calls two kinds of actions
	owns       map[string]*own         // the user's, by kind and name
}

// pluginSuffix ends the names of the clients of Velero's internal plugins, which are processes of their own in a cluster.
const pluginSuffix = "-plugin"

func (inc *incarnation) pluginManager(controller string) func(logrus.FieldLogger) clientmgmt.Manager {
	return func(log logrus.FieldLogger) clientmgmt.Manager {
		m := &pluginManager{
			inc: inc, controller: controller, log: log, store: &objectStore{inc: inc, controller: controller},
			processes: map[string]*restartable{}, owns: map[string]*own{},
		}
		m.object, _ = log.WithFields(nil).Data["backup"].(string)
		m.ctx, m.stop = context.WithCancel(inc.running)
		return m
	}
}

func (m *pluginManager) GetObjectStore(provider string) (velero.ObjectStore, error) {
	if provider != objectStoreProvider {
		return nil, fmt.Errorf("unable to locate ObjectStore plugin named %s", provider)
	}
	return m.store, nil
}

// CleanupClients ends the processes of the scripted plugins.
func (m *pluginManager) CleanupClients() {
	m.stop()
	for _, name := range sortedKeys(m.processes) {
		m.processes[name].end("stopped")
	}
	clear(m.processes)
	for _, key := range sortedKeys(m.owns) {
		m.owns[key].stop()
	}
}

// process returns the plugin's process, started if need be. One that does not start is tried again when it is asked for the next time
// (getRestartableProcess, pkg/plugin/clientmgmt/manager.go).
func (m *pluginManager) process(p scenario.Plugin) (*fakeplugins.Process, error) {
	q, ok := m.processes[p.Name]
	if !ok {
		q = &restartable{manager: m, script: p}
		if err := q.start(); err != nil {
			return nil, err
		}
		m.processes[p.Name] = q
	}
	return fakeplugins.NewProcessOf(m.ctx, p.Name, q), nil
}

// journal records a call, which gets its ID, and lets the faults strike before and after it. They report whether its process has ended.
func (m *pluginManager) journal(object string, c *trace.Call) (returned func(trace.Return) (crashed bool), crashed bool) {
	r, began := m.inc.run, time.Now()
	// Several backups can be under way at a time. AppliesTo is told of none.
	what := strings.Join([]string{c.Plugin, c.Method, object, c.Item, c.Operation, m.object}, " ")
	if m.inc.step(m.controller, "call "+what) != nil {
		return func(trace.Return) bool { return false }, false
	}
	c.ID, c.Controller = r.rec.call(), m.controller
	m.inc.record(object, trace.Body{Call: c})
	crashed = r.faults.call(*c, false)
	m.inc.fence()
	cut := trace.Return{ID: c.ID, Error: cluster.CrashError}
	if crashed {
		m.inc.record(object, trace.Body{Return: &cut})
	}
	return func(ret trace.Return) bool {
		if time.Now().After(began) { // it has slept: others may have woken at the same instant
			if m.inc.childStep(m.controller, "return "+what) != nil {
				return false
			}
		}
		crashed := r.faults.call(*c, true)
		m.inc.fence()
		ret.ID = c.ID
		if crashed {
			ret = cut
		}
		m.inc.record(object, trace.Body{Return: &ret})
		return crashed
	}, crashed
}

// scripted are the scenario's plugins of an action, by name, as Velero's registry lists them. What Velero adapts those of version 1
// to (pkg/plugin/clientmgmt/backupitemaction/v2) is no other than a process that starts no operation.
func (m *pluginManager) scripted(action scenario.Action) []scenario.Plugin {
	var ps []scenario.Plugin
	for _, p := range m.inc.run.job.Scenario.Plugins {
		if p.Action == action {
			ps = append(ps, p)
		}
	}
	slices.SortFunc(ps, func(a, b scenario.Plugin) int { return strings.Compare(a.Name, b.Name) })
	return ps
}

func (m *pluginManager) GetBackupItemActionsV2() ([]biav2.BackupItemAction, error) {
	actions, err := internal(m, server.InternalAction.BackupItemAction, common.PluginKindBackupItemAction, common.PluginKindBackupItemActionV2)
	for _, p := range m.scripted(scenario.BackupItemAction) {
		process, startErr := m.process(p)
		if startErr != nil {
			return nil, startErr
		}
		actions = append(actions, process.BackupItemAction())
	}
	for _, o := range m.owned(common.PluginKindBackupItemAction, common.PluginKindBackupItemActionV2) {
		actions = append(actions, o.backupItemAction())
	}
	for i, a := range actions {
		actions[i] = backupItemAction{a, m.inc}
	}
	return actions, err
}

func (m *pluginManager) GetBackupItemActionV2(name string) (biav2.BackupItemAction, error) {
	for _, p := range m.scripted(scenario.BackupItemAction) {
		if p.Name == name {
			process, err := m.process(p)
			if err != nil {
				return nil, err
			}
			return backupItemAction{process.BackupItemAction(), m.inc}, nil
		}
	}
	if o := m.named(name, common.PluginKindBackupItemActionV2); o != nil {
		return backupItemAction{o.backupItemAction(), m.inc}, nil
	}
	return nil, fmt.Errorf("unable to get valid BackupItemActionV2 for %q", name)
}

func (m *pluginManager) GetRestoreItemActionsV2() ([]riav2.RestoreItemAction, error) {
	actions, err := internal(m, server.InternalAction.RestoreItemAction, common.PluginKindRestoreItemAction, common.PluginKindRestoreItemActionV2)
	for _, p := range m.scripted(scenario.RestoreItemAction) {
		process, startErr := m.process(p)
		if startErr != nil {
			return nil, startErr
		}
		actions = append(actions, process.RestoreItemAction())
	}
	for _, o := range m.owned(common.PluginKindRestoreItemAction, common.PluginKindRestoreItemActionV2) {
		actions = append(actions, o.restoreItemAction())
	}
	for i, a := range actions {
		actions[i] = restoreItemAction{a, m.inc}
	}
	return actions, err
}

func (m *pluginManager) GetRestoreItemActionV2(name string) (riav2.RestoreItemAction, error) {
	for _, p := range m.scripted(scenario.RestoreItemAction) {
		if p.Name == name {
			process, err := m.process(p)
			if err != nil {
				return nil, err
			}
			return restoreItemAction{process.RestoreItemAction(), m.inc}, nil
		}
	}
	if o := m.named(name, common.PluginKindRestoreItemActionV2); o != nil {
		return restoreItemAction{o.restoreItemAction(), m.inc}, nil
	}
	return nil, fmt.Errorf("unable to get valid RestoreItemActionV2 for %q", name)
}

func (m *pluginManager) GetDeleteItemActions() ([]velero.DeleteItemAction, error) {
	actions, err := internal(m, server.InternalAction.DeleteItemAction, common.PluginKindDeleteItemAction)
	for _, p := range m.scripted(scenario.DeleteItemAction) {
		process, startErr := m.process(p)
		if startErr != nil {
			return nil, startErr
		}
		actions = append(actions, process.DeleteItemAction())
	}
	for _, o := range m.owned(common.PluginKindDeleteItemAction) {
		actions = append(actions, o.deleteItemAction())
	}
	for i, a := range actions {
		actions[i] = deleteItemAction{a, m.inc}
	}
	return actions, err
}

func (m *pluginManager) GetItemBlockActions() ([]ibav1.ItemBlockAction, error) {
	actions, err := internal(m, server.InternalAction.ItemBlockAction, common.PluginKindItemBlockAction)
	for i, a := range actions {
		actions[i] = itemBlockAction{a, m.inc}
	}
	return actions, err
}

// internal makes Velero's own actions of the kinds.
func internal[T any](m *pluginManager, construct func(server.InternalAction, logrus.FieldLogger) (T, error), kinds ...common.PluginKind) ([]T, error) {
	var actions []T
	for _, a := range server.InternalActions(factory{m.inc, m.controller + pluginSuffix}) {
		if !slices.Contains(kinds, a.Kind) {
			continue
		}
		t, err := construct(a, m.log)
		if err != nil {
			return nil, fmt.Errorf("failed to start Velero's plugin %s: %w", a.Name, err)
		}
		actions = append(actions, t)
	}
	return actions, nil
}
