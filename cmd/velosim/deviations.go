package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/phase"
)

func deviationsCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "deviations",
		Short: "List the rules by which Velero releases fall short of what is demanded",
		Args:  cobra.NoArgs,
		Run:   func(*cobra.Command, []string) { deviations(c.out) }, // what goes wrong with stdout is told by its writer
	}
}

func deviations(w io.Writer) {
	for i, rule := range phase.All() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n  demanded:  %s\n  %-9s  %s\n  source:    %s\n  witness:   %s\n  reports:   %s\n", rule.Name, rule.Statement,
			strings.Join(rule.Releases, ", ")+":", rule.Deviation, rule.Source, orNone(rule.Witness), orNone(strings.Join(rule.Reports, ", ")))
	}
}

func orNone(s string) string {
	if s == "" {
		return "none yet"
	}
	return s
}
