package plan_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plan"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// learned is a scenario of testdata, and the trace of its run on virtual, with the steps that show in it.
type learned struct {
	file     []byte
	scenario *scenario.Scenario
	trace    trace.Trace
}

func load(t *testing.T, name string) learned {
	t.Helper()
	l := learned{}
	var err error
	if l.file, err = os.ReadFile(filepath.Join("testdata", name+".yaml")); err != nil {
		t.Fatal(err)
	}
	var errs scenario.Errors
	if l.scenario, errs = scenario.Parse(name+".yaml", l.file); len(errs) > 0 {
		t.Fatal(errs)
	}
	f, err := os.Open(filepath.Join("testdata", name+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if l.trace, err = trace.Read(f, name); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l learned) plans(t *testing.T, families ...plan.Family) []plan.Plan {
	t.Helper()
	plans, err := plan.Plans(l.file, l.scenario, plan.Learn(l.scenario, l.trace), families)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// TestPlans compares the plans with testdata: what is planned, and why the rest is pruned. What is to be run has a name of its own, and is
// the file that it says.
func TestPlans(t *testing.T) {
	for _, name := range []string{"backup", "restore"} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			seen := map[string]bool{}
			for _, p := range load(t, name).plans(t, plan.Families()...) {
				if p.Pruned != "" {
					fmt.Fprintf(&got, "%s\n  pruned: %s\n", p.Name, p.Pruned)
					continue
				}
				_, about, _ := strings.Cut(strings.Join(strings.Fields(p.Scenario.Description), " "), ": ")
				about, _, _ = strings.Cut(about, ". ")
				fmt.Fprintf(&got, "%s\n  %s\n", p.Name, about)
				s, errs := scenario.Parse(p.Name, p.File)
				if len(errs) > 0 {
					t.Errorf("%s: %v", p.Name, errs)
					continue
				}
				if diff := cmp.Diff(p.Scenario, s); diff != "" || s.Metadata.Name != p.Name || seen[p.Name] {
					t.Errorf("%s (seen before: %v) (-scenario +file):\n%s", p.Name, seen[p.Name], diff)
				}
				seen[p.Name] = true
			}
			golden(t, filepath.Join("testdata", name+".golden"), got.Bytes())
		})
	}
}

// TestFiles compares the whole files of a few plans with testdata.
func TestFiles(t *testing.T) {
	var got bytes.Buffer
	for _, p := range load(t, "backup").plans(t, plan.Families()...) {
		if slices.Contains([]string{
			"backup--kill-after-patch-waiting", "backup--lose-reply-of-patch-deletion-processed", "backup--fail-put-itemoperations-waiting-2",
			"backup--hang-execute-mover-in-progress", "backup--crash-progress-vault-waiting",
		}, p.Name) {
			fmt.Fprintf(&got, "%s\n", p.File)
		}
	}
	golden(t, filepath.Join("testdata", "files.golden"), got.Bytes())
}

func TestFamilies(t *testing.T) {
	for _, p := range load(t, "backup").plans(t, plan.Kill) {
		if p.Pruned == "" && !strings.HasPrefix(p.Action, "kill-") {
			t.Errorf("%s is no kill", p.Name)
		}
	}
}

// TestSample: every action is there at every change of phase at which it was before, once.
func TestSample(t *testing.T) {
	type edge struct{ action, from, to string }
	count := func(plans []plan.Plan) map[edge]int {
		n := map[edge]int{}
		for _, p := range plans {
			if p.Pruned == "" {
				n[edge{p.Action, p.Step.Phase, p.Step.To}]++
			}
		}
		return n
	}
	plans := load(t, "backup").plans(t, plan.Store, plan.Refuse)
	want := count(plans)
	for e := range want {
		want[e] = 1
	}
	plan.Sample(plans)
	if diff := cmp.Diff(want, count(plans)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLongNames: a plan's name is a DNS label, whatever the scenario's is, and tells scenarios apart.
func TestLongNames(t *testing.T) {
	seen := map[string]bool{}
	for _, end := range []string{"one", "two"} {
		l := load(t, "backup")
		l.scenario.Metadata.Name = strings.Repeat("long-", 11) + end
		for _, p := range l.plans(t, plan.Store, plan.Refuse) {
			if p.Pruned != "" {
				continue
			}
			if len(p.Name) > 63 || seen[p.Name] || !strings.HasPrefix(p.Name, "long-") {
				t.Errorf("%s: %d characters, seen before: %v", p.Name, len(p.Name), seen[p.Name])
			}
			seen[p.Name] = true
		}
	}
}

// TestWritesOfAPlugin: what a plugin writes of an item that something is expected of is a step like the server's own, and the plans expect the
// same of it, unless a restore makes it.
func TestWritesOfAPlugin(t *testing.T) {
	const file = `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: plugin}
items: [configmaps/app/settings, secrets/app/token]
plugins: [{name: example.io/quiesce, action: PreBackupAction}, {name: example.io/quiesce, action: PostBackupAction}]
expect: {phase: Completed, manifests: [{apiVersion: v1, kind: Secret, metadata: {namespace: app, name: token}, data: {key: dmFsdWU=}}]}
`
	s, errs := scenario.Parse("plugin.yaml", []byte(file))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var tr trace.Trace
	add := func(incarnation int, object string, b trace.Body) {
		tr.Events = append(tr.Events, trace.Event{Seq: len(tr.Events) + 1, Incarnation: incarnation, Object: object, Body: b})
	}
	add(0, "backup/backup-1", trace.Body{Created: &trace.Created{}})
	add(1, "backup/backup-1", trace.Body{Phase: &trace.Phase{To: "InProgress"}})
	for i, item := range []string{"configmaps/app/settings", "secrets/app/token", "secrets/app/token"} {
		add(1, item, trace.Body{Write: &trace.Write{Client: "velosim.io/quiesce", Verb: "update", ResourceVersion: strconv.Itoa(i + 1)}})
	}
	add(0, "secrets/app/token", trace.Body{Write: &trace.Write{Client: "user", Verb: "update", ResourceVersion: "9"}})
	var got []string
	plans, err := plan.Plans([]byte(file), s, plan.Learn(s, tr), []plan.Family{plan.Kill})
	for _, p := range plans {
		if p.Pruned != "" {
			got = append(got, "pruned: "+p.Step.At.Write.Object)
			continue
		}
		got = append(got, p.Name)
		if diff := cmp.Diff(s.Expect.Manifests, p.Scenario.Expect.Manifests); diff != "" || p.Scenario.Expect.Phase != "" || p.Step.Object != "backup/backup-1" {
			t.Errorf("%s, of %s, ends %q; manifests (-scenario +plan):\n%s", p.Name, p.Step.Object, p.Scenario.Expect.Phase, diff)
		}
	}
	want := []string{
		"pruned: configmaps/app/settings", "pruned: configmaps/app/settings", "plugin--kill-before-update-token", "plugin--kill-after-update-token",
		"plugin--kill-before-update-token-2", "plugin--kill-after-update-token-2",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	if _, err := plan.Plans([]byte("{"), &scenario.Scenario{}, nil, plan.Families()); err == nil {
		t.Error("no error")
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; run with -update (-file +got):\n%s", path, diff)
	}
}
