package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

func TestCardSaysWhatWasJudged(t *testing.T) {
	direct := calls(backupAction, deleteAction).trace()
	run := calls().processOf("backup/backup-1").run("backup-undisturbed", "Completed", ended("Completed"))
	run.Trace.Header.Build = "c"
	card := contract.Judge("./mover", evidence(direct, run))
	checks := card.Checks
	card.Checks = nil
	want := contract.Card{
		Plugin: "./mover", Registers: []string{"BackupItemActionV2 example.io/mover", "DeleteItemAction example.io/mover"},
		World: "envtest", Velero: "1.18.3", Build: "c",
	}
	if diff := cmp.Diff(want, card); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	for i, c := range contract.Suite() {
		got := checks[i]
		got.Outcome, got.Evidence = "", nil
		if diff := cmp.Diff(contract.Checked{Name: c.Name, Demands: c.Demands, Source: c.Source, Velero: c.Velero, Fix: c.Fix}, got); diff != "" {
			t.Errorf("check %d (-want +got):\n%s", i+1, diff)
		}
	}
}

// Calls of the server's own process, such as they are, are none of a plugin's.
func TestTheServerIsNoPlugin(t *testing.T) {
	run := calls().of("server").processOf("backup/backup-1").ends("killed").run("backup-server-killed", "Completed", ended("Completed"))
	if got := judged(t, "exits", of(run)); got.Outcome != contract.NotApplicable {
		t.Errorf("exits: %s, %q", got.Outcome, got.Evidence)
	}
}

func TestEvidenceIsCutShort(t *testing.T) {
	for n, last := range map[int]string{4: "file 4", 5: "and 1 other", 6: "and 2 others"} {
		s := calls(backupAction)
		for i := range n {
			s.left(trace.Left{File: fmt.Sprintf("file %d", i+1)})
		}
		got := judged(t, "no-files-left", s.direct()).Evidence
		if len(got) != min(n, 5) || got[3] != "file 4" || got[len(got)-1] != last {
			t.Errorf("of %d files: %q", n, got)
		}
	}
}

// A line of evidence stays readable, and whole in its characters, however long what the plugin has said.
func TestEvidenceIsReadable(t *testing.T) {
	for length, want := range map[int]string{400: strings.Repeat("x", 400), 401: strings.Repeat("x", 400) + "…"} {
		got := judged(t, "no-files-left", calls(backupAction).left(trace.Left{File: strings.Repeat("x", length)}).direct()).Evidence
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("of %d bytes (-want +got):\n%s", length, diff)
		}
	}
	wide := strings.Repeat("x", 399) + "€uro"
	got := judged(t, "no-files-left", calls(backupAction).left(trace.Left{File: wide}).direct()).Evidence
	if diff := cmp.Diff([]string{strings.Repeat("x", 399) + "…"}, got); diff != "" {
		t.Errorf("cut within a character (-want +got):\n%s", diff)
	}
}

func TestOutcomeOfACard(t *testing.T) {
	for _, tt := range []struct {
		checks []contract.Outcome
		want   contract.Outcome
	}{
		{[]contract.Outcome{contract.Inconclusive, contract.Fail, contract.Pass}, contract.Fail},
		{[]contract.Outcome{contract.Pass, contract.Inconclusive, contract.NotApplicable}, contract.Inconclusive},
		{[]contract.Outcome{contract.Pass, contract.NotApplicable, contract.Pass}, contract.Pass},
	} {
		var card contract.Card
		for _, o := range tt.checks {
			card.Checks = append(card.Checks, contract.Checked{Outcome: o})
		}
		if got := card.Outcome(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.checks, got, tt.want)
		}
	}
	card := contract.Card{Checks: []contract.Checked{{Outcome: contract.Pass}, {Outcome: contract.Fail}, {Outcome: contract.Pass}}}
	if pass, unclear := card.Count(contract.Pass), card.Count(contract.Inconclusive); pass != 2 || unclear != 0 {
		t.Errorf("%d pass and %d are inconclusive, want 2 and 0", pass, unclear)
	}
}

// Of looks at one plugin of a run, and not at the others that it has.
func TestOfLooksAtOnePlugin(t *testing.T) {
	const other = "example.io/other"
	s := calls().processOf("backup/backup-1").execute(itemA, "a").progress("a", under(2)).progress("a", under(3))
	s.of(other).execute(itemA, "a").progress("a", under(2)).progress("a", under(1))
	run := s.run("mine", "Completed", ended("Completed"))
	c, _ := contract.Named("progress-monotone")
	for plugin, want := range map[string]contract.Checked{
		mover:             {Outcome: contract.Pass, Evidence: []string{"1 operation"}},
		"example.io/none": {Outcome: contract.NotApplicable, Evidence: []string{noOperation}},
		other: {Outcome: contract.Fail, Evidence: []string{
			"example.io/other at 10s of mine: Progress a in phase InProgress: 1 of 4; and before: 2 of 4",
		}},
	} {
		want.Name, want.Demands, want.Source, want.Velero, want.Fix = c.Name, c.Demands, c.Source, c.Velero, c.Fix
		if diff := cmp.Diff(want, c.Of(plugin, run)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", plugin, diff)
		}
	}
	if got := c.Of(mover); got.Outcome != contract.NotApplicable {
		t.Errorf("of no run: %s", got.Outcome)
	}
}

// Operations of several runs are others, whatever their IDs; and a run's object is no exercise, whatever its name.
func TestOfLooksAtEachRunAlone(t *testing.T) {
	first := calls().processOf("backup/"+exercise.Fitting).execute(itemA, "a").progress("a", completed()).run("one", "Completed", ended("Completed"))
	second := calls().processOf("backup/"+exercise.Fitting).execute(itemB, "a").progress("a", failed()).run("two", "Completed", ended("Completed"))
	for check, want := range map[string]contract.Outcome{
		"operation-id-unique": contract.Pass, "completed-is-final": contract.Pass,
		"operation-completes": contract.NotApplicable, "execute": contract.NotApplicable,
	} {
		c, _ := contract.Named(check)
		if got := c.Of(mover, first, second); got.Outcome != want {
			t.Errorf("%s: %s, want %s: %q", check, got.Outcome, want, got.Evidence)
		}
	}
}

// Calls that overlap return in any order, and the IDs of calls are those of one trace.
func TestReturnsFindTheirCalls(t *testing.T) {
	s := calls(backupAction).process(exercise.Concurrent).calling("Execute", itemA).calling("Execute", itemB)
	s.returnsFrom(1, trace.Return{Operation: "a"}).returnsFrom(2, trace.Return{Operation: "a"})
	s.returnsFrom(2, trace.Return{Operation: "b"}).returnsFrom(7, trace.Return{Operation: "c"}) // nobody waits for these
	open := calls().processOf("backup/backup-1").calling("Execute", itemA).run("backup-undisturbed", "Completed", verdict.Verdict{})
	got := judged(t, "operation-id-unique", evidence(s.trace(), open))
	want := []string{"example.io/mover: operation a is that of configmaps/app/a, and of configmaps/app/b"}
	if diff := cmp.Diff(want, got.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}
