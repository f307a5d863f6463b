package main

import (
	"fmt"
	"strings"
)

// reason why nothing reaches some statements.
type reason struct {
	text string
	// atTimes: a race, of which it depends on the seeds whether it is reached.
	atTimes bool
	entries []entry
}

// entry is statements of a function: all that nothing reaches, or those in whose lines the excerpt is.
type entry struct{ file, function, excerpt string }

func (e entry) String() string {
	if e.excerpt == "" {
		return e.file + ": " + e.function
	}
	return e.file + ": " + e.function + ": " + e.excerpt
}

func (e entry) is(f function, g gap) bool {
	return g.file == e.file && f.name == e.function && strings.Contains(g.source, e.excerpt)
}

// parseReasons reads unreached.txt: a reason a line, and below it, indented, what it is the reason of, as FILE: FUNCTION or
// FILE: FUNCTION: EXCERPT. A reason that begins with "At times" is one of races. Lines that begin with # are comments.
func parseReasons(s string) ([]reason, error) {
	var reasons []reason
	n := 0
	for line := range strings.Lines(s) {
		n++
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case line[0] != '\t':
			reasons = append(reasons, reason{text: text, atTimes: strings.HasPrefix(text, "At times")})
		case len(reasons) == 0:
			return nil, fmt.Errorf("line %d: %s has no reason above it", n, text)
		default:
			file, rest, ok := strings.Cut(text, ": ")
			function, excerpt, _ := strings.Cut(rest, ": ")
			if !ok {
				return nil, fmt.Errorf("line %d: want FILE: FUNCTION, found %s", n, text)
			}
			last := &reasons[len(reasons)-1]
			last.entries = append(last.entries, entry{file, function, excerpt})
		}
	}
	return reasons, nil
}

// explain gives the gaps their reasons, the first that there is for each, and returns what is wrong: gaps without one, and entries
// without a gap.
func explain(controllers []controller, reasons []reason) (wrong []string) {
	used := map[entry]bool{}
	for _, c := range controllers {
		for i := range c.functions {
			f := &c.functions[i]
			for j := range f.missed {
				g := &f.missed[j]
				for _, r := range reasons {
					for _, e := range r.entries {
						if !e.is(*f, *g) {
							continue
						}
						used[e] = true
						if g.reason == "" {
							g.reason = r.text
							f.explained += g.statements
						}
					}
				}
				if g.reason == "" {
					wrong = append(wrong, fmt.Sprintf("%s:%d: %s: nothing reaches %q, and there is no reason", g.file, g.first, f.name, g.text))
				}
			}
		}
	}
	for _, r := range reasons {
		for _, e := range r.entries {
			if !used[e] && !r.atTimes {
				wrong = append(wrong, fmt.Sprintf("%s: it is reached, or is not there: remove the line", e))
			}
		}
	}
	return wrong
}
