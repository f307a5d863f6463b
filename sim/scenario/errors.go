package scenario

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxErrors of one file are reported; a file with more is not the scenario it was taken for.
const maxErrors = 100

// Error is one thing that is wrong with a scenario file.
type Error struct {
	File string
	// Line and Column count from 1; columns are characters, not bytes.
	Line, Column int
	// Field is where in the scenario: plugins[0].action. Empty: the file as a whole, or its YAML.
	Field string
	// Message says what is wrong and what to do about it.
	Message string
	// Suggestion is what was probably meant. Empty: no guess.
	Suggestion string

	source string // the line
	width  int    // of what is wrong, in characters
}

// Error formats e as a compiler does: position and message, then the line with a caret below.
func (e Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Field != "" {
		fmt.Fprintf(&b, "%s: ", e.Field)
	}
	b.WriteString(e.Message)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Suggestion)
	}
	text, column, width := excerpt(e.source, e.Column, e.width)
	fmt.Fprintf(&b, "\n%5d | %s\n      | %s^%s", e.Line, text, strings.Repeat(" ", column-1), strings.Repeat("~", width-1))
	return b.String()
}

// excerpt cuts a long line down to what surrounds the column, and replaces what a terminal cannot show.
func excerpt(line string, column, width int) (string, int, int) {
	const limit, lead = 120, 40
	runes := []rune(line)
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = utf8.RuneError
		}
	}
	if start := column - 1 - lead; len(runes) > limit && start > 0 {
		runes = append([]rune("…"), runes[start:]...)
		column = lead + 2
	}
	if len(runes) > limit {
		runes = append(runes[:limit:limit], '…')
	}
	return string(runes), column, max(1, min(width, len(runes)-column+1))
}

// Errors is everything that is wrong with one scenario file, in the order of the file; nil: nothing is.
type Errors []Error

// Error is every error, one after the other.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i := range e {
		texts[i] = e[i].Error()
	}
	return strings.Join(texts, "\n")
}

// concern tells whether one of the errors is of the field at the path, or of one below it.
func (e Errors) concern(path string) bool {
	return slices.ContainsFunc(e, func(e Error) bool {
		rest, below := strings.CutPrefix(e.Field, path)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// span is a piece of one line of the file; line and column count from 1, in characters.
type span struct{ line, column, width int }

// report collects the errors of a file.
type report struct {
	file   string
	lines  []string
	errors Errors
}

// newReport for the text of a file, which need not be valid in any way.
func newReport(file, text string) *report {
	return &report{file: file, lines: strings.Split(text, "\n")}
}

// full tells that there are more errors than are shown, so that looking for others is in vain.
func (r *report) full() bool { return len(r.errors) > maxErrors }

// add an error at a place, which is moved into the file should it lie outside.
func (r *report) add(at span, field, suggestion, message string) {
	if r.full() {
		return
	}
	line := min(max(at.line, 1), len(r.lines))
	source := strings.TrimSuffix(r.lines[line-1], "\r")
	end := utf8.RuneCountInString(source) + 1
	column := min(max(at.column, 1), end)
	r.errors = append(r.errors, Error{
		File: r.file, Line: line, Column: column, Field: field, Message: message, Suggestion: suggestion,
		source: source, width: max(1, min(at.width, end-column)),
	})
}

// sorted is the errors in the order of the file, at most maxErrors and a last one that says so.
func (r *report) sorted() Errors {
	slices.SortStableFunc(r.errors, func(a, b Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if r.full() {
		last := &r.errors[maxErrors]
		last.Field, last.Suggestion = "", ""
		last.Message = fmt.Sprintf("more than %d errors; the rest is not shown", maxErrors)
	}
	return r.errors
}

// quote a text of the file for a message, shortened.
func quote(text string) string {
	const limit = 60
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
