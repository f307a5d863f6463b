package actions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
)

// The kinds of plugins, beside those of Velero (pkg/plugin/framework/common/plugin_kinds.go).
const (
	PluginKindPreBackupAction   common.PluginKind = "PreBackupAction"
	PluginKindPostBackupAction  common.PluginKind = "PostBackupAction"
	PluginKindPreRestoreAction  common.PluginKind = "PreRestoreAction"
	PluginKindPostRestoreAction common.PluginKind = "PostRestoreAction"
)

// PreBackupAction is called once for a backup, before its first item. If it fails, the backup does.
//
// Of every Execute: ctx ends at the call's deadline, when the process is killed. If the process dies in the call it is called again, in a
// new one, so that it must get along with what an earlier call has done.
type PreBackupAction interface {
	Execute(ctx context.Context, backup *velerov1.Backup) error
}

// PostBackupAction is called once for a backup that is in its final phase, whatever that is. Its failure does not change the phase. It is
// called again if the server died meanwhile.
type PostBackupAction interface {
	Execute(ctx context.Context, backup *velerov1.Backup) error
}

// PreRestoreAction is called once for a restore, before its first item. If it fails, the restore does.
type PreRestoreAction interface {
	Execute(ctx context.Context, restore *velerov1.Restore) error
}

// PostRestoreAction is called once for a restore that is in its final phase, whatever that is. Its failure does not change the phase. It is
// called again if the server died meanwhile.
type PostRestoreAction interface {
	Execute(ctx context.Context, restore *velerov1.Restore) error
}

// SkipAnnotation is the annotation of a backup or restore that skips a plugin's action of this kind, by the value "skip":
// example.io/quiesce.prebackup for the plugin example.io/quiesce.
//
// The proposal has <plugin-name>/prebackup. That cannot be: a plugin's name has a slash, and an annotation's at most one, so that
// kube-apiserver refuses it.
func SkipAnnotation(kind common.PluginKind, plugin string) string {
	return plugin + "." + strings.ToLower(strings.TrimSuffix(kind.String(), "Action"))
}

// Select returns the plugins whose actions of a kind run for a backup or restore with these annotations, in the order in which they run:
// by name.
func Select(plugins []framework.PluginIdentifier, kind common.PluginKind, annotations map[string]string) []framework.PluginIdentifier {
	var selected []framework.PluginIdentifier
	for _, p := range plugins {
		if p.Kind == kind && annotations[SkipAnnotation(kind, p.Name)] != "skip" {
			selected = append(selected, p)
		}
	}
	slices.SortFunc(selected, func(a, b framework.PluginIdentifier) int { return cmp.Compare(a.Name, b.Name) })
	return selected
}

// ofBackups says whether the kind's actions get a backup, and whether there is such a kind.
func ofBackups(kind common.PluginKind) (backups, known bool) {
	switch kind {
	case PluginKindPreBackupAction, PluginKindPostBackupAction:
		return true, true
	case PluginKindPreRestoreAction, PluginKindPostRestoreAction:
		return false, true
	}
	return false, false
}
