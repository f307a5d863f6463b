package contract_test

import (
	"slices"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// of is the evidence of runs alone.
func of(runs ...contract.Run) contract.Evidence { return evidence(trace.Trace{}, runs...) }

func ended(phase string, deviations ...string) verdict.Verdict {
	v := verdict.Verdict{Result: verdict.Pass, Phase: phase, Deviations: deviations, Findings: []verdict.Finding{}}
	if len(deviations) > 0 {
		v.Result = verdict.KnownDeviation
	}
	return v
}

func found(r verdict.Result, findings ...verdict.Finding) verdict.Verdict {
	return verdict.Verdict{Result: r, Findings: findings}
}

func serverCases() []verdictOn {
	return slices.Concat(completesCases(), timesOutCases(), killedCases())
}

func completesCases() []verdictOn {
	const name, deletes = "server-completes", "server-deletes"
	on := func(run, phase string, v verdict.Verdict) contract.Run {
		return calls().processOf("backup/backup-1").run(run, phase, v)
	}
	good := on("backup-undisturbed", "Completed", ended("Completed"))
	bad := verdict.Finding{Oracle: "expectation", Object: "restore/restore-1", Expected: "phase Completed", Seen: "phase Failed\nwith a log"}
	lacks := verdict.Finding{Oracle: "completeness", Expected: "an end", Seen: "none"}
	return []verdictOn{
		{
			name, "the restore fails", of(good, on("restore-undisturbed", "Completed", found(verdict.Fail, bad))),
			contract.Fail,
			[]string{"restore-undisturbed: expectation of restore/restore-1: want phase Completed, seen phase Failed"},
		},
		{
			name, "both fail",
			of(on("backup-undisturbed", "Completed", found(verdict.Fail, bad)), on("restore-undisturbed", "Completed", found(verdict.Fail, bad))),
			contract.Fail,
			[]string{
				"backup-undisturbed: expectation of restore/restore-1: want phase Completed, seen phase Failed",
				"restore-undisturbed: expectation of restore/restore-1: want phase Completed, seen phase Failed",
			},
		},
		{
			name, "Velero makes less of it", of(on("backup-undisturbed", "Completed", ended("PartiallyFailed", "rule-a", "rule-b"))),
			contract.Fail,
			[]string{"backup-undisturbed: want phase Completed, seen phase PartiallyFailed, as Velero does by rule-a, rule-b"},
		},
		{name, "it completes", of(good), contract.Pass, []string{"backup-undisturbed: Completed"}},
		{
			name, "it completes, as Velero does", of(on("backup-undisturbed", "Completed", ended("Completed", "rule-a"))),
			contract.Pass,
			[]string{"backup-undisturbed: Completed, with known deviations of Velero: rule-a"},
		},
		{
			name, "a run does not tell", of(good, on("restore-undisturbed", "Completed", found(verdict.Inconclusive, lacks))),
			contract.Inconclusive,
			[]string{"restore-undisturbed: completeness: want an end, seen none"},
		},
		{
			name, "a run of another kind fails", of(on("backup-times-out", "Completed", found(verdict.Fail, bad))),
			contract.NotApplicable,
			[]string{"no such run fits what the plugin registers"},
		},

		{
			deletes, "it is not deleted", of(on("backup-deleted", "Deleted", found(verdict.Fail, bad))),
			contract.Fail,
			[]string{"backup-deleted: expectation of restore/restore-1: want phase Completed, seen phase Failed"},
		},
		{deletes, "it is deleted", of(on("backup-deleted", "Deleted", ended("Deleted"))), contract.Pass, []string{"backup-deleted: Deleted"}},
		{deletes, "no run", of(good), contract.NotApplicable, []string{"no such run fits what the plugin registers"}},
	}
}

func timesOutCases() []verdictOn {
	const name = "server-times-out"
	on := func(s *script, v verdict.Verdict) contract.Run {
		return s.run("backup-times-out", "PartiallyFailed", v)
	}
	called := func() *script { return calls().processOf("backup/backup-1") }
	cancelled := func() *script { return called().execute(itemA, "a").cancel("a") }
	hangs := verdict.Finding{Oracle: "liveness", Expected: "a final phase", Seen: "it stays"}
	restore := calls().processOf("restore/restore-1").run("restore-times-out", "PartiallyFailed", ended("Completed"))
	return []verdictOn{
		{
			name, "it never ends", of(on(cancelled(), found(verdict.Fail, hangs))),
			contract.Fail,
			[]string{"backup-times-out: liveness: want a final phase, seen it stays"},
		},
		{name, "it times out", of(on(cancelled(), ended("PartiallyFailed"))), contract.Pass, []string{"backup-times-out: PartiallyFailed"}},
		{
			name, "the restore has no operation", of(on(cancelled(), ended("PartiallyFailed")), restore),
			contract.Pass,
			[]string{"backup-times-out: PartiallyFailed"},
		},
		{
			name, "the operation is quick", of(on(called().execute(itemA, "a").progress("a", completed()), found(verdict.Fail, hangs))),
			contract.NotApplicable,
			[]string{"backup-times-out: no operation went on long enough to time out"},
		},
		{
			name, "no operation", of(on(called().execute(itemA, ""), found(verdict.Fail, hangs))),
			contract.NotApplicable,
			[]string{"backup-times-out: no operation was started"},
		},
	}
}

func killedCases() []verdictOn {
	const name = "server-killed"
	on := func(s *script, v verdict.Verdict) contract.Run { return s.run("backup-server-killed", "Completed", v) }
	started := func() *script { return calls().processOf("backup/backup-1").execute(itemA, "a") }
	waited := func() *script { return started().phases("InProgress", "WaitingForPluginOperations") }
	lost := verdict.Finding{Oracle: "expectation", Expected: "phase Completed", Seen: "phase PartiallyFailed"}
	missed := verdict.Finding{Oracle: "completeness", Expected: "fault-1 strikes", Seen: "its point never came"}
	return []verdictOn{
		{
			name, "the operation is lost", of(on(waited(), found(verdict.Fail, lost))),
			contract.Fail,
			[]string{"backup-server-killed: expectation: want phase Completed, seen phase PartiallyFailed"},
		},
		{name, "the operation outlives it", of(on(waited(), ended("Completed"))), contract.Pass, []string{"backup-server-killed: Completed"}},
		{
			name, "the run does not tell", of(on(waited(), found(verdict.Inconclusive, missed))),
			contract.Inconclusive,
			[]string{"backup-server-killed: completeness: want fault-1 strikes, seen its point never came"},
		},
		{
			name, "the server did not wait", of(on(started().phases("InProgress", "Finalizing"), found(verdict.Inconclusive, missed))),
			contract.NotApplicable,
			[]string{"backup-server-killed: the operations had ended before the server waited for them"},
		},
		{
			name, "no operation", of(on(calls().processOf("backup/backup-1").execute(itemA, ""), found(verdict.Inconclusive, missed))),
			contract.NotApplicable,
			[]string{"backup-server-killed: no operation was started"},
		},
	}
}
