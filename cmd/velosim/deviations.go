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
		Long: `Deviations lists the rules by which Velero releases fall short of what is demanded. In Markdown, it says too what a user
of Velero sees of each, and can do about it.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("format", format, []string{"text", "markdown"}); err != nil {
				return err
			}
			if format == "markdown" {
				deviationsPage(c.out)
			} else {
				deviations(c.out)
			}
			return nil // what goes wrong with stdout is told by its writer
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or markdown")
	return cmd
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

const deviationsIntroduction = `# Deviations of Velero releases

<!-- Generated from the rules of sim/phase: go test ./cmd/velosim -run DeviationsPage -update -->

What Velero 1.14 and 1.18 do otherwise than their users need, as ` + "`velosim deviations --format markdown`" + ` prints it. A run that ends as one
of these rules says is a known deviation. The command beside each shows it in the scenario that is its witness. velero#N is an issue of
velero-io/velero.
`

// deviationsPage prints the rules in Markdown, for users of Velero.
func deviationsPage(w io.Writer) {
	fmt.Fprint(w, deviationsIntroduction)
	for _, rule := range phase.All() {
		witness, reports := "none: it takes a race that few seeds show", "unreported"
		if rule.Witness != "" {
			witness = "`velosim run " + rule.Witness + "`"
		}
		if len(rule.Reports) > 0 {
			reports = strings.Join(rule.Reports, ", ")
		}
		fmt.Fprintf(w, "\n## %s\n\nDemanded: %s\n\nWhat releases do: %s\n\nWhat you see: %s\n\nWhat you can do: %s\n\n"+
			"- Releases: %s\n- Witness: %s\n- Reports: %s\n- Source: %s\n", rule.Name, rule.Statement, rule.Deviation, rule.Seen, rule.Remedy,
			strings.Join(rule.Releases, ", "), witness, reports, rule.Source)
	}
}
