package scenario

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// specs are the schemas of the specs of a backup and of a restore, as Velero's CRDs have them, without descriptions. A test
// writes the file.
//
//go:embed specs.json
var specs string

// property is what a CRD says of a value; what else it says the API server checks.
type property struct {
	Type                 string              `json:"type,omitempty"`
	Properties           map[string]property `json:"properties,omitempty"`
	AdditionalProperties *property           `json:"additionalProperties,omitempty"`
	Items                *property           `json:"items,omitempty"`
	Required             []string            `json:"required,omitempty"`
	Enum                 []string            `json:"enum,omitempty"`
	IntOrString          bool                `json:"x-kubernetes-int-or-string,omitempty"`
	PreserveUnknown      bool                `json:"x-kubernetes-preserve-unknown-fields,omitempty"`
}

// overlay checks what else the spec of a kind of object says. What the scenario has fields of its own for, is said there.
func (l *linter) overlay(path, kind string, s Spec, own []string) {
	if l.filled(path, len(s), "a field"); len(s) == 0 || !l.decoded(path) {
		return
	}
	for _, name := range own {
		if at := entry(path, name); l.has(at) {
			l.complain(at, "is a field of the %s here; write it beside spec", kind)
		}
	}
	var known map[string]property
	if err := json.Unmarshal([]byte(specs), &known); err != nil {
		panic("scenario: specs.json: " + err.Error()) // a mistake in the file, found by any test
	}
	l.fits(path, map[string]any(s), known[kind])
}

// fits checks a value against what the CRD says of it.
func (l *linter) fits(path string, value any, p property) {
	switch v := value.(type) {
	case map[string]any:
		if l.typed(path, p, "object", "a mapping") {
			l.properties(path, v, p)
		}
	case []any:
		if !l.typed(path, p, "array", "a list") || p.Items == nil {
			return
		}
		for i, item := range v {
			l.fits(fmt.Sprintf("%s[%d]", path, i), item, *p.Items)
		}
	case string:
		if l.typed(path, p, "string", "a string") && len(p.Enum) > 0 {
			l.oneOf(path, v, "a value that Velero's API takes", p.Enum)
		}
	case bool:
		l.typed(path, p, "boolean", "true or false")
	case int64:
		l.typed(path, p, "integer", "a whole number")
	default:
		l.typed(path, p, "number", "a number")
	}
}

// typed reports a value of another type than the CRD asks for.
func (l *linter) typed(path string, p property, is, found string) bool {
	if p.Type == is || p.Type == "" || p.Type == "number" && is == "integer" {
		return true
	}
	want := map[string]string{
		"object": "a mapping", "array": "a list", "string": "a string", "boolean": "true or false", "integer": "a whole number", "number": "a number",
	}[p.Type]
	l.complain(path, "want %s, as Velero's API has it, found %s", want, found)
	return false
}

// properties checks the fields of a mapping.
func (l *linter) properties(path string, v map[string]any, p property) {
	known := slices.Sorted(maps.Keys(p.Properties))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		at := entry(path, name)
		switch of, ok := p.Properties[name]; {
		case ok:
			l.fits(at, v[name], of)
		case p.AdditionalProperties != nil:
			l.fits(at, v[name], *p.AdditionalProperties)
		case len(known) > 0 && !p.PreserveUnknown:
			l.oneOf(at, name, "a field of Velero's API here", known)
		}
	}
	for _, name := range p.Required {
		if _, ok := v[name]; !ok {
			l.complain(entry(path, name), "is missing")
		}
	}
}
