package scenario_test

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// TestReference keeps the reference page in step with the types.
func TestReference(t *testing.T) {
	golden(t, "../../docs/scenario.md", reference(t))
}

const introduction = `# The scenario file

<!-- Generated from the types of sim/scenario: go test ./sim/scenario -run 'Reference|Schema' -update -->

A scenario says what the user creates, how the plugins behave, which faults strike, and what must come of it. It is one YAML document
of at most 1 MiB, nested at most 32 deep, in the part of YAML that JSON has too: no anchors, aliases, merge keys, tags, directives, "?" keys
or tabs. Lists have at most 1000 entries, mappings at most 100 fields. The comment block at the head of the file is its description.

` + "`velosim lint FILE`" + ` shows everything that is wrong with a file. An editor with a YAML language server checks and completes it with the schema
that ` + "`velosim schema`" + ` prints, once the file's first line names it; this line is no part of the description:

    # yaml-language-server: $schema=scenario.schema.json

Most scenarios are short, as every field without "required" has a default:

`

// reference is the page, in Markdown.
func reference(t *testing.T) []byte {
	t.Helper()
	root := schema(t)
	var b bytes.Buffer
	b.WriteString(introduction)
	example(t, &b, "backup-operation-times-out")
	b.WriteString("\nSeveral objects are created one after the other, or at a point of another's run:\n\n")
	example(t, &b, "restore-of-waiting-backup")
	b.WriteString("\nA duration is written as Go writes it, in at most 720h: 90s, 1h30m, 4h.\n")
	section(&b, "Scenario", root)
	seen := []string{"Scenario"}
	for next := linked(root); len(next) > 0; next = next[1:] {
		name := next[0]
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		section(&b, name, root.Definitions[name])
		next = slices.Insert(next, 1, linked(root.Definitions[name])...)
	}
	for name := range root.Definitions {
		if !slices.Contains(seen, name) {
			t.Errorf("nothing leads to %s", name)
		}
	}
	fmt.Fprintf(&b, "\n## Phases\n\nOf a backup: %s.\n\nOf a restore: %s.\n\nIn an outcome, %s says that the object is gone.\n",
		quoted(scenario.PhasesOf(phase.Backup)), quoted(scenario.PhasesOf(phase.Restore)), quoted([]string{scenario.Deleted}))
	fmt.Fprintf(&b, "\n## Rules\n\n`velosim deviations` explains them: %s.\n", quoted(scenario.RuleNames()))
	return b.Bytes()
}

func example(t *testing.T, b *bytes.Buffer, name string) {
	t.Helper()
	text, err := scenarios.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "```yaml\n%s```\n", text)
}

// linked are the names of the types that the fields of a struct have, in their order.
func linked(s *jsonschema.Schema) []string {
	var names []string
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		for _, of := range []*jsonschema.Schema{p.Value, p.Value.Items, p.Value.AdditionalProperties} {
			if of != nil && of.Ref != "" {
				names = append(names, strings.TrimPrefix(of.Ref, "#/$defs/"))
			}
		}
	}
	return names
}

// section is a struct's: what it is, and a table of its fields.
func section(b *bytes.Buffer, name string, s *jsonschema.Schema) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", name, s.Description)
	if s.Properties.Len() == 0 {
		b.WriteString("\nIt has no fields: `{}`.\n")
		return
	}
	b.WriteString("\n| field | type | default | meaning |\n|---|---|---|---|\n")
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		meaning, value := meaning(p.Key, p.Value.Description)
		if slices.Contains(s.Required, p.Key) {
			value = "required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Key, typeOf(p.Value), value, meaning)
	}
}

// meaning is a field's description, less its name, and what it says of the default.
func meaning(field, description string) (meaning, value string) {
	for _, verb := range []string{" is ", " are ", ": "} {
		if rest, ok := strings.CutPrefix(description, "`"+field+"`"+verb); ok {
			description = strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	meaning, value, _ = strings.Cut(description, "Default: ")
	value, rest, _ := strings.Cut(value, ". ")
	return strings.TrimSpace(meaning + rest), strings.TrimSuffix(value, ".")
}

func typeOf(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case slices.Contains(s.Enum, any("Completed")):
		return "[phase](#phases)"
	case slices.Contains(s.Enum, any(scenario.RuleNames()[0])):
		return "[rule](#rules)"
	case s.Const != nil:
		return fmt.Sprintf("`%v`", s.Const)
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		return quoted(values)
	case s.Title != "":
		return s.Title
	case s.Type == "array":
		return "list of " + typeOf(s.Items)
	case s.AdditionalProperties != nil:
		return "mapping to " + typeOf(s.AdditionalProperties)
	}
	return s.Type
}

func quoted(values []string) string { return "`" + strings.Join(values, "`, `") + "`" }

var (
	identifier = regexp.MustCompile(`\b[A-Z][A-Za-z]*(\.[A-Z][A-Za-z]*)*\b`)
	ofGo       = regexp.MustCompile(`Parse [^.]*\.`) // a sentence for those who use the package
)

// inFile is a comment of a type or field in terms of the file: the fields of the type are called by their names there.
func inFile(of reflect.Type, comment string) string {
	names := map[string]string{}
	if of.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				names[f.Name] = name
			}
		}
	}
	comment = ofGo.ReplaceAllString(strings.Join(strings.Fields(comment), " "), "")
	comment = identifier.ReplaceAllStringFunc(comment, func(word string) string {
		first, rest, nested := strings.Cut(word, ".")
		name, ok := names[first]
		if !ok {
			return word
		}
		if nested {
			name += "." + strings.ToLower(rest[:1]) + rest[1:]
		}
		return "`" + name + "`"
	})
	return strings.TrimSpace(comment)
}
