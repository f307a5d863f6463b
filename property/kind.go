package property

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/velosim/velosim/sim/verdict"
)

// Kind is what findings have in common that are likely of one cause: the oracle, the kind of the object, and what was expected; of those
// that are about a path, what was seen.
func Kind(f verdict.Finding) string {
	kind, _, _ := strings.Cut(f.Object, "/")
	said := f.Expected
	switch f.Oracle {
	case "determinism":
		return f.Oracle
	case "prediction", "conformance", "panic", completeness:
		said = f.Seen
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s: %s", f.Oracle, kind, alike(said))), " ")
}

// alike is the first line of a text without the names and numbers of one scenario.
func alike(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	for _, c := range []struct{ pattern, with string }{
		{`\b(backup|restore)/[a-z0-9-]+`, "$1"},
		{`\b(configmaps|secrets|serviceaccounts)/[a-z]+/[a-z]+`, "item"},
		{`\b(\d+(\.\d+)?(h|m|s|ms|µs|ns))+\b`, "T"},
		{`"[^"]*"`, "…"},
		{`\b[0-9a-f]*\d[0-9a-f]*\b`, "N"},
	} {
		text = regexp.MustCompile(c.pattern).ReplaceAllString(text, c.with)
	}
	return text
}
