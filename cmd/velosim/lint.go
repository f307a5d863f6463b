package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func lintCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "lint [NAME|FILE|FOLDER|-]...",
		Short: "Check scenarios without running them",
		Long: `Lint checks scenarios without running them: names of the catalogue, files, folders (every *.yaml in and below them), and
"-" for stdin; none: the whole catalogue. It shows everything that is wrong with any of them.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := c.load(cmd.Context(), args)
			if err != nil {
				return wrongScenarios(c, err)
			}
			_, err = fmt.Fprintf(c.out, "%s ok\n", count(len(sources), "scenario"))
			return err
		},
	}
}

// wrongScenarios prints what is wrong as a compiler does, without velosim's name before it.
func wrongScenarios(c *cli, err error) error {
	var interrupted *exitError
	if errors.As(err, &interrupted) {
		return err
	}
	fmt.Fprintln(c.err, err)
	return &exitError{code: exitUsage}
}

// count is n things, in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
