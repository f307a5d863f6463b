package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// The scenarios of the suite, by what is in their names.
const (
	undisturbed = "undisturbed"
	timesOut    = "times-out"
	serverKill  = "server-killed"
	deleted     = "deleted"
)

// Direct is what is in the cluster while the plugin is called directly.
func Direct(items Items) (*scenario.Scenario, error) {
	return build("plugin-called-directly", items, "", "expect: {phase: Completed}")
}

// Scenarios are the runs on a server that fit what the executable registers. Operations may take as long as within.
func Scenarios(items Items, plugins []trace.Plugin, within time.Duration) ([]*scenario.Scenario, error) {
	registers := func(kind scenario.Action) bool {
		return slices.ContainsFunc(plugins, func(p trace.Plugin) bool { return trimV2(p.Kind) == string(kind) })
	}
	timeout := within + time.Minute // a server that was killed is to be back long before
	var texts []string
	for _, x := range []struct {
		kind         string
		registered   bool
		before, with string
	}{
		{"backup", registers(scenario.BackupItemAction), "", "backup: {itemOperationTimeout: %s}\n"},
		{"restore", registers(scenario.RestoreItemAction), fmt.Sprintf("backup: {itemOperationTimeout: %s}\n", timeout), "restore: {itemOperationTimeout: %s}\n"},
	} {
		if !x.registered {
			continue
		}
		with := x.before + x.with
		texts = append(texts,
			x.kind+"-"+undisturbed+"\n"+fmt.Sprintf(with, timeout)+"expect: {phase: Completed}",
			x.kind+"-"+timesOut+"\n"+fmt.Sprintf(with, "1s")+"expect: {phase: PartiallyFailed}",
			x.kind+"-"+serverKill+"\n"+fmt.Sprintf(with, timeout)+fmt.Sprintf(`faults:
- {at: {phase: WaitingForPluginOperations, object: %s/%s-1}, do: {kill: {restartAfter: 1s}}}
expect: {phase: Completed}`, x.kind, x.kind))
	}
	if registers(scenario.DeleteItemAction) {
		texts = append(texts, "backup-"+deleted+"\n"+fmt.Sprintf(`backup: {itemOperationTimeout: %s}
faults:
- {at: {phase: Completed, object: backup/backup-1, delay: 1s}, do: {delete: backup/backup-1}}
expect: {phase: Deleted}`, timeout))
	}
	var all []*scenario.Scenario
	for _, text := range texts {
		name, body, _ := strings.Cut(text, "\n")
		kinds := []scenario.Action{scenario.BackupItemAction}
		switch {
		case strings.HasPrefix(name, "restore"):
			kinds = append(kinds, scenario.RestoreItemAction)
		case strings.HasSuffix(name, deleted):
			kinds = append(kinds, scenario.DeleteItemAction)
		}
		s, err := build(name, items, own(plugins, kinds...), body)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// build makes the scenario with these items. Those of custom resources, which the format does not know, are added to what is parsed.
func build(name string, items Items, plugins, body string) (*scenario.Scenario, error) {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\n%s%s\n", scenario.APIVersion, scenario.Kind, name, plugins, body)
	s, errs := scenario.Parse(name, []byte(text))
	if len(errs) > 0 {
		return nil, fmt.Errorf("failed to make the scenario %s: %w", name, errs)
	}
	s.Items, s.Manifests = nil, items.Manifests
	var namespaces []string
	for _, m := range items.Manifests {
		item, _ := m.Item() // see ParseItems
		s.Items = append(s.Items, item)
		namespaces = append(namespaces, item.Namespace())
	}
	slices.Sort(namespaces)
	for i := range s.Backups {
		s.Backups[i].IncludedNamespaces = slices.Compact(slices.Clone(namespaces))
	}
	return s, nil
}

// own are the item actions that are called in runs of backups and, if there are some, restores.
func own(plugins []trace.Plugin, kinds ...scenario.Action) string {
	var list []string
	for _, p := range plugins {
		action := scenario.Action(trimV2(p.Kind))
		entry := fmt.Sprintf("{name: %q, action: %s, own: true}", p.Name, action)
		if slices.Contains(kinds, action) && !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	return "plugins: [" + strings.Join(list, ", ") + "]\n"
}
