package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/scenarios"
)

func schemaCommand(c *cli) *cobra.Command {
	var of string
	schemas := map[string][]byte{"scenario": scenarios.Schema(), "report": reports.JSONSchema()}
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files, or of reports",
		Long: `Schema prints the JSON Schema of scenario files, for editors to check and complete them. One with a YAML language server
takes it from a file's first line: # yaml-language-server: $schema=scenario.schema.json`,
		Example: `  velosim schema > scenario.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("of", of, slices.Sorted(maps.Keys(schemas))); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "%s", schemas[of])
			return err
		},
	}
	cmd.Flags().StringVar(&of, "of", "scenario", "scenario, or report: what velosim report --json writes")
	return cmd
}
