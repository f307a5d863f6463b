package scenario

import (
	"reflect"
	"slices"
)

// Parse reads a scenario file, whose name serves the messages only. Either the errors are nil, or the scenario is. Every
// default is filled in, and the description is the comment block at the head of the file.
//
// All errors of a file are reported at once; those of its YAML alone, should it not be well-formed.
func Parse(file string, b []byte) (*Scenario, Errors) {
	text := plain(b)
	r := newReport(file, text)
	checkText(r, text)
	if len(r.errors) > 0 {
		return nil, r.sorted()
	}
	root := parseYAML(r, text)
	if root == nil {
		return nil, r.sorted()
	}
	s := &Scenario{Description: description(text)}
	d := &decoder{report: r, spans: map[string]span{}}
	d.decode("", root, reflect.ValueOf(s).Elem())
	setDefaults(s, d.has)
	l := &linter{decoder: d, scenario: s, decodeErrors: slices.Clone(r.errors)}
	l.lint()
	if len(r.errors) > 0 {
		return nil, r.sorted()
	}
	return s, nil
}
