package trace

import (
	"fmt"
	"strings"
	"unicode"
)

func (c Created) what() string {
	s := "created"
	if c.Schedule != "" {
		s += " as " + c.Name + " by schedule " + c.Schedule
	}
	if c.ItemOperationTimeout > 0 {
		s += fmt.Sprintf(", itemOperationTimeout %s", c.ItemOperationTimeout)
	}
	if c.Backup != "" {
		s += ", from backup " + c.Backup
	}
	return s
}

// what says which method, of which plugin, for which item or operation.
func (c Call) what() string {
	s := c.Plugin + " " + c.Method
	for _, of := range []string{c.Item, c.Operation} {
		if of != "" {
			s += " " + of
		}
	}
	return s
}

// what is the outcome of a call of the method.
func (r Return) what(method string) string {
	switch {
	case r.Panic:
		return "PANICKED: " + r.Error
	case r.Error != "":
		return "error: " + r.Error
	case r.Progress != nil:
		return r.Progress.what()
	case r.Ready != nil && *r.Ready:
		return "ready"
	case r.Ready != nil:
		return "not ready"
	case r.Operation != "":
		return "started operation " + r.Operation
	case r.Selects != "":
		return "selects " + r.Selects
	case method == "Execute":
		return "done, no operation"
	}
	return "done"
}

func (p Progress) what() string {
	s := p.amount()
	if p.Description != "" {
		s += fmt.Sprintf(" (%s)", p.Description)
	}
	switch {
	case p.Completed && p.Error != "":
		s += ", failed: " + p.Error
	case p.Completed:
		s += ", completed"
	}
	return s
}

// amount is how much is done: 5 of 10 GB.
func (p Progress) amount() string {
	s := fmt.Sprintf("%d of %d", p.Done, p.Of)
	if p.Units != "" {
		s += " " + p.Units
	}
	return s
}

func (w Write) what() string {
	s := fmt.Sprintf("%s: %s %s %s", w.Client, w.Verb, w.Resource, w.Name)
	if w.Change != "" {
		s += " " + shorten(w.Change)
	}
	if w.Error != "" {
		s += ": error: " + w.Error
	}
	return s
}

// progress reports whether the write is one that a timeline can do without: the object's creation by the user and its phase
// are events of their own, and what else Velero patches (progress, times, counts) says how far it is.
func (w Write) progress() bool {
	return w.Verb == "patch" || w.Verb == "create" && w.Client == "user"
}

func (s Store) what() string {
	what := fmt.Sprintf("%s: store %s %s", s.Controller, s.Verb, s.Key)
	if s.Controller == "" {
		what = strings.TrimPrefix(what, ": ")
	}
	if s.Size > 0 {
		what += ", " + count(s.Size, "byte")
	}
	if s.Error != "" {
		what += ": error: " + s.Error
	}
	return what
}

func (r Rest) what() string {
	if r.Copy == "store" && r.Phase == "" { // of a restore
		return fmt.Sprintf("at rest (store): %s", count(len(r.Operations), "item operation"))
	}
	s := fmt.Sprintf("at rest (%s): %s, %s, %s", r.Copy, orNone(r.Phase), count(r.Errors, "error"), count(r.Warnings, "warning"))
	if r.Attempted > 0 {
		s += fmt.Sprintf(", item operations: %d of %d completed, %d failed", r.Completed, r.Attempted, r.Failed)
	}
	return s
}

func (i Item) what() string {
	if len(i.Manifest) == 0 {
		return "at rest: there is none"
	}
	return "at rest: " + shorten(string(i.Manifest))
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// shorten cuts a long text for a line.
func shorten(s string) string {
	const most = 120
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// oneLine keeps a text that comes from outside from breaking the lines and columns that it is printed in, and escapes what
// else a terminal would obey.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unicode.IsControl(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
