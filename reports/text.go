package reports

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.outcome())
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\truns\tpass\tknown deviation\tfail\tinconclusive\tseeds\t\n")
	for _, x := range r.Targets {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d to %d\t\n", x.Target, x.Runs, x.Pass, x.KnownDeviation, x.Fail, x.Inconclusive, x.Seeds[0], x.Seeds[1])
	}
	t.Flush() //nolint:errcheck // to a Builder
	for _, run := range r.Unexplained() {
		fmt.Fprintf(&b, "\n%s: %s (%s, seed %d)\n  %s\n", run.Verdict, run.Scenario, run.Target(), run.Seed, firstFinding(run))
		if run.Replay != "" {
			fmt.Fprintf(&b, "  replay: %s\n", run.Replay)
		}
	}
	b.WriteString("\ntransitions\n")
	for _, c := range r.Coverage {
		fmt.Fprintf(&b, "  %s, %s: %s\n", c.Target, c.Kind, c.Summary())
		for _, status := range []Status{Illegal, Uncovered} {
			for _, name := range c.names(status) {
				fmt.Fprintf(&b, "    %s: %s\n", status, name)
			}
		}
	}
	if len(r.Explorations) > 0 {
		b.WriteString("\nexplorations of the specification\n")
	}
	for _, x := range r.Explorations {
		fmt.Fprintf(&b, "  %s, %s: %d distinct of %d generated states, %d counterexamples\n", x.Reading, x.Kind, x.Distinct, x.Generated, x.Counterexamples)
	}
	if len(r.Deviations) > 0 {
		b.WriteString("\nknown deviations\n")
	}
	for _, d := range r.Deviations {
		var seen []string
		for _, s := range d.Seen {
			seen = append(seen, fmt.Sprintf("%s %d", s.Target, s.Runs))
		}
		fmt.Fprintf(&b, "  %s: runs on %s", d.Rule, strings.Join(seen, ", "))
		if len(d.Reports) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(d.Reports, ", "))
		}
		b.WriteString("\n")
	}
	if r.Code != nil {
		fmt.Fprintf(&b, "\nstatements of Velero %s's phase controllers that the catalogue reaches (its own unit tests)\n", r.Code.Release)
		for _, c := range r.Code.Controllers {
			fmt.Fprintf(&b, "  %s: %.1f %% (%.1f %%)\n", c.Name, percent(c.Reached, c.Statements), percent(c.Unit, c.Statements))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
