package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/phase"
)

func deviationsCommand(c *cli) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "deviations",
		Short: "List the rules by which Velero releases fall short of what is demanded",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("format", format, []string{"text", "markdown"}); err != nil {
				return err
			}
			if format == "markdown" {
				return deviationsTable(c.out)
			}
			return deviationsList(c.out)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or markdown")
	return cmd
}

func deviationsList(w io.Writer) error {
	for i, rule := range phase.All() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n  demanded:  %s\n  %-9s  %s\n  source:    %s\n  witness:   %s\n  reports:   %s\n", rule.Name, rule.Statement,
			strings.Join(rule.Releases, ", ")+":", rule.Deviation, rule.Source, orNone(rule.Witness), orNone(strings.Join(rule.Reports, ", ")))
	}
	return nil // what goes wrong with stdout is told by its writer
}

// deviationsTable writes the same in Markdown, for the documentation.
func deviationsTable(w io.Writer) error {
	fmt.Fprintf(w, "| rule | demanded | what releases do | releases | witness | reports |\n|---|---|---|---|---|---|\n")
	for _, rule := range phase.All() {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", rule.Name, rule.Statement, rule.Deviation,
			strings.Join(rule.Releases, ", "), orNone(rule.Witness), orNone(strings.Join(rule.Reports, ", ")))
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none yet"
	}
	return s
}
