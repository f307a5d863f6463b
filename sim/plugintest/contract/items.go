package contract

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/velosim/velosim/sim/scenario"
)

//go:embed items.yaml
var common []byte

// Items are objects that a plugin may be for.
type Items struct {
	// Manifests are namespaced objects.
	Manifests []scenario.Manifest
	// Definitions are CustomResourceDefinitions, as YAML, which the cluster must have before.
	Definitions []string
}

// CommonItems are those of kinds that plugins are commonly for.
func CommonItems() (Items, error) { return ParseItems("items.yaml", common) }

// ParseItems reads a file with Kubernetes objects, one a document. Every error has the line.
func ParseItems(file string, b []byte) (Items, error) {
	var items Items
	parsed, err := parser.ParseBytes(withoutEmpty(bytes.TrimPrefix(b, []byte("\ufeff"))), 0)
	if err != nil {
		return items, fmt.Errorf("%s: %w", file, err)
	}
	var wrong []error
	for _, doc := range parsed.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		complain := func(format string, args ...any) {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s", file, doc.Body.GetToken().Position.Line, fmt.Sprintf(format, args...)))
		}
		var m scenario.Manifest
		text := doc.Body.String()
		if err := unmarshal(text, &m); err != nil {
			complain("this is no object of Kubernetes: %s", yaml.FormatError(err, false, false))
			continue
		}
		if m["kind"] == "CustomResourceDefinition" {
			items.Definitions = append(items.Definitions, text)
			continue
		}
		metadata, _ := m["metadata"].(map[string]any)
		switch item, ok := m.Item(); {
		case m["kind"] == "List" || m["items"] != nil:
			complain("a list is not taken; write its items as documents of their own, with --- between them")
		case !ok && metadata["namespace"] == nil:
			complain("metadata.namespace is missing; objects without a namespace are not taken")
		case !ok:
			complain("an object has apiVersion, kind, metadata.namespace and metadata.name")
		case item.Namespace() == scenario.VeleroNamespace:
			complain("the namespace velero is the server's own; use another one")
		case slices.ContainsFunc(items.Manifests, func(n scenario.Manifest) bool { other, _ := n.Item(); return other == item }):
			complain("%s is there twice; remove one", item)
		default:
			items.Manifests = append(items.Manifests, m)
		}
	}
	if len(wrong) == 0 && len(items.Manifests) == 0 {
		wrong = append(wrong, fmt.Errorf("%s: it has no object", file))
	}
	return items, errors.Join(wrong...)
}

// withoutEmpty has a comment in place of each separator that nothing but comments follows, as in what helm template prints: the parser stops at
// a document without content. Lines stay where they are.
func withoutEmpty(b []byte) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	empty := true // what follows, up to the next separator
	for i, line := range slices.Backward(lines) {
		rest, separates := bytes.CutPrefix(line, []byte("---"))
		text := bytes.TrimSpace(rest)
		empty = empty && (len(text) == 0 || text[0] == '#')
		if separates {
			if empty {
				lines[i] = append([]byte("#"), line...)
			}
			empty = true
		}
	}
	return bytes.Join(lines, nil)
}

func unmarshal(text string, m *scenario.Manifest) error {
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	return m.UnmarshalJSON(b)
}
