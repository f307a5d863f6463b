package contract_test

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

const noOperation = "there was no operation"

func operationCases() []verdictOn {
	return slices.Concat(idCases(), knownCases(), endCases(), concurrencyCases())
}

func idCases() []verdictOn {
	const name = "operation-id-unique"
	run := calls().processOf("backup/backup-1").execute(itemA, "a").execute(itemB, "a").run("backup-undisturbed", "Completed", verdict.Verdict{})
	shared := []string{"example.io/mover: operation a is that of configmaps/app/a, and of configmaps/app/b"}
	fitting := func() *script { return calls(backupAction).process(exercise.Fitting).execute(itemA, "a") }
	return []verdictOn{
		{name, "one of two items", fitting().execute(itemB, "a").direct(), contract.Fail, shared},
		{name, "one of two items on a server", evidence(trace.Trace{}, run), contract.Fail, shared},
		{name, "each its own", fitting().execute(itemB, "b").direct(), contract.Pass, []string{"2 operations"}},
		{
			name, "another backup's may have the same", fitting().process(exercise.Concurrent).execute(itemA, "a").direct(),
			contract.Pass,
			[]string{"2 operations"},
		},
		{
			name, "another plugin's may have the same", fitting().of("example.io/other").execute(itemA, "a").direct(),
			contract.Pass,
			[]string{"2 operations"},
		},
		{name, "none", calls(backupAction).process(exercise.Fitting).execute(itemA, "").direct(), contract.NotApplicable, []string{noOperation}},
	}
}

func knownCases() []verdictOn {
	const name = "operation-id-in-new-process"
	started := func() *script { return calls(backupAction).process(exercise.Fitting).execute(itemA, "a") }
	return []verdictOn{
		{
			name, "the next process has no progress",
			started().progress("a", under(1)).process(exercise.Fitting).progress("a", trace.Progress{}).direct(), contract.Fail,
			[]string{"example.io/mover at 10s of fitting: Progress a in phase InProgress: 0 of 0; and the process that has started it: 1 of 4"},
		},
		{
			name, "the next process has an error", started().process(exercise.Fitting).fails("Progress", "a").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of fitting: Progress a in phase InProgress: error: no"},
		},
		{
			name, "the next process has an error, and the first has none",
			started().progress("a", under(1)).process(exercise.Fitting).fails("Progress", "a").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of fitting: Progress a in phase InProgress: error: no"},
		},
		{
			name, "it is forgotten when it has ended",
			started().progress("a", completed()).process(exercise.Fitting).fails("Progress", "a").direct(), contract.Pass,
			[]string{"1 operation"},
		},
		{
			name, "it is forgotten when it was cancelled",
			started().progress("a", under(1)).cancel("a").wait(time.Second).process(exercise.Fitting).fails("Progress", "a").direct(),
			contract.Pass,
			[]string{"1 operation"},
		},
		{
			name, "a server is killed while it asks", evidence(trace.Trace{}, calls().processOf("backup/backup-1").execute(itemA, "a").
				calling("Progress", "a").ends("killed").run("backup-server-killed", "Completed", verdict.Verdict{})),
			contract.Pass,
			[]string{"1 operation"},
		},
		{
			name, "the next process has the same progress", started().progress("a", under(1)).process(exercise.Fitting).progress("a", under(1)).direct(),
			contract.Pass,
			[]string{"1 operation"},
		},
		{
			name, "progress that is not known, ever",
			started().progress("a", trace.Progress{}).process(exercise.Fitting).progress("a", trace.Progress{}).direct(),
			contract.Pass,
			[]string{"1 operation"},
		},
		{name, "not asked for", started().direct(), contract.NotApplicable, []string{noOperation}},
	}
}

func endCases() []verdictOn {
	const name = "operation-completes"
	started := func(of string) *script { return calls(backupAction).process(of).execute(itemA, "a").wait(time.Second) }
	return []verdictOn{
		{
			name, "it fails", started(exercise.Fitting).progress("a", failed()).direct(),
			contract.Fail,
			[]string{"example.io/mover at 11s of fitting: Progress a in phase InProgress: 2 of 4, completed, error: cancelled"},
		},
		{name, "it succeeds", started(exercise.Fitting).progress("a", completed()).direct(), contract.Pass, []string{"1 operation"}},
		{
			name, "it goes on", started(exercise.Fitting).progress("a", under(1)).wait(time.Second).progress("a", under(2)).direct(),
			contract.Inconclusive,
			[]string{"it has not ended in 30s: example.io/mover at 12s of fitting: Progress a in phase InProgress: 2 of 4"},
		},
		{
			name, "one fails, and one goes on",
			started(exercise.Fitting).execute(itemB, "b").progress("a", under(1)).progress("b", failed()).direct(),
			contract.Fail,
			[]string{"example.io/mover at 11s of fitting: Progress b in phase InProgress: 2 of 4, completed, error: cancelled"},
		},
		{
			name, "it fails when it is cancelled", started(exercise.Cancelled).progress("a", failed()).direct(),
			contract.NotApplicable,
			[]string{noOperation},
		},
	}
}

func concurrencyCases() []verdictOn {
	const name = "concurrent-operations"
	alone := func() *script {
		return calls(backupAction).process(exercise.Fitting).execute(itemA, "a").execute(itemB, "b")
	}
	together := func() *script { return alone().process(exercise.Concurrent).execute(itemA, "a") }
	return []verdictOn{
		{
			name, "an error", together().fails("Execute", itemB).direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of concurrent: Execute configmaps/app/b in phase InProgress: error: no"},
		},
		{
			name, "it hangs", together().calling("Execute", itemB).ends("killed").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of concurrent: Execute configmaps/app/b in phase InProgress: it has not returned"},
		},
		{
			name, "an operation less", together().execute(itemB, "").direct(),
			contract.Fail,
			[]string{"one after another, 2 operations were started; at the same time, 1 operation"},
		},
		{
			name, "an operation is overwritten", together().execute(itemB, "a").direct(),
			contract.Fail,
			[]string{"one after another, 2 operations were started; at the same time, 1 operation"},
		},
		{
			name, "an operation fails", together().execute(itemB, "b").progress("b", failed()).direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of concurrent: Progress b in phase InProgress: 2 of 4, completed, error: cancelled"},
		},
		{name, "as one after another", together().execute(itemB, "b").progress("b", completed()).direct(), contract.Pass, []string{"2 calls"}},
		{
			name, "not one after another, either", calls(backupAction).process(exercise.Fitting).fails("Execute", itemA).
				process(exercise.Concurrent).fails("Execute", itemA).direct(),
			contract.Inconclusive,
			[]string{"Execute does not succeed for one item after another"},
		},
		{
			name, "one item", calls(backupAction).process(exercise.Fitting).execute(itemA, "a").process(exercise.Concurrent).execute(itemA, "a").direct(),
			contract.Inconclusive,
			[]string{"there is but one item that it applies to: bring several with --items"},
		},
		{name, "no item", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no call"}},
	}
}
