package contract_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// FuzzJudge feeds Judge any traces that JSON can write: it must not panic, every check must say why, and the card must be the same each time.
func FuzzJudge(f *testing.F) {
	seed := func(direct, run trace.Trace, name string, r verdict.Result) {
		a, err := json.Marshal(direct)
		if err != nil {
			f.Fatal(err)
		}
		b, err := json.Marshal(run)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a, b, name, string(r))
	}
	server := func() *script { return calls().processOf("backup/backup-1") }
	seed(healthy().trace(), server().execute(itemA, "a").cancel("a").trace(), "backup-times-out", verdict.Pass)
	seed(trace.Trace{}, server().execute(itemA, "a").phases("WaitingForPluginOperations").trace(), "backup-server-killed", verdict.Inconclusive)
	seed(
		calls(backupAction).process(exercise.Concurrent).calling("Execute", itemA).ends("killed").trace(),
		server().panics("Progress", "a").ends("exited").trace(), "backup-undisturbed", verdict.Fail,
	)
	seed(calls(backupAction).process(exercise.Fitting).execute(itemA, "a").calling("Progress", "a").returns(trace.Return{}).
		process(exercise.Fitting).progress("a", trace.Progress{}).trace(), trace.Trace{}, "", verdict.Pass) // an answer without progress
	for _, v := range table() {
		if len(v.evidence.Runs) == 0 {
			seed(v.evidence.Direct, trace.Trace{}, "backup-deleted", verdict.KnownDeviation)
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte, name, result string) {
		var direct, run trace.Trace
		if json.Unmarshal(a, &direct) != nil || json.Unmarshal(b, &run) != nil {
			t.Skip("no traces")
		}
		e := evidence(direct, new(script).run(name, "Completed", verdict.Verdict{
			Result: verdict.Result(result), Findings: []verdict.Finding{{Oracle: "liveness", Expected: "an end", Seen: "none"}},
		}))
		e.Runs[0].Trace = run
		card := contract.Judge("./mover", e)
		if diff := cmp.Diff(card, contract.Judge("./mover", e)); diff != "" {
			t.Errorf("another card of the same evidence (-first +second):\n%s", diff)
		}
		outcomes := []contract.Outcome{contract.Pass, contract.Fail, contract.Inconclusive, contract.NotApplicable}
		for _, c := range card.Checks {
			if !slices.Contains(outcomes, c.Outcome) || len(c.Evidence) == 0 {
				t.Errorf("%s: %q, with evidence %q", c.Name, c.Outcome, c.Evidence)
			}
		}
		for _, c := range contract.Suite() {
			c.Of(mover, e.Runs...)
		}
		if _, err := json.Marshal(card); err != nil {
			t.Error(err)
		}
	})
}
