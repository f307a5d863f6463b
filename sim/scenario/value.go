package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// value is a node as JSON would have it, for what the types leave open: manifests. It reports what JSON does not have.
func (d *decoder) value(path string, n *node) any {
	switch n.kind {
	case boolean:
		return n.text == "true"
	case number:
		return d.number(path, n)
	case text:
		return n.text
	case mapping:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			if at := entry(path, f.name); d.first(at, f) {
				m[f.name] = d.value(at, f.value)
			}
		}
		return m
	case sequence:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = d.value(fmt.Sprintf("%s[%d]", path, i), item)
		}
		return items
	}
	return nil
}

// number is whole where it can be, as Kubernetes has it.
func (d *decoder) number(path string, n *node) any {
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(n.text, 64)
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		d.add(n.at, path, "", fmt.Sprintf("want a decimal number, found %s; put it in quotes if it is a string", quote(n.text)))
		return nil
	case f == math.Trunc(f) && -1<<63 <= f && f < 1<<63:
		return int64(f)
	}
	return f
}

// first tells whether the field is set for the first time, and reports it if not.
func (d *decoder) first(path string, f field) bool {
	if d.has(path) {
		d.add(f.at, path, "", fmt.Sprintf("is set twice, first in line %d; keep one", d.spans[path].line))
		return false
	}
	d.spans[path] = f.value.at
	if f.value.kind == mapping || f.value.kind == sequence {
		d.spans[path] = f.at
	}
	return true
}

// entry is the path of a mapping's entry whose name is the file's own: metadata.name, objects[backup/backup-1].
func entry(path, name string) string {
	letter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	if name != "" && len(name) <= 40 && strings.TrimFunc(name, letter) == "" {
		return path + "." + name
	}
	return path + "[" + shorten(name) + "]"
}
