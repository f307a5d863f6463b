package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func listCommand(c *cli) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the catalogue of scenarios",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return err
			}
			return c.list(cmd.Context(), format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

func (c *cli) list(ctx context.Context, format string) error {
	sources, err := c.load(ctx, nil)
	if err != nil {
		return err
	}
	type entry struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Reports     []string `json:"reports,omitempty"`
	}
	entries := make([]entry, len(sources))
	for i, s := range sources {
		entries[i] = entry{s.scenario.Metadata.Name, s.scenario.Description, s.scenario.Metadata.Reports}
	}
	if format == "json" {
		return printJSON(c.out, map[string]any{"scenarios": entries})
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		text := firstSentence(e.Description)
		if len(e.Reports) > 0 {
			text += " (" + strings.Join(e.Reports, ", ") + ")"
		}
		fmt.Fprintf(w, "%s\t%s\n", e.Name, text)
	}
	return w.Flush()
}

// firstSentence of a text that may go over several lines.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// printJSON prints v for a program, in a layout that a person can read too.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
