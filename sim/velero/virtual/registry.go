package virtual

import (
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/velero/server"
)

// registry is what Velero's plugin registry knows: its own plugins, the object store, and the scenario's.
type registry struct{ scenario *scenario.Scenario }

// List implements Velero's controller.PluginLister.
func (r registry) List(kind common.PluginKind) []framework.PluginIdentifier {
	var names []string
	if kind == common.PluginKindObjectStore {
		names = append(names, objectStoreProvider)
	}
	for _, a := range server.InternalActions(nil) {
		if a.Kind == kind {
			names = append(names, a.Name)
		}
	}
	for _, p := range r.scenario.Plugins {
		if kindOf(p) == kind {
			names = append(names, p.Name)
		}
	}
	var ids []framework.PluginIdentifier
	for _, name := range names {
		ids = append(ids, framework.PluginIdentifier{Kind: kind, Name: name})
	}
	return ids
}

// kindOf is the kind that Velero registers a plugin by.
func kindOf(p scenario.Plugin) common.PluginKind {
	if p.Version == 2 {
		return common.PluginKind(p.Action + "V2")
	}
	return common.PluginKind(p.Action)
}
