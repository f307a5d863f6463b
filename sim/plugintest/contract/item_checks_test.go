package contract_test

import (
	"slices"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

const bring = "there is no item that it applies to: bring some with --items"

func itemCases() []verdictOn { return slices.Concat(selectorCases(), executeCases(), anyItemCases()) }

func selectorCases() []verdictOn {
	const name = "applies-to"
	twice := func(first, second string) *script {
		return calls(backupAction).process(exercise.Processes).selects(first).process(exercise.Processes).selects(second)
	}
	fits := func(s *script) contract.Evidence { return s.process(exercise.Fitting).execute(itemA, "").direct() }
	restore := "restore/" + exercise.Processes
	return []verdictOn{
		{
			name, "an error", fits(calls(backupAction).process(exercise.Processes).fails("AppliesTo", "")),
			contract.Fail,
			[]string{"example.io/mover at 10s of processes: AppliesTo: error: no"},
		},
		{
			name, "it hangs", calls(backupAction).process(exercise.Processes).calling("AppliesTo", "").ends("killed").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of processes: AppliesTo: it has not returned"},
		},
		{
			name, "something else in the next process", fits(twice("configmaps", "secrets")),
			contract.Fail,
			[]string{`example.io/mover selects "configmaps" in one process, and "secrets" in the next`},
		},
		{
			name, "no selector", fits(twice("pods labelled app=(", "pods labelled app=(")),
			contract.Fail,
			[]string{`example.io/mover selects "app=(", which is no selector: ` +
				"unable to parse requirement: found '(', expected: identifier"},
		},
		{name, "alike", fits(twice("pods labelled app=web", "pods labelled app=web")), contract.Pass, []string{"2 calls"}},
		{
			name, "a restore's action selects something else",
			fits(twice("pods", "pods").processOf(restore).selects("secrets").processOf(restore).selects("secrets")),
			contract.Pass,
			[]string{"4 calls"},
		},
		{name, "nothing fits", twice("pods", "pods").direct(), contract.Inconclusive, []string{bring}},
		{name, "it was not asked", calls("ObjectStore").direct(), contract.NotApplicable, []string{"there was no call"}},
	}
}

func executeCases() []verdictOn {
	fitting := func() *script { return calls(backupAction).process(exercise.Fitting) }
	const name, keeps = "execute", "execute-keeps-item"
	gives := func(of string, r trace.Return) contract.Evidence {
		return calls(backupAction).process(of).calling("Execute", itemA).returns(r).direct()
	}
	lost := []string{"example.io/mover: Execute of configmaps/app/a has returned none"}
	return []verdictOn{
		{
			name, "an error", fitting().execute(itemB, "b").fails("Execute", itemA).direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of fitting: Execute configmaps/app/a in phase InProgress: error: no"},
		},
		{
			name, "it hangs", fitting().calling("Execute", itemA).ends("killed").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of fitting: Execute configmaps/app/a in phase InProgress: it has not returned"},
		},
		{name, "it succeeds", fitting().execute(itemB, "b").execute(itemA, "").direct(), contract.Pass, []string{"2 calls"}},
		{
			name, "an error of another exercise", fitting().execute(itemA, "").process(exercise.Foreign).fails("Execute", itemB).direct(),
			contract.Pass,
			[]string{"1 call"},
		},
		{name, "nothing fits", calls(backupAction).direct(), contract.Inconclusive, []string{bring}},
		{name, "it is no item action", calls("ObjectStore").direct(), contract.NotApplicable, []string{"it registers no item action, and plugins of other kinds are started, but not called"}},

		{keeps, "none of an item that fits", gives(exercise.Fitting, trace.Return{Item: "none"}), contract.Fail, lost},
		{keeps, "none of a foreign item", gives(exercise.Foreign, trace.Return{Item: "none"}), contract.Fail, lost},
		{
			keeps, "another", gives(exercise.Fitting, trace.Return{Item: itemB}),
			contract.Fail,
			[]string{"example.io/mover: Execute of configmaps/app/a has returned configmaps/app/b"},
		},
		{keeps, "the same", gives(exercise.Fitting, trace.Return{}), contract.Pass, []string{"1 call"}},
		{keeps, "none with an error", gives(exercise.Fitting, trace.Return{Item: "none", Error: "no"}), contract.Pass, []string{"1 call"}},
		{keeps, "nothing fits", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no call"}},
	}
}

func anyItemCases() []verdictOn {
	const foreign, large, finalizing, all = "execute-foreign", "large-item", "no-operation-finalizing", "calls-return"
	on := func(of string) *script { return calls(backupAction).process(of) }
	none := func(name, thing string) verdictOn {
		return verdictOn{name, "it was not called", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no " + thing}}
	}
	run := calls().processOf("backup/backup-1").in("FinalizingPartiallyFailed").execute(itemA, "a")
	open := calls().processOf("backup/backup-1").calling("Execute", itemA)
	return []verdictOn{
		{
			foreign, "a panic", on(exercise.Foreign).panics("Execute", itemA).direct(), contract.Fail,
			[]string{"example.io/mover at 10s of foreign: Execute configmaps/app/a in phase InProgress: error: plugin panicked: nil map"},
		},
		{
			foreign, "it hangs", on(exercise.Foreign).calling("Execute", itemA).ends("killed").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of foreign: Execute configmaps/app/a in phase InProgress: it has not returned"},
		},
		{foreign, "an error", on(exercise.Foreign).fails("Execute", itemA).direct(), contract.Pass, []string{"1 call"}},
		none(foreign, "call"),

		{
			large, "an error", on(exercise.Large).fails("Execute", itemA).direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of large: Execute configmaps/app/a in phase InProgress: error: no"},
		},
		{large, "it succeeds", on(exercise.Large).execute(itemA, "").direct(), contract.Pass, []string{"1 call"}},
		none(large, "call"),

		{
			finalizing, "an operation", on(exercise.Finalizing).in("Finalizing").execute(itemA, "a").direct(),
			contract.Fail,
			[]string{"example.io/mover at 10s of finalizing: Execute configmaps/app/a in phase Finalizing: operation a"},
		},
		{
			finalizing, "an operation of a server's backup", evidence(trace.Trace{}, run.run("backup-undisturbed", "Completed", verdict.Verdict{})),
			contract.Fail,
			[]string{"example.io/mover at 10s of backup-undisturbed: Execute configmaps/app/a in phase FinalizingPartiallyFailed: operation a"},
		},
		{
			finalizing, "no operation", on(exercise.Finalizing).in("Finalizing").execute(itemA, "").direct(),
			contract.Pass,
			[]string{"1 call in such a phase"},
		},
		{
			finalizing, "an operation before", on(exercise.Fitting).execute(itemA, "a").direct(),
			contract.NotApplicable,
			[]string{"there was no call in such a phase"},
		},

		{
			all, "one hangs", on(exercise.Large).calling("Execute", itemA).ends("killed").direct(), contract.Fail,
			[]string{"example.io/mover at 10s of large: Execute configmaps/app/a in phase InProgress: it has not returned within 10s"},
		},
		{all, "all return", on(exercise.Large).fails("Execute", itemA).direct(), contract.Pass, []string{"1 call"}},
		{
			all, "one is cut short by the end of a server", evidence(trace.Trace{}, open.run("backup-server-killed", "Completed", verdict.Verdict{})),
			contract.Pass,
			[]string{"1 call"},
		},
		none(all, "call"),
	}
}
