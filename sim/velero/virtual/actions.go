package virtual

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/velero/prepost"
)

// acts reports whether the scenario has pre- or post-actions.
func (r *run) acts() bool {
	return r.job.Scenario.HasActions()
}

// actions are the pre- and post-actions of the scenario; nil: it has none.
func (inc *incarnation) actions() *prepost.Server {
	if !inc.run.acts() {
		return nil
	}
	return &prepost.Server{
		Context: inc.ctx, Namespace: veleroNamespace, ResourceTimeout: inc.run.flags().ResourceTimeout, Identity: fmt.Sprintf("server-%d", inc.n),
		Plugins: actionPlugins{inc}, Views: inc, ObjectStores: storeGetter{persistence.NewObjectBackupStoreGetter(nil)}, Log: inc.run.log,
	}
}

// actionPlugins are the scripted plugins that are called once for a backup or restore.
type actionPlugins struct{ inc *incarnation }

// List implements prepost.Plugins.
func (a actionPlugins) List() (ids []framework.PluginIdentifier) {
	for _, p := range a.inc.run.job.Scenario.Plugins {
		if p.Action.Once() {
			ids = append(ids, framework.PluginIdentifier{Kind: common.PluginKind(p.Action), Name: p.Name})
		}
	}
	return ids
}

// Open implements prepost.Plugins.
func (a actionPlugins) Open(controller string, log logrus.FieldLogger) prepost.Caller {
	m := a.inc.pluginManager(controller)(log).(*pluginManager)
	m.log = a.inc.run.log // a process that ends is no error of a backup if its call is made again
	return actionCaller{m}
}

// actionCaller calls actions as sim/actions' client does.
type actionCaller struct{ manager *pluginManager }

func (c actionCaller) Close() { c.manager.CleanupClients() }

// Execute implements prepost.Caller.
func (c actionCaller) Execute(ctx context.Context, id framework.PluginIdentifier, object metav1.Object) error {
	m := c.manager
	i := slices.IndexFunc(m.inc.run.job.Scenario.Plugins, func(p scenario.Plugin) bool {
		return p.Name == id.Name && string(p.Action) == id.Kind.String()
	})
	script := m.inc.run.job.Scenario.Plugins[i]
	deadline := script.Deadline.Duration
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, fmt.Errorf("%w after %s", actions.ErrDeadline, deadline))
	defer cancel()
	for relaunches := 0; ; relaunches++ {
		err, died := c.attempt(ctx, script, object)
		switch {
		case !died:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("%s %s: %w", id.Kind, id.Name, context.Cause(ctx))
		case relaunches == actions.MaxRelaunches:
			return fmt.Errorf("%s %s: %w, and was relaunched %d times: %w", id.Kind, id.Name, actions.ErrCrashed, relaunches, err)
		}
	}
}

// attempt makes a call. It reports whether the process has died in it, or not started; one that goes on at the end of ctx is killed.
func (c actionCaller) attempt(ctx context.Context, script scenario.Plugin, object metav1.Object) (err error, died bool) {
	m := c.manager
	q, ok := m.processes[script.Name]
	if !ok {
		q = &restartable{manager: m, script: script}
		m.processes[script.Name] = q
	}
	living, end := context.WithCancel(m.ctx)
	defer end()
	defer context.AfterFunc(ctx, end)()
	q.outcome = nil
	defer func() {
		if ctx.Err() != nil && q.outcome != nil { // it has returned at the very end of its time
			err, died = nil, q.process == nil
			if q.outcome.Error != "" {
				err = errors.New(q.outcome.Error)
			}
			return
		}
		if ctx.Err() == nil {
			died = q.process == nil
			return
		}
		_ = m.inc.step(m.controller, "deadline of "+script.Name) // others may have woken at the same instant
		q.kill()
		died = true
	}()
	defer m.inc.returned(&err)
	if act := m.inc.run.world.act; act != nil {
		q.act = func() error { return act(living, m.inc.Direct(script.Name), script, object) }
	}
	name, phase := "backup/"+object.GetName(), ""
	switch o := object.(type) {
	case *velerov1.Backup:
		phase = string(o.Status.Phase)
	case *velerov1.Restore:
		name, phase = "restore/"+object.GetName(), string(o.Status.Phase)
	}
	return fakeplugins.NewProcessOf(living, script.Name, q).Act(name, phase), false
}
