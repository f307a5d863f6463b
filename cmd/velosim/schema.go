package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/scenarios"
)

func schemaCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenario files",
		Long: `Schema prints the JSON Schema of scenario files, for editors to check and complete them. One with a YAML language server
takes it from a file's first line: # yaml-language-server: $schema=scenario.schema.json`,
		Example: `  velosim schema > scenario.schema.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.out, "%s", scenarios.Schema())
			return err
		},
	}
}
