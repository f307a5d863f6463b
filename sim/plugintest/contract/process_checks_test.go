package contract_test

import (
	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
)

func processCases() []verdictOn {
	asked := func() *script { return calls(backupAction).process(exercise.Processes).selects("configmaps") }
	const (
		starts, exits, stays = "starts", "exits", "stays"
		processes, files     = "no-process-left", "no-files-left"
	)
	return []verdictOn{
		{
			starts, "no handshake", notStarted("unrecognized remote plugin message: hello\nAdditional notes\nits stderr says: panic:\n\tno cluster"),
			contract.Fail,
			[]string{"unrecognized remote plugin message: hello", "its stderr says: panic: no cluster"},
		},
		{
			starts, "it says nothing", notStarted("invalid plugin name mover"), contract.Fail, []string{"invalid plugin name mover"},
		},
		{
			starts, "not every time", calls(backupAction).state("failed").direct(),
			contract.Fail,
			[]string{"example.io/mover: the process of 10s did not start"},
		},
		{starts, "every time", asked().direct(), contract.Pass, []string{"1 plugin"}},
		{starts, "several plugins", calls(backupAction, restoreAction).direct(), contract.Pass, []string{"2 plugins"}},
		{starts, "it registers nothing", calls().direct(), contract.NotApplicable, []string{"there was no plugin"}},

		{
			exits, "killed when it was to end", asked().ends("killed").direct(),
			contract.Fail,
			[]string{"example.io/mover: the process that ended at 10s had to be killed"},
		},
		{exits, "ends when it is to end", asked().direct(), contract.Pass, []string{"1 process"}},
		{exits, "killed in a call that hangs", asked().calling("Execute", itemA).ends("killed").direct(), contract.Pass, []string{"1 process"}},
		{
			exits, "killed in a call that hangs, beside one that does not",
			asked().calling("Execute", itemA).calling("Execute", itemB).returns(trace.Return{}).ends("killed").direct(),
			contract.Pass,
			[]string{"1 process"},
		},
		{exits, "no process has ended", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no process"}},

		{
			stays, "exits in a call", asked().fails("Execute", itemA).ends("exited").direct(),
			contract.Fail,
			[]string{"example.io/mover: a process ended by itself, in example.io/mover at 10s of processes: " +
				"Execute configmaps/app/a in phase InProgress: error: no"},
		},
		{stays, "a call fails, and it stays", asked().fails("Execute", itemA).direct(), contract.Pass, []string{"1 process"}},
		{stays, "no process has ended", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no process"}},

		{
			processes, "two commands go on", asked().left(trace.Left{Process: "sleep 100"}).left(trace.Left{Process: "rsync -a x y"}).direct(),
			contract.Fail,
			[]string{"sleep 100", "rsync -a x y"},
		},
		{processes, "a file alone", asked().left(trace.Left{File: "x"}).direct(), contract.Pass, []string{"1 process"}},
		{processes, "no process was looked at", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no process"}},

		{files, "a file stays", asked().left(trace.Left{File: "mover-1/log"}).direct(), contract.Fail, []string{"mover-1/log"}},
		{files, "a process alone", asked().left(trace.Left{Process: "sleep 100"}).direct(), contract.Pass, []string{"1 process"}},
		{files, "no process was looked at", calls(backupAction).direct(), contract.NotApplicable, []string{"there was no process"}},
	}
}
