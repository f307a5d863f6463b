package plan_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
