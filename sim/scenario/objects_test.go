package scenario_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
)

func parsed(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, errs := scenario.Parse("x.yaml", []byte(minimal+text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

const week = `
backups:
- {name: first, ttl: 1h}
- {name: second, at: {phase: InProgress, object: backup/first}}
- {name: third}
restores:
- {name: early, backup: third, at: {phase: New, object: backup/third}}
- {name: late, backup: daily-2}
schedules:
- {name: daily, every: 24h, backups: 2, template: {ttl: 3h}}
- {name: daily-late, every: 24h}
`

func TestObjects(t *testing.T) {
	const backup = "backup/backup-1"
	for _, test := range []struct {
		name, text     string
		object         string
		objects, order []string
	}{
		{"nothing said", "", backup, []string{backup}, []string{backup}},
		{"one backup", "backup: {name: b}", "backup/b", []string{"backup/b"}, []string{"backup/b"}},
		{"a restore", "restore: {}", "restore/restore-1", []string{backup, "restore/restore-1"}, []string{backup, "restore/restore-1"}},
		{"a schedule alone", "schedules: [{name: daily, every: 1h, backups: 2}]", "backup/daily-2", []string{"backup/daily-1", "backup/daily-2"}, nil},
		{
			"several", week, "restore/late",
			[]string{"backup/first", "backup/second", "backup/third", "backup/daily-1", "backup/daily-2", "backup/daily-late-1", "restore/early", "restore/late"},
			[]string{"backup/first", "backup/third", "restore/late"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parsed(t, test.text)
			if got := s.Object(); got != test.object {
				t.Errorf("Object() is %q, want %q", got, test.object)
			}
			if diff := cmp.Diff(test.objects, s.Objects()); diff != "" {
				t.Errorf("Objects() (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.order, s.Order()); diff != "" {
				t.Errorf("Order() (-want +got):\n%s", diff)
			}
		})
	}
	zero := new(scenario.Scenario)
	if zero.Object() != "" || zero.Objects() != nil || zero.Order() != nil {
		t.Error("the zero value has objects")
	}
}

func TestNamed(t *testing.T) {
	s := parsed(t, week)
	ttl := map[string]time.Duration{}
	for _, name := range []string{"first", "second", "daily-1", "daily-2", "daily-late-1", "daily-0", "daily-01", "daily-3", "daily", "daily-", "fourth", ""} {
		if spec := s.BackupNamed(name); spec != nil {
			ttl[name] = spec.TTL.Duration
		}
	}
	want := map[string]time.Duration{
		"first": time.Hour, "second": 720 * time.Hour, "daily-1": 3 * time.Hour, "daily-2": 3 * time.Hour, "daily-late-1": 720 * time.Hour,
	}
	if diff := cmp.Diff(want, ttl); diff != "" {
		t.Errorf("BackupNamed (-want +got):\n%s", diff)
	}
	if late, none := s.RestoreNamed("late"), s.RestoreNamed("first"); late == nil || late.Backup != "daily-2" || none != nil {
		t.Errorf("RestoreNamed: %v, %v", late, none)
	}
	if longest, expires := s.Expires(); !expires || longest != 3*time.Hour {
		t.Errorf("Expires() is %v, %t", longest, expires)
	}
	if _, expires := parsed(t, "backup: {ttl: 720h}").Expires(); expires {
		t.Error("a backup kept as long as without a ttl expires")
	}
}

func TestScheduleOf(t *testing.T) {
	s := parsed(t, week)
	for backup, want := range map[string]string{
		"daily-20261130080000": "daily", "daily-late-20261130080000": "daily-late", "daily-1": "", "daily-2026113008000": "",
		"daily-202611300800000": "", "daily-2026113008000x": "", "first-20261130080000": "", "first": "", "": "",
	} {
		got := ""
		if x := s.ScheduleOf(backup); x != nil {
			got = x.Name
		}
		if got != want {
			t.Errorf("ScheduleOf(%q) is %q, want %q", backup, got, want)
		}
	}
}

func TestNaming(t *testing.T) {
	n := scenario.NewNaming(parsed(t, week))
	if got := n.In("backup/daily-1"); got != "backup/daily-1" {
		t.Errorf("before it is there, the cluster's name is %q", got)
	}
	for _, step := range []struct{ in, of string }{
		{"backup/daily-20261130080000", "backup/daily-1"},
		{"backup/daily-late-20261130080000", "backup/daily-late-1"},
		{"backup/daily-20261201080000", "backup/daily-2"},
		{"backup/daily-20261130080000", "backup/daily-1"}, // as before
		{"backup/daily-20261202080000", "backup/daily-3"}, // more than the scenario speaks of
		{"backup/first", "backup/first"},
		{"restore/daily-20261130080000", "restore/daily-20261130080000"},
		{"configmaps/app/settings", "configmaps/app/settings"},
		{"", ""},
	} {
		if got := n.Of(step.in); got != step.of {
			t.Errorf("Of(%q) is %q, want %q", step.in, got, step.of)
		}
		if got := n.In(step.of); got != step.in {
			t.Errorf("In(%q) is %q, want %q", step.of, got, step.in)
		}
	}
	again := scenario.NewNaming(parsed(t, week))
	if got := again.Of("backup/daily-20261201080000"); got != "backup/daily-1" {
		t.Errorf("a naming knows of another's objects: %q", got)
	}
}

// TestNamingConcurrent is for the race detector; the names stay one to one.
func TestNamingConcurrent(t *testing.T) {
	n := scenario.NewNaming(parsed(t, week))
	names := make([]string, 50)
	var wg sync.WaitGroup
	for i := range names {
		wg.Go(func() {
			in := fmt.Sprintf("backup/daily-202611300800%02d", i)
			names[i] = n.Of(in)
			if got := n.In(names[i]); got != in {
				t.Errorf("In(%q) is %q, want %q", names[i], got, in)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("%s is the name of two", name)
		}
		seen[name] = true
	}
}

func TestManifestItem(t *testing.T) {
	metadata := map[string]any{"namespace": "app", "name": "web"}
	for _, test := range []struct {
		name     string
		manifest scenario.Manifest
		want     scenario.Item
	}{
		{"a pod", scenario.Manifest{"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, "pods/app/web"},
		{"of a group", scenario.Manifest{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}, "deployments/app/web"},
		{"of a kind that worlds need not have", scenario.Manifest{"apiVersion": "example.io/v1", "kind": "Gadget", "metadata": metadata}, "gadgets.example.io/app/web"},
		{"no kind", scenario.Manifest{"apiVersion": "v1", "metadata": metadata}, ""},
		{"no namespace", scenario.Manifest{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web"}}, ""},
		{"no name", scenario.Manifest{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "app"}}, ""},
		{"a name of another type", scenario.Manifest{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "app", "name": 1}}, ""},
		{"metadata of another type", scenario.Manifest{"apiVersion": "v1", "kind": "Pod", "metadata": "web"}, ""},
		{"nothing", nil, ""},
	} {
		if got, ok := test.manifest.Item(); got != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %t; want %q", test.name, got, ok, test.want)
		}
	}
	s := parsed(t, `
items: [configmaps/app/settings]
manifests: [{apiVersion: v1, kind: Pod, metadata: {namespace: app, name: web}, spec: {priority: 1}}]
`)
	if diff := cmp.Diff([]scenario.Item{"configmaps/app/settings", "pods/app/web"}, s.Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if m := s.Manifest("pods/app/web"); m == nil || m["spec"] == nil {
		t.Errorf("the pod's manifest is %v", m)
	}
	if m := s.Manifest("configmaps/app/settings"); m != nil {
		t.Errorf("an item written in short has a manifest: %v", m)
	}
}
