package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxDuration bounds every duration, so that sums of them cannot overflow.
const maxDuration = 30 * 24 * time.Hour

// decoder sets Go values from nodes, guided by the json tags of their types, and remembers where each came from.
type decoder struct {
	*report
	spans map[string]span // by path: plugins[0].name
}

// has tells whether the file sets the field at a path.
func (d *decoder) has(path string) bool {
	_, ok := d.spans[path]
	return ok
}

func (d *decoder) decode(path string, n *node, v reflect.Value) {
	if _, ok := d.spans[path]; !ok { // a field's name, set by its mapping, goes before a collection's first token
		d.spans[path] = n.at
	}
	if d.full() {
		return
	}
	if n.kind == null {
		d.add(n.at, path, "", "has no value; give it one or leave it out")
		return
	}
	if v.Type() == reflect.TypeFor[Duration]() {
		d.duration(path, n, v.Addr().Interface().(*Duration))
		return
	}
	switch v.Kind() {
	case reflect.Map:
		if d.want(path, n, mapping, "a mapping") {
			d.entries(path, n, v)
		}
	case reflect.Interface:
		if value := d.value(path, n); value != nil { // null was reported above
			v.Set(reflect.ValueOf(value))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if v.Elem().Kind() == reflect.Slice { // present and empty is not absent
			v.Elem().Set(reflect.MakeSlice(v.Type().Elem(), 0, 0))
		}
		d.decode(path, n, v.Elem())
	case reflect.Struct:
		if d.want(path, n, mapping, "a mapping") {
			d.fields(path, n, v)
		}
	case reflect.Slice:
		if len(n.items) > maxItems {
			d.add(d.span(path), path, "", fmt.Sprintf("has %d entries; a list has at most %d", len(n.items), maxItems))
		} else if d.want(path, n, sequence, "a list") {
			for i, item := range n.items {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
				d.decode(fmt.Sprintf("%s[%d]", path, i), item, v.Index(i))
			}
		}
	case reflect.String:
		d.text(path, n, v)
	case reflect.Bool:
		if d.want(path, n, boolean, "true or false") {
			v.SetBool(n.text == "true")
		}
	case reflect.Int, reflect.Int64:
		if d.want(path, n, number, "a whole number") {
			d.integer(path, n, v)
		}
	default:
		panic("scenario: no decoding of " + v.Type().String()) // a mistake in types.go, found by any test
	}
}

// want reports a node that is not of the kind that the field needs.
func (d *decoder) want(path string, n *node, k kind, what string) bool {
	if n.kind != k {
		d.add(n.at, path, "", fmt.Sprintf("want %s, found %s", what, n.describe()))
	}
	return n.kind == k
}

func (n *node) describe() string {
	switch n.kind {
	case boolean, number, text:
		return fmt.Sprintf("%s, %s", n.kind, quote(n.text))
	default:
		return string(n.kind)
	}
}

func (d *decoder) text(path string, n *node, v reflect.Value) {
	switch {
	case n.kind == boolean || n.kind == number:
		d.add(n.at, path, "", fmt.Sprintf("want a string, found %s; put it in quotes", n.describe()))
	case d.want(path, n, text, "a string") && n.text == "":
		d.add(n.at, path, "", "is empty; give it a value or leave it out")
	default:
		v.SetString(n.text)
	}
}

func (d *decoder) integer(path string, n *node, v reflect.Value) {
	i, err := strconv.ParseInt(n.text, 10, 64)
	switch {
	case err != nil || v.OverflowInt(i):
		d.add(n.at, path, "", fmt.Sprintf("want a whole number in decimal digits, found %s", quote(n.text)))
	case i < 0:
		d.add(n.at, path, "", "must not be negative")
	default:
		v.SetInt(i)
	}
}

func (d *decoder) duration(path string, n *node, to *Duration) {
	const what = "a duration such as 90s, 1h30m or 4h"
	if n.kind == number {
		d.add(n.at, path, "", fmt.Sprintf("want %s, found %s without a unit", what, quote(n.text)))
		return
	}
	if !d.want(path, n, text, what) {
		return
	}
	v, err := time.ParseDuration(n.text)
	switch {
	case err != nil:
		d.add(n.at, path, "", fmt.Sprintf("want %s, found %s", what, quote(n.text)))
	case v < 0:
		d.add(n.at, path, "", "must not be negative")
	case v > maxDuration:
		d.add(n.at, path, "", "must not be longer than 720h (30 days)")
	default:
		to.Duration = v
	}
}

// fields sets the fields of a struct, and reports those that it does not have and those that it lacks.
func (d *decoder) fields(path string, n *node, v reflect.Value) {
	known := fieldsOf(v.Type())
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].name
	}
	var meant []string
	for _, f := range n.fields {
		at := join(path, f.name)
		i := slices.Index(names, f.name)
		switch {
		case i >= 0:
			if d.first(at, f) {
				d.decode(at, f.value, v.FieldByIndex(known[i].index))
			}
		case path == "" && f.name == "description":
			d.add(f.at, at, "", "is not a field; the description is the comment at the head of the file")
		default:
			suggestion := nearest(f.name, names)
			meant = append(meant, suggestion)
			message := "unknown field"
			if suggestion == "" {
				message += "; known here: " + list(names)
			}
			d.add(f.at, join(path, shorten(f.name)), suggestion, message)
		}
	}
	for _, f := range known {
		if at := join(path, f.name); f.required && !d.has(at) && !slices.Contains(meant, f.name) {
			d.add(d.span(path), at, "", "is missing")
		}
	}
}

// entries sets those of a map, whose keys are the file's own.
func (d *decoder) entries(path string, n *node, v reflect.Value) {
	if len(n.fields) > 0 {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, f := range n.fields {
		at := entry(path, f.name)
		if !d.first(at, f) {
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.decode(at, f.value, value)
		v.SetMapIndex(reflect.ValueOf(f.name), value)
	}
}

// span of the value at the path, or else of what it would be in.
func (d *decoder) span(path string) span {
	for path != "" && !d.has(path) {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return d.spans[path]
}

// structField is a field that a file may set.
type structField struct {
	name     string
	index    []int
	required bool
}

// fieldsOf a struct by the json tags, embedded structs inlined. A field that JSON always writes is required.
func fieldsOf(t reflect.Type) []structField {
	var result []structField
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" || t == reflect.TypeFor[Scenario]() && name == "description" {
			continue
		}
		result = append(result, structField{name: name, index: f.Index, required: options == ""})
	}
	return result
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shorten a name of the file's own, which may be of any length and anything but a name.
func shorten(name string) string {
	if q := quote(name); q != `"`+name+`"` || strings.ContainsAny(name, " .[") || name == "" {
		return q
	}
	return name
}
