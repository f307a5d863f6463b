package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/world/executable"
)

// complete has a shell complete names of scenarios, and values of flags that are one of a few.
func complete(root *cobra.Command) {
	fixed := map[string][]string{"world": executable.Worlds(), "format": formats()}
	for _, cmd := range root.Commands() {
		if slices.Contains([]string{"run", "plan", "sweep"}, cmd.Name()) {
			cmd.ValidArgsFunction = completeScenarios
		}
		for name, values := range fixed {
			if cmd.Flags().Lookup(name) != nil {
				cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag is there
			}
		}
	}
}

// completeScenarios completes a name of the catalogue, or a file.
func completeScenarios(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, name := range scenarios.Names() {
		if strings.HasPrefix(name, begun) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
