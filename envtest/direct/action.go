package direct

import (
	"context"
	"strings"

	"github.com/google/uuid"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/velosim/velosim/sim/scenario"
)

// action is an item action of the executable.
type action struct {
	id    common.PluginKind
	name  string
	kind  scenario.Action
	async bool // it may start operations
}

// actionOf is the item action that was registered; not ok: it is none.
func actionOf(id framework.PluginIdentifier) (a action, ok bool) {
	kind, v2 := strings.CutSuffix(id.Kind.String(), "V2")
	a = action{id: id.Kind, name: id.Name, kind: scenario.Action(kind), async: v2}
	switch a.kind {
	case scenario.BackupItemAction, scenario.RestoreItemAction, scenario.DeleteItemAction:
		return a, true
	}
	return a, false
}

// object is what an exercise of the action is about, kind/name. That of a DeleteItemAction is a backup.
func (x *run) object(a action, exercise string) string {
	switch a.kind {
	case scenario.RestoreItemAction:
		return "restore/" + exercise
	case scenario.DeleteItemAction:
		return "backup/deleted-" + exercise
	}
	return "backup/" + exercise
}

// create makes the process' backup, and restore, in the cluster: a plugin may look for it there. The one of an earlier action is used again.
func (p *process) create(phase string) {
	_, name, _ := strings.Cut(p.object, "/")
	meta := metav1.ObjectMeta{Namespace: p.run.spec.Namespace, Name: name, UID: types.UID(uuid.NewString())}
	b := &velerov1.Backup{ObjectMeta: meta, Spec: velerov1.BackupSpec{StorageLocation: "default", IncludedNamespaces: []string{"*"}}}
	b.Status.Phase = velerov1.BackupPhaseInProgress
	if phase != "" {
		b.Status.Phase = velerov1.BackupPhase(phase)
	}
	r := &velerov1.Restore{ObjectMeta: meta, Spec: velerov1.RestoreSpec{BackupName: name}}
	r.Status.Phase = velerov1.RestorePhaseInProgress
	// What cannot be created is there; and if it is not, a plugin that looks for it fails in a way that it has to bear.
	p.run.cluster.Create(context.Background(), b.DeepCopy()) //nolint:errcheck // see above
	if p.action.kind == scenario.RestoreItemAction {
		p.run.cluster.Create(context.Background(), r.DeepCopy()) //nolint:errcheck // see above
	}
}

// backup is that of the exercise, as the cluster has it.
func (p *process) backup() *velerov1.Backup {
	b := &velerov1.Backup{}
	_, b.Name, _ = strings.Cut(p.object, "/")
	b.Namespace = p.run.spec.Namespace
	p.run.cluster.Get(context.Background(), types.NamespacedName{Namespace: b.Namespace, Name: b.Name}, b) //nolint:errcheck // then it has its name
	return b
}

// restore is that of the exercise, as the cluster has it.
func (p *process) restore() *velerov1.Restore {
	r := &velerov1.Restore{}
	_, r.Name, _ = strings.Cut(p.object, "/")
	r.Namespace = p.run.spec.Namespace
	p.run.cluster.Get(context.Background(), types.NamespacedName{Namespace: r.Namespace, Name: r.Name}, r) //nolint:errcheck // then it has its name
	return r
}
