package contract_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// registering are plugins of these kinds, each with a name of its own.
func registering(kinds ...string) (plugins []trace.Plugin) {
	for _, kind := range kinds {
		plugins = append(plugins, trace.Plugin{Kind: kind, Name: "example.io/" + kind})
	}
	return plugins
}

// scenarios are those that fit the plugins, by name.
func scenarios(t *testing.T, plugins []trace.Plugin, within time.Duration) (order []string, byName map[string]*scenario.Scenario) {
	t.Helper()
	items, err := parse(volumes, settings, volume)
	if err != nil {
		t.Fatal(err)
	}
	all, err := contract.Scenarios(items, plugins, within)
	if err != nil {
		t.Fatal(err)
	}
	valid := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	byName = map[string]*scenario.Scenario{}
	for _, s := range all {
		name := s.Metadata.Name
		if byName[name] != nil || !valid.MatchString(name) {
			t.Errorf("the name %q is not valid, or there twice", name)
		}
		order, byName[name] = append(order, name), s
	}
	return order, byName
}

func TestScenariosFitThePlugins(t *testing.T) {
	backups := []string{"backup-undisturbed", "backup-times-out", "backup-server-killed"}
	restores := []string{"restore-undisturbed", "restore-times-out", "restore-server-killed"}
	for _, tt := range []struct {
		kinds []string
		want  []string
	}{
		{[]string{"BackupItemActionV2"}, backups},
		{[]string{"BackupItemAction"}, backups},
		{[]string{"RestoreItemActionV2"}, restores},
		{[]string{"RestoreItemAction"}, restores},
		{[]string{"DeleteItemAction"}, []string{"backup-deleted"}},
		{
			[]string{"DeleteItemAction", "RestoreItemActionV2", "ObjectStore", "BackupItemAction", "BackupItemActionV2"},
			append(append(append([]string{}, backups...), restores...), "backup-deleted"),
		},
		{[]string{"ObjectStore", "VolumeSnapshotter", "ItemBlockAction"}, nil},
		{nil, nil},
	} {
		order, _ := scenarios(t, registering(tt.kinds...), time.Minute)
		if diff := cmp.Diff(tt.want, order); diff != "" {
			t.Errorf("of %v (-want +got):\n%s", tt.kinds, diff)
		}
	}
}

func TestScenarios(t *testing.T) {
	plugins := append(registering("BackupItemActionV2", "RestoreItemAction", "DeleteItemAction", "ObjectStore"), registering("BackupItemActionV2")...)
	_, all := scenarios(t, plugins, 30*time.Second)
	own := func(actions ...scenario.Action) (own []scenario.Plugin) {
		names := map[scenario.Action]string{scenario.BackupItemAction: "BackupItemActionV2"}
		for _, a := range actions {
			name := names[a]
			if name == "" {
				name = string(a)
			}
			own = append(own, scenario.Plugin{Name: "example.io/" + name, Action: a, Own: true})
		}
		return own
	}
	backup, restore, deletion := scenario.BackupItemAction, scenario.RestoreItemAction, scenario.DeleteItemAction
	const long, short = 90 * time.Second, time.Second
	kill := func(object string) []scenario.Fault {
		at := scenario.Point{Phase: "WaitingForPluginOperations", Object: object}
		return []scenario.Fault{{At: at, Do: scenario.Do{Kill: &scenario.Kill{RestartAfter: scenario.Duration{Duration: short}}}}}
	}
	deletes := []scenario.Fault{{
		At: scenario.Point{Phase: "Completed", Object: "backup/backup-1", Delay: scenario.Duration{Duration: short}},
		Do: scenario.Do{Delete: "backup/backup-1"},
	}}
	for name, want := range map[string]struct {
		Backup, Restore time.Duration // itemOperationTimeout; 0: there is none
		Phase           string
		Plugins         []scenario.Plugin
		Faults          []scenario.Fault
	}{
		"backup-undisturbed":    {long, 0, "Completed", own(backup), nil},
		"backup-times-out":      {short, 0, "PartiallyFailed", own(backup), nil},
		"backup-server-killed":  {long, 0, "Completed", own(backup), kill("backup/backup-1")},
		"restore-undisturbed":   {long, long, "Completed", own(backup, restore), nil},
		"restore-times-out":     {long, short, "PartiallyFailed", own(backup, restore), nil},
		"restore-server-killed": {long, long, "Completed", own(backup, restore), kill("restore/restore-1")},
		"backup-deleted":        {long, 0, "Deleted", own(backup, deletion), deletes},
	} {
		s := all[name]
		if s == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		got := want
		got.Backup, got.Restore, got.Phase, got.Plugins, got.Faults = s.Backups[0].ItemOperationTimeout.Duration, 0, s.Expect.Phase, nil, nil
		if len(s.Restores) > 0 {
			got.Restore = s.Restores[0].ItemOperationTimeout.Duration
		}
		for _, p := range s.Plugins {
			got.Plugins = append(got.Plugins, scenario.Plugin{Name: p.Name, Action: p.Action, Own: p.Own})
		}
		for _, f := range s.Faults {
			got.Faults = append(got.Faults, scenario.Fault{At: f.At, Do: f.Do})
			got.Faults[0].At.Nth = 0 // its default
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s.Object() != map[bool]string{true: "restore/restore-1", false: "backup/backup-1"}[len(s.Restores) > 0] {
			t.Errorf("%s is about %s", name, s.Object())
		}
	}
}

// Every scenario has the items, custom resources among them, and backs up all of their namespaces, in order.
func TestScenariosHaveTheItems(t *testing.T) {
	items, err := parse(volume, "apiVersion: v1\nkind: Secret\nmetadata: {namespace: aaa, name: token}\n", settings)
	if err != nil {
		t.Fatal(err)
	}
	all, err := contract.Scenarios(items, registering("BackupItemActionV2", "RestoreItemActionV2", "DeleteItemAction"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := contract.Direct(items)
	if err != nil {
		t.Fatal(err)
	}
	if direct.Metadata.Name != "plugin-called-directly" || len(direct.Plugins) > 0 || len(direct.Faults) > 0 || direct.Expect.Phase != "Completed" {
		t.Errorf("what is called directly: %+v", direct)
	}
	for _, s := range append(all, direct) {
		name := s.Metadata.Name
		if diff := cmp.Diff([]scenario.Item{"volumes.example.io/app/data", "secrets/aaa/token", "configmaps/app/settings"}, s.Items); diff != "" {
			t.Errorf("%s: items (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(items.Manifests, s.Manifests); diff != "" {
			t.Errorf("%s: manifests (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"aaa", "app"}, s.Backups[0].IncludedNamespaces); len(s.Backups) != 1 || diff != "" {
			t.Errorf("%s: %d backups, namespaces (-want +got):\n%s", name, len(s.Backups), diff)
		}
	}
}

// A name that no scenario can have is said, with the scenario.
func TestScenariosOfANameThatIsNone(t *testing.T) {
	items, err := parse(settings)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contract.Scenarios(items, []trace.Plugin{{Kind: "BackupItemActionV2", Name: "mover"}}, time.Minute); err == nil ||
		!regexp.MustCompile(`(?s)^failed to make the scenario backup-undisturbed: .*mover`).MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
}
