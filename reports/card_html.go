package reports

import (
	"errors"
	"html/template"
	"io"
	"strings"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

// cardPage is what the template shows.
type cardPage struct {
	contract.Card
	RanIn  string
	Counts []outcomeCount
	Rows   []cardRow
	Policy string
	Style  template.CSS
}

// outcomeCount is how many checks have an outcome.
type outcomeCount struct {
	Outcome contract.Outcome
	Class   string
	N       int
}

// cardRow is a check, its class, and the first line of what was seen.
type cardRow struct {
	contract.Checked
	Class string
	Short string
	Open  bool
}

// cardStyle comes after that of the report's page.
const cardStyle = `:root { color-scheme: light dark; }
.checks th { white-space: nowrap; } .checks tbody th { font-weight: 600; }
.checks summary { cursor: pointer; overflow-wrap: anywhere; } .checks td:last-child { width: 100%; }
.checks dl, .about { display: grid; grid-template-columns: 6rem 1fr; gap: .25rem .8rem; margin: .5rem 0 .8rem; }
.checks dt, .about dt { color: var(--muted); } .checks dd, .about dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.checks dd ul { margin: 0; padding-left: 1.1rem; } h1 { overflow-wrap: anywhere; }
@media (max-width: 640px) { .checks dl, .about { grid-template-columns: 1fr; gap: 0; } .checks dd, .about dd { margin-bottom: .4rem; } }
@media (max-width: 640px) { .checks thead { display: none; } .checks tr, .checks td, .checks th { display: block; width: auto; white-space: normal; }
  .checks th, .checks td:not(:last-child) { border: 0; padding-bottom: 0; } }
`

// CardHTML writes the card of a plugin as one page for a browser, which needs nothing else, and asks for nothing: its policy forbids it. It has
// no script: light or dark is as the system prefers, and details open without.
func CardHTML(w io.Writer, c contract.Card) error {
	style, err := web.ReadFile("web/style.css")
	if err != nil {
		return err
	}
	text, err := web.ReadFile("web/card.tmpl")
	if err != nil {
		return err
	}
	// The report's page chooses the dark theme by a script.
	before, after, ok := strings.Cut(string(style), "[data-theme=dark] {")
	colours, after, closed := strings.Cut(after, "}")
	if !ok || !closed {
		return errors.New("web/style.css has no [data-theme=dark], from which the card takes its dark colours: name it in card_html.go")
	}
	sheet := before + "@media (prefers-color-scheme: dark) { :root {" + colours + "} }" + after + cardStyle
	p := cardPage{
		Card: c, RanIn: ranIn(c), Style: template.CSS(sheet),
		// The style begins after a line end in the template, which a hash of it covers, too.
		Policy: "default-src 'none'; style-src " + hashed("\n"+sheet) + "; base-uri 'none'; form-action 'none'",
	}
	for _, o := range outcomes() {
		p.Counts = append(p.Counts, outcomeCount{o, classOf(o), c.Count(o)})
	}
	for _, x := range c.Checks {
		p.Rows = append(p.Rows, cardRow{x, classOf(x.Outcome), shortened(firstEvidence(x), 200), x.Outcome == contract.Fail})
	}
	t, err := template.New("card").Funcs(template.FuncMap{"show": printable, "line": oneLine, "class": classOf}).Parse(string(text))
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// classOf an outcome is what web/style.css has a colour for.
func classOf(o contract.Outcome) string {
	if o == contract.NotApplicable {
		return "unreachable"
	}
	return string(o)
}
