package contract_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

// verdictOn is what a check must say of some evidence.
type verdictOn struct {
	check, about string
	evidence     contract.Evidence
	outcome      contract.Outcome
	seen         []string
}

// table has, for each check, evidence that fails it, what is nearest to that and passes, and what tells nothing.
func table() []verdictOn {
	return slices.Concat(processCases(), itemCases(), operationCases(), progressCases(), cancelCases(), serverCases())
}

func TestChecks(t *testing.T) {
	for _, tt := range table() {
		t.Run(tt.check+"/"+tt.about, func(t *testing.T) {
			got := judged(t, tt.check, tt.evidence)
			if got.Outcome != tt.outcome {
				t.Errorf("%s, want %s", got.Outcome, tt.outcome)
			}
			if diff := cmp.Diff(tt.seen, got.Evidence); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}

// judged is the check on the card.
func judged(t *testing.T, check string, e contract.Evidence) contract.Checked {
	t.Helper()
	card := contract.Judge("./mover", e)
	i := slices.IndexFunc(card.Checks, func(c contract.Checked) bool { return c.Name == check })
	if i < 0 {
		t.Fatalf("there is no check %s", check)
	}
	return card.Checks[i]
}

// A new check needs its cases in the table.
func TestTableHasEveryCheck(t *testing.T) {
	all := table()
	for _, c := range contract.Suite() {
		for _, outcome := range []contract.Outcome{contract.Fail, contract.Pass} {
			if !slices.ContainsFunc(all, func(v verdictOn) bool { return v.check == c.Name && v.outcome == outcome }) {
				t.Errorf("the table has no evidence for %s that comes to %s", c.Name, outcome)
			}
		}
	}
	seen := map[string]bool{}
	for _, v := range all {
		if seen[v.check+"/"+v.about] {
			t.Errorf("%s/%s is there twice", v.check, v.about)
		}
		seen[v.check+"/"+v.about] = true
	}
}

func TestSuiteIsWhole(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, c := range contract.Suite() {
		if !kebab.MatchString(c.Name) {
			t.Errorf("%q is no name like progress-monotone", c.Name)
		}
		if seen[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		seen[c.Name] = true
		for what, text := range map[string]string{"Demands": c.Demands, "Source": c.Source, "Velero": c.Velero, "Fix": c.Fix} {
			if text == "" {
				t.Errorf("%s has no %s", c.Name, what)
			}
		}
		if named, ok := contract.Named(c.Name); !ok || named.Name != c.Name {
			t.Errorf("Named(%s): %s, %t", c.Name, named.Name, ok)
		}
	}
	if c, ok := contract.Named("no-such-check"); ok {
		t.Errorf("Named(no-such-check): %s", c.Name)
	}
}

// What was not looked at is neither good nor bad.
func TestNoEvidence(t *testing.T) {
	for _, c := range contract.Judge("./mover", contract.Evidence{}).Checks {
		if c.Outcome != contract.NotApplicable || len(c.Evidence) != 1 {
			t.Errorf("%s: %s, %q", c.Name, c.Outcome, c.Evidence)
		}
	}
}

// A plugin that does as it should has no check that fails, and only those of a server do not tell.
func TestHealthy(t *testing.T) {
	server := []string{"server-completes", "server-times-out", "server-killed", "server-deletes"}
	card := contract.Judge("./mover", healthy().direct())
	for _, c := range card.Checks {
		want := contract.Pass
		if slices.Contains(server, c.Name) {
			want = contract.NotApplicable
		}
		if c.Outcome != want {
			t.Errorf("%s: %s, want %s: %q", c.Name, c.Outcome, want, c.Evidence)
		}
	}
	if card.Outcome() != contract.Pass {
		t.Errorf("the card: %s", card.Outcome())
	}
}
