package contract

import (
	"fmt"
	"strings"

	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
)

// processChecks are about the processes of the plugin.
func processChecks() []Check {
	return []Check{
		{
			Name:    "starts",
			Demands: "The executable starts, shakes hands by go-plugin, and registers plugins by names like example.io/mover.",
			Source:  "pkg/plugin/clientmgmt/process/registry.go, DiscoverPlugins; pkg/plugin/framework/validation.go",
			Velero:  "With one plugin that does not start, the whole server does not.",
			Fix:     "Serve by framework.NewServer, print nothing to stdout before, and exit for no reason of the environment: what is missing is an error of the call that needs it.",
			judge:   starts,
		},
		{
			Name:    "exits",
			Demands: "Each process ends within two seconds when Velero has no more use for it.",
			Source:  "hashicorp/go-plugin, Client.Kill",
			Velero:  "It waits for two seconds at the end of every pass over the operations, and kills the process.",
			Fix:     "Return from main when Serve does. Wait for no goroutine, and catch no signal, in a way that keeps the process.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.processes, "process", func(p process) string {
					if p.state != "killed" || p.during != nil && p.during.reply == nil {
						return ""
					}
					return fmt.Sprintf("%s: the process that ended at %s had to be killed", p.name, p.at)
				})
			},
		},
		{
			Name:    "stays",
			Demands: "No process ends by itself while Velero uses it.",
			Source:  "pkg/plugin/clientmgmt/process/restartable_process.go",
			Velero:  "The call fails, and with it the item or the operation; the next call starts a new process.",
			Fix:     "Return errors in place of os.Exit, log.Fatal and panics in goroutines of your own, which the framework cannot catch.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.processes, "process", func(p process) string {
					if p.state != trace.ProcessExited {
						return ""
					}
					if p.during == nil {
						return fmt.Sprintf("%s: a process ended by itself at %s, before any call", p.name, p.at)
					}
					return fmt.Sprintf("%s: a process ended by itself, in %s", p.name, p.during)
				})
			},
		},
		{
			Name:    "no-process-left",
			Demands: "What the plugin has started ends with it.",
			Source:  "proposed by velosim: Velero starts a process of the plugin for each poll of its operations, every ten seconds",
			Velero:  "It does not look. The processes add up in the pod of the server until it has no memory left; and for one that has the plugin's stderr, go-plugin waits at the end of the pass, for ever.",
			Fix:     "Wait for what you start before the call returns; what has to go on belongs into a pod of its own.",
			judge: func(s *seen) (Outcome, []string) {
				return s.leaves(func(l trace.Left) string { return l.Process })
			},
		},
		{
			Name:    "no-files-left",
			Demands: "No temporary files are left when the plugin has ended.",
			Source:  "proposed by velosim: Velero starts a process of the plugin for each poll of its operations, every ten seconds",
			Velero:  "It does not look. The files add up in the pod of the server, until it is evicted.",
			Fix:     "Remove each temporary file in the call that made it, with defer.",
			judge: func(s *seen) (Outcome, []string) {
				return s.leaves(func(l trace.Left) string { return l.File })
			},
		},
	}
}

// subprocessSays comes before what a plugin that does not start has written to its stderr (fakeplugins/subprocess).
const subprocessSays = "its stderr says: "

func starts(s *seen) (Outcome, []string) {
	if s.Direct.End.Reason == trace.NotStarted {
		why, said, ok := strings.Cut(s.Direct.End.Detail, "\n"+subprocessSays)
		evidence := []string{firstLine(why)}
		if ok {
			evidence = append(evidence, subprocessSays+strings.Join(strings.Fields(said), " "))
		}
		return Fail, evidence
	}
	var failed []string
	for _, p := range s.processes {
		if p.state == trace.ProcessFailed {
			failed = append(failed, fmt.Sprintf("%s: the process of %s did not start", p.name, p.at))
		}
	}
	return failing(failed, len(s.plugins), "plugin")
}

// leaves tells what was left of a kind. Runs on a server do not tell.
func (s *seen) leaves(of func(trace.Left) string) (Outcome, []string) {
	var left []string
	for _, l := range s.left {
		if what := of(l); what != "" {
			left = append(left, what)
		}
	}
	return failing(left, len(s.in(exercise.Processes, "AppliesTo")), "process")
}
