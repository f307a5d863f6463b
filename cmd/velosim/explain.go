package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/scenarios"
)

func explainCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [FIELD]",
		Short: "Show what a field of a scenario file means",
		Long: `Explain shows what a field of a scenario file means, and the fields below it. A field is written as the errors of
a scenario have it: plugins.execute or plugins[0].execute; none: the file as a whole.`,
		Example: `  velosim explain expect
  velosim explain plugins.operation.progress`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return explain(c.out, strings.Join(args, ""))
		},
	}
}

// schema is as much of a JSON Schema as is needed to explain it.
type schema struct {
	Ref         string            `json:"$ref"`
	Title       string            `json:"title"`
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
	Items       *schema           `json:"items"`
	Entries     json.RawMessage   `json:"additionalProperties"` // a schema, or false
	Defs        map[string]schema `json:"$defs"`
}

// explain prints what the field means. Indices and keys in brackets do not count.
func explain(w io.Writer, field string) error {
	var root schema
	if err := json.Unmarshal(scenarios.Schema(), &root); err != nil {
		return err // the tests compare it with what is generated
	}
	at, description := root, root.Description
	path := ""
	for name := range strings.SplitSeq(regexp.MustCompile(`\[[^]]*\]`).ReplaceAllString(field, ""), ".") {
		if field == "" {
			break
		}
		next, ok := at.Properties[name]
		if !ok {
			names := slices.Sorted(maps.Keys(at.Properties))
			hint := "known here: " + strings.Join(names, ", ")
			if best := closest(name, names); best != "" {
				hint = fmt.Sprintf("did you mean %q?", best)
			} else if len(names) == 0 {
				hint = "there are no fields below " + path
			}
			return fmt.Errorf("scenarios have no field %q; %s", strings.TrimPrefix(path+"."+name, "."), hint)
		}
		path, description = strings.TrimPrefix(path+"."+name, "."), next.Description
		at = next.resolved(root)
	}
	if path != "" {
		fmt.Fprintf(w, "%s: ", path)
	}
	fmt.Fprintln(w, description)
	if len(at.Enum) > 0 {
		fmt.Fprintf(w, "\nOne of: %s.\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(at.Enum), " ", ", "), "[]")) // none has a space
	}
	if at.Description != "" && at.Description != description {
		fmt.Fprintf(w, "\n%s\n", at.Description)
	}
	if len(at.Properties) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range slices.Sorted(maps.Keys(at.Properties)) {
		of := at.Properties[name]
		required := ""
		if slices.Contains(at.Required, name) {
			required = "required; "
		}
		fmt.Fprintf(table, "  %s\t%s\t%s%s\n", name, of.kind(), required, of.Description)
	}
	return table.Flush()
}

// resolved is the schema of what the field holds: of a list, or of a mapping by names of its own, that of its entries.
func (s schema) resolved(root schema) schema {
	for {
		var entries schema
		switch {
		case s.Ref != "":
			s = root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		case s.Items != nil:
			s = *s.Items
		case json.Unmarshal(s.Entries, &entries) == nil:
			s = entries
		default:
			return s
		}
	}
}

// kind is the type in a word or two.
func (s schema) kind() string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/$defs/")
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case s.Title != "":
		return s.Title
	}
	return s.Type
}
