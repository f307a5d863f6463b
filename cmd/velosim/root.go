package main

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot(c *cli) *cobra.Command {
	root := &cobra.Command{
		Use:   "velosim",
		Short: "Run Velero's backup and restore controllers against scripted plugins, and judge how the runs end",
		Long: `Velosim runs Velero's backup and restore controllers against plugins that are slow, fail, crash or hang as a scenario
says, and judges whether every run ends as its users need: in Completed, PartiallyFailed or Failed.

Exit codes: 0 pass or known deviation; 1 a run failed; 2 the command line or a scenario is wrong; 3 a run is
inconclusive, was interrupted, or had no world to run in, or stdout cannot be written; 130 interrupted before anything ran.`,
		Example: `  velosim list
  velosim run backup-operation-times-out
  velosim run my-scenario.yaml --seeds 50`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(suggestFlag)
	root.AddCommand(runCommand(c), listCommand(c), lintCommand(c), describeCommand(c), checkCommand(c), planCommand(c), sweepCommand(c), exploreCommand(c), deviationsCommand(c),
		pluginCommand(c), reportCommand(c), gateCommand(c), diffCommand(c), schemaCommand(c), explainCommand(c), setupCommand(c), doctorCommand(c), versionCommand(c))
	complete(root)
	return root
}

// suggestFlag adds what was probably meant to the error of an unknown flag.
func suggestFlag(cmd *cobra.Command, err error) error {
	hint := "see " + cmd.CommandPath() + " --help"
	if name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if best := closest(name, flags); best != "" {
			hint = fmt.Sprintf("did you mean --%s?", best)
		}
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// closest returns the name that was probably meant; empty: none is near.
func closest(name string, names []string) string {
	best, distance := "", max(2, len(name)/3)+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(name, n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// oneOf returns an error, with a suggestion, unless value is one of the values that the flag takes.
func oneOf(flag, value string, values []string) error {
	for _, v := range values {
		if v == value {
			return nil
		}
	}
	hint := "it is one of: " + strings.Join(values, ", ")
	if best := closest(value, values); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return fmt.Errorf("--%s %q is unknown; %s", flag, value, hint)
}

// formats are what --format takes.
func formats() []string { return []string{"text", "json"} }
