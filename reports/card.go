package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

// cardWidth is how wide a card is on a terminal, in characters.
const cardWidth = 100

// CardJSON writes the card of a plugin as JSON.
func CardJSON(w io.Writer, c contract.Card) error {
	// A list that is empty is one, and not null, so that a program can go through it.
	c.Registers = append([]string{}, c.Registers...)
	c.Checks = append([]contract.Checked{}, c.Checks...)
	return printJSON(w, c)
}

// CardText writes the card of a plugin for a terminal: a line for each check, then what to know of those that fail or are inconclusive.
func CardText(w io.Writer, c contract.Card) error {
	var b strings.Builder
	field := func(name, value string) {
		wrap(&b, fmt.Sprintf("%-9s  ", name), strings.Repeat(" ", 11), oneLine(value))
	}
	field("plugin", c.Plugin)
	for i, r := range c.Registers {
		field([]string{"registers", ""}[min(i, 1)], r)
	}
	field("world", ranIn(c))
	field("Velero", c.Velero)
	b.WriteString("\n")

	names := 0
	for _, x := range c.Checks {
		names = max(names, utf8.RuneCountInString(oneLine(x.Name)))
	}
	for _, x := range c.Checks {
		row := fmt.Sprintf("%-*s  %-*s  ", len(contract.NotApplicable), x.Outcome, names, oneLine(x.Name))
		room := max(cardWidth-utf8.RuneCountInString(row), 20)
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(row+shortened(firstEvidence(x), room), " "))
	}
	for _, x := range c.Checks {
		if x.Outcome != contract.Fail && x.Outcome != contract.Inconclusive {
			continue
		}
		b.WriteString("\n")
		wrap(&b, "", "  ", strings.ToUpper(string(x.Outcome))+" "+oneLine(x.Name))
		for _, line := range explained(x) {
			wrap(&b, "  ", "    ", line)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", cardSummary(c))
	_, err := io.WriteString(w, b.String())
	return err
}

// ranIn is the world, and its executable if it is known.
func ranIn(c contract.Card) string {
	if c.Build == "" {
		return c.World
	}
	return c.World + ", build " + c.Build
}

// outcomes in the order in which they are counted.
func outcomes() []contract.Outcome {
	return []contract.Outcome{contract.Pass, contract.Fail, contract.Inconclusive, contract.NotApplicable}
}

// cardSummary counts the outcomes: "2 checks: 1 pass, 1 fail, 0 inconclusive, 0 not applicable".
func cardSummary(c contract.Card) string {
	var counts []string
	for _, o := range outcomes() {
		counts = append(counts, fmt.Sprintf("%d %s", c.Count(o), o))
	}
	checks := "checks"
	if len(c.Checks) == 1 {
		checks = "check"
	}
	return fmt.Sprintf("%d %s: %s", len(c.Checks), checks, strings.Join(counts, ", "))
}

// explained is what to know of a check, in lines: what is demanded, where, what was seen, what comes of it and what to do.
func explained(x contract.Checked) (lines []string) {
	add := func(first, rest, text string) {
		for i, line := range strings.Split(printable(text), "\n") {
			if i > 0 {
				first = rest
			}
			lines = append(lines, strings.TrimRight(first+line, " "))
		}
	}
	add("", "", x.Demands)
	add("source: ", "  ", x.Source)
	for _, e := range x.Evidence {
		add("- ", "  ", e)
	}
	add("Velero: ", "  ", x.Velero)
	add("fix: ", "  ", x.Fix)
	return lines
}

// firstEvidence is the first line of what was seen; empty: nothing was.
func firstEvidence(x contract.Checked) string {
	if len(x.Evidence) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(printable(x.Evidence[0]), "\n")
	return oneLine(first)
}

// oneLine is a text without line ends.
func oneLine(text string) string { return strings.Join(strings.Fields(printable(text)), " ") }

// shortened is a text of at most so many characters.
func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// printable is a text of a plugin's in which bytes that are no text, and characters that a terminal or a browser would obey, are spelled out as
// the CLI does on a terminal. Line ends within it stay. The lines are folded after this, as it makes them longer.
func printable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(text)
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r != '\n' && unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return strings.TrimSpace(b.String())
}

// wrap writes a line as lines of at most cardWidth characters: it begins with first, and what does not fit goes on after rest. A word that is
// longer than a line is cut.
func wrap(b *strings.Builder, first, rest, line string) {
	const label = 8 // a line is not broken behind its label, such as "Velero: "
	left := []rune(line)
	for len(first)+len(left) > cardWidth {
		room := cardWidth - len(first)
		cut := room
		for i := room; i > label; i-- {
			if left[i] == ' ' && strings.TrimSpace(string(left[:i])) != "" {
				cut = i
				break
			}
		}
		fmt.Fprintf(b, "%s\n", strings.TrimRight(first+string(left[:cut]), " "))
		left = []rune(strings.TrimLeft(string(left[cut:]), " "))
		first = rest
	}
	fmt.Fprintf(b, "%s\n", strings.TrimRight(first+string(left), " "))
}
