package contract_test

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
)

// reporting is the evidence of an operation that reports these, one after another.
func reporting(reports ...trace.Progress) contract.Evidence {
	s := calls(backupAction).process(exercise.Fitting).execute(itemA, "a")
	for _, p := range reports {
		s.progress("a", p)
	}
	return s.direct()
}

// changed is the progress with another of its fields.
func changed(p trace.Progress, change func(*trace.Progress)) trace.Progress {
	change(&p)
	return p
}

const polled = "example.io/mover at 10s of fitting: Progress a in phase InProgress: "

func progressCases() []verdictOn { return slices.Concat(reportCases(), timeCases(), unknownCases()) }

func reportCases() []verdictOn {
	const monotone, total, early, final = "progress-monotone", "progress-within-total", "error-only-when-completed", "completed-is-final"
	unknownTotal := changed(under(3), func(p *trace.Progress) { p.Of = 0 })
	return []verdictOn{
		{monotone, "it goes back", reporting(under(2), under(1)), contract.Fail, []string{polled + "1 of 4; and before: 2 of 4"}},
		{monotone, "it stays and goes on", reporting(under(2), under(2), under(3)), contract.Pass, []string{"1 operation"}},
		{monotone, "nobody asks", reporting(), contract.NotApplicable, []string{noOperation}},

		{total, "more than there is", reporting(under(5)), contract.Fail, []string{polled + "5 of 4"}},
		{
			total, "less at the end", reporting(changed(completed(), func(p *trace.Progress) { p.Done = 3 })),
			contract.Fail,
			[]string{polled + "3 of 4, completed"},
		},
		{
			total, "a total that is not known at the end", reporting(changed(completed(), func(p *trace.Progress) { p.Of = 0 })),
			contract.Fail,
			[]string{polled + "4 of 0, completed"},
		},
		{total, "all at the end", reporting(under(4), completed()), contract.Pass, []string{"1 operation"}},
		{total, "less at the end of one that fails", reporting(failed()), contract.Pass, []string{"1 operation"}},
		{total, "a total that is not known yet", reporting(unknownTotal, completed()), contract.Pass, []string{"1 operation"}},
		{total, "nobody asks", reporting(), contract.NotApplicable, []string{noOperation}},

		{
			early, "it goes on with an error", reporting(changed(under(1), func(p *trace.Progress) { p.Error = "disk full\nat 1" })),
			contract.Fail,
			[]string{polled + "1 of 4, error: disk full"},
		},
		{early, "it ends with an error", reporting(under(1), failed()), contract.Pass, []string{"1 operation"}},
		{early, "nobody asks", reporting(), contract.NotApplicable, []string{noOperation}},

		{final, "it goes on", reporting(completed(), under(4)), contract.Fail, []string{polled + "4 of 4; and before: 4 of 4, completed"}},
		{
			final, "its success is a failure", reporting(completed(), failed()),
			contract.Fail,
			[]string{polled + "2 of 4, completed, error: cancelled; and before: 4 of 4, completed"},
		},
		{
			final, "its failure is a success", reporting(failed(), completed()),
			contract.Fail,
			[]string{polled + "4 of 4, completed; and before: 2 of 4, completed, error: cancelled"},
		},
		{
			final, "its failure has other words", reporting(failed(), changed(failed(), func(p *trace.Progress) { p.Error = "was cancelled" })),
			contract.Pass,
			[]string{"1 operation"},
		},
		{final, "it stays", reporting(under(1), completed(), completed()), contract.Pass, []string{"1 operation"}},
		{final, "nobody asks", reporting(), contract.NotApplicable, []string{noOperation}},
	}
}

func timeCases() []verdictOn {
	const name = "timestamps"
	at := func(started, updated time.Duration) trace.Progress {
		return trace.Progress{Done: 1, Of: 4, Started: trace.Time(started), Updated: trace.Time(updated)}
	}
	const s = time.Second
	wrong := func(about, why string, reports ...trace.Progress) verdictOn {
		return verdictOn{name, about, reporting(reports...), contract.Fail, []string{polled + "1 of 4; " + why}}
	}
	return []verdictOn{
		wrong("Updated is not set", "Updated is not set", at(s, 0)),
		wrong("Updated before Started", "Updated is 1s, before Started, 2s", at(2*s, s)),
		wrong("Updated goes back", "Updated has gone back from 3s to 2s", at(s, 3*s), at(s, 2*s)),
		wrong("Updated in the future", "Updated is 12.000000001s, in the future", at(s, 12*s+1)),
		wrong("Started changes", "Started has changed from 1s to 2s", at(s, 3*s), at(2*s, 3*s)),
		wrong("Started is forgotten", "Started has changed from 1s to 0s", at(s, 3*s), at(0, 3*s)),
		{name, "a clock that is a little ahead", reporting(at(s, 12*s)), contract.Pass, []string{"1 operation"}},
		{name, "Started is not known at first", reporting(at(0, 2*s), at(s, 2*s), at(s, 3*s)), contract.Pass, []string{"1 operation"}},
		{name, "nobody asks", reporting(), contract.NotApplicable, []string{noOperation}},
	}
}

func unknownCases() []verdictOn {
	const name = "progress-unknown"
	on := func() *script { return calls(backupAction).process(exercise.Unknown) }
	asked := "example.io/mover at 10s of unknown: Progress velosim-has-not-started-this in phase InProgress: "
	return []verdictOn{
		{name, "it is done", on().progress(exercise.UnknownOperation, completed()).direct(), contract.Fail, []string{asked + "4 of 4, completed"}},
		{name, "it goes on", on().progress(exercise.UnknownOperation, under(1)).direct(), contract.Fail, []string{asked + "1 of 4"}},
		{name, "a panic", on().panics("Progress", exercise.UnknownOperation).direct(), contract.Fail, []string{asked + "error: plugin panicked: nil map"}},
		{
			name, "it hangs", on().calling("Progress", exercise.UnknownOperation).ends("killed").direct(),
			contract.Fail,
			[]string{asked + "it has not returned"},
		},
		{name, "an error", on().fails("Progress", exercise.UnknownOperation).direct(), contract.Pass, []string{"1 call"}},
		{name, "nobody asks", reporting(under(1)), contract.NotApplicable, []string{"there was no call"}},
	}
}
