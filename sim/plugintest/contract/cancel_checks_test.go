package contract_test

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
)

func cancelCases() []verdictOn {
	return slices.Concat(cancelCallCases(), cancelEndCases(), endedCases())
}

func cancelCallCases() []verdictOn {
	const name, unknown = "cancel-returns", "cancel-unknown"
	under := func() *script {
		return calls(backupAction).process(exercise.Cancelled).execute(itemA, "a").progress("a", under(1)).wait(time.Second)
	}
	on := func() *script { return calls(backupAction).process(exercise.Unknown) }
	cancelled := "example.io/mover at 11s of cancelled: Cancel a in phase InProgress: "
	asked := "example.io/mover at 10s of unknown: Cancel velosim-has-not-started-this in phase InProgress: "
	return []verdictOn{
		{name, "an error", under().fails("Cancel", "a").direct(), contract.Fail, []string{cancelled + "error: no"}},
		{name, "a panic", under().panics("Cancel", "a").direct(), contract.Fail, []string{cancelled + "error: plugin panicked: nil map"}},
		{name, "it hangs", under().calling("Cancel", "a").ends("killed").direct(), contract.Fail, []string{cancelled + "it has not returned"}},
		{name, "it returns", under().cancel("a").direct(), contract.Pass, []string{"1 call"}},
		{
			name, "an error of an operation that has ended", under().progress("a", completed()).wait(time.Second).fails("Cancel", "a").direct(),
			contract.NotApplicable,
			[]string{"there was no call"},
		},
		{name, "nobody cancels", under().direct(), contract.NotApplicable, []string{"there was no call"}},

		{unknown, "it succeeds", on().cancel(exercise.UnknownOperation).direct(), contract.Fail, []string{asked + "done"}},
		{unknown, "a panic", on().panics("Cancel", exercise.UnknownOperation).direct(), contract.Fail, []string{asked + "error: plugin panicked: nil map"}},
		{unknown, "an error", on().fails("Cancel", exercise.UnknownOperation).direct(), contract.Pass, []string{"1 call"}},
		{unknown, "one that is known", under().cancel("a").direct(), contract.NotApplicable, []string{"there was no call"}},
	}
}

func cancelEndCases() []verdictOn {
	const name = "cancel-ends"
	started := func() *script { return calls(backupAction).process(exercise.Cancelled).execute(itemA, "a") }
	cancelled := func() *script {
		return started().progress("a", under(1)).cancel("a").wait(time.Second).process(exercise.Cancelled)
	}
	return []verdictOn{
		{
			name, "it goes on", cancelled().progress("a", under(2)).direct(),
			contract.Fail,
			[]string{"it has not ended 5s after example.io/mover at 10s of cancelled: Cancel a in phase InProgress: done"},
		},
		{
			name, "it succeeds", cancelled().progress("a", completed()).direct(), contract.Fail,
			[]string{"it goes on to its end after Cancel: example.io/mover at 11s of cancelled: Progress a in phase InProgress: 4 of 4, completed"},
		},
		{
			name, "it goes on, and another plugin's had ended", cancelled().progress("a", under(2)).
				of("example.io/other").process(exercise.Cancelled).execute(itemA, "a").progress("a", completed()).direct(),
			contract.Fail,
			[]string{"it has not ended 5s after example.io/mover at 10s of cancelled: Cancel a in phase InProgress: done"},
		},
		{name, "it ends", cancelled().progress("a", under(2)).progress("a", failed()).direct(), contract.Pass, []string{"1 operation"}},
		{
			name, "Cancel fails, as cancel-returns says", started().progress("a", under(1)).fails("Cancel", "a").progress("a", under(2)).direct(),
			contract.Pass,
			[]string{"1 operation"},
		},
		{
			name, "it had ended", started().progress("a", completed()).direct(),
			contract.NotApplicable,
			[]string{"the operation had ended before it could be cancelled"},
		},
		{
			name, "Progress fails", started().fails("Progress", "a").direct(),
			contract.Inconclusive,
			[]string{"Progress failed before the operation could be cancelled"},
		},
		{name, "no operation", calls(backupAction).process(exercise.Cancelled).execute(itemA, "").direct(), contract.NotApplicable, []string{noOperation}},
	}
}

func endedCases() []verdictOn {
	const name = "cancel-ended"
	ended := func(p trace.Progress) *script {
		return calls(backupAction).process(exercise.Fitting).execute(itemA, "a").progress("a", p).wait(time.Second).process(exercise.Ended)
	}
	const cancelled = "example.io/mover at 11s of ended: Cancel a in phase InProgress: "
	const later = "example.io/mover at 12s of ended: Progress a in phase InProgress: "
	return []verdictOn{
		{
			name, "success becomes failure", ended(completed()).cancel("a").wait(time.Second).progress("a", failed()).direct(), contract.Fail,
			[]string{later + "2 of 4, completed, error: cancelled; and before Cancel: 4 of 4, completed"},
		},
		{
			name, "it goes on", ended(failed()).cancel("a").wait(time.Second).progress("a", under(3)).direct(), contract.Fail,
			[]string{later + "3 of 4; and before Cancel: 2 of 4, completed, error: cancelled"},
		},
		{
			name, "a success goes on", ended(completed()).cancel("a").wait(time.Second).progress("a", under(4)).direct(),
			contract.Fail,
			[]string{later + "4 of 4; and before Cancel: 4 of 4, completed"},
		},
		{
			name, "it hangs", ended(completed()).calling("Cancel", "a").ends("killed").direct(),
			contract.Fail,
			[]string{cancelled + "it has not returned"},
		},
		{
			name, "a panic", ended(completed()).panics("Cancel", "a").direct(),
			contract.Fail,
			[]string{cancelled + "error: plugin panicked: nil map"},
		},
		{name, "it stays", ended(completed()).cancel("a").wait(time.Second).progress("a", completed()).direct(), contract.Pass, []string{"1 call"}},
		{
			name, "an error, and it stays", ended(failed()).fails("Cancel", "a").wait(time.Second).progress("a", failed()).direct(),
			contract.Pass,
			[]string{"1 call"},
		},
		{name, "one that goes on", ended(under(1)).cancel("a").direct(), contract.NotApplicable, []string{"there was no call"}},
	}
}
