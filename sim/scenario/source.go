package scenario

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a file. They are far above any scenario, and keep a hostile one from costing more than an error message.
const (
	maxSize   = 1 << 20 // bytes
	maxDepth  = 32      // mappings and lists within each other
	maxItems  = 1000    // entries of one list
	maxFields = 100     // of one mapping
)

// checkText reports what no YAML parser should be given: a file too large, or bytes that are not text.
func checkText(r *report, text string) {
	if len(text) > maxSize {
		r.add(span{line: 1, column: 1}, "", "", "the file has more than 1 MiB, the most that a scenario may have")
		return
	}
	for i, line := range r.lines {
		column := 0
		for offset, c := range strings.TrimSuffix(line, "\r") {
			column++
			at := span{line: i + 1, column: column}
			switch {
			case c == utf8.RuneError && !strings.HasPrefix(line[offset:], string(utf8.RuneError)):
				r.add(at, "", "", fmt.Sprintf("byte 0x%02x is not UTF-8; save the file as UTF-8", line[offset]))
			case c == 0:
				r.add(at, "", "", "NUL byte; a scenario is a text file")
			case c == '\t':
				r.add(at, "", "", "tab; indent and separate with spaces")
			case c < ' ' || c == 0x7f || c == '\u0085' || c == '\u2028' || c == '\u2029':
				r.add(at, "", "", fmt.Sprintf("control character U+%04X; remove it", c))
			}
		}
		if r.full() {
			return
		}
	}
}

// plain is the file without its byte order mark, with "\n" at the end of every line.
func plain(b []byte) string {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	return string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
}

// description is the comment block at the head of the file, without its "#", and without a line for editors that names the schema.
func description(text string) string {
	var comment []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(comment) == 0 && (line == "" || line == "---") {
			continue
		}
		line, isComment := strings.CutPrefix(line, "#")
		if !isComment {
			break
		}
		line = strings.TrimPrefix(line, " ")
		if !strings.HasPrefix(line, "yaml-language-server:") {
			comment = append(comment, line)
		}
	}
	return strings.TrimSpace(strings.Join(comment, "\n"))
}
