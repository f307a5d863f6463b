package reports

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxMarkdown bounds what is written, in bytes: a step summary of GitHub Actions takes 1 MiB.
const maxMarkdown = 1 << 20

// WriteMarkdown writes the report for the summary of a CI step: the outcome first, then what somebody has to look at, coverage, and deviations.
// It stays below 1 MiB: what is left out is said.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var head, tail strings.Builder
	fmt.Fprintf(&head, "# velosim: %s\n\n", r.outcome())
	head.WriteString("| world and release | runs | pass | known deviation | fail | inconclusive | seeds |\n|---|--:|--:|--:|--:|--:|---|\n")
	for _, t := range r.Targets {
		fmt.Fprintf(&head, "| %s | %d | %d | %d | %d | %d | %d to %d |\n", cell(t.Target.String()), t.Runs, t.Pass, t.KnownDeviation, t.Fail, t.Inconclusive, t.Seeds[0], t.Seeds[1])
	}
	tail.WriteString("\n## Coverage\n\n| transitions of | world and release | covered | | by a deviation |\n|---|---|--:|--:|--:|\n")
	for _, c := range r.Coverage {
		covered, reachable := c.Demanded()
		all, of := c.Reachable()
		fmt.Fprintf(&tail, "| %s | %s | %d of %d | %.0f %% | %d of %d |\n",
			c.Kind, cell(c.Target.String()), covered, reachable, percent(covered, reachable), all-covered, of-reachable)
	}
	for _, c := range r.Coverage {
		for _, status := range []Status{Illegal, Uncovered} {
			names := c.names(status)
			if len(names) == 0 {
				continue
			}
			fmt.Fprintf(&tail, "\n<details><summary>%s: %d %s, %s</summary>\n\n", cell(c.Target.String()), len(names), status, c.Kind)
			for _, name := range names {
				fmt.Fprintf(&tail, "- %s\n", cell(name))
			}
			tail.WriteString("\n</details>\n")
		}
	}
	if len(r.Deviations) > 0 {
		tail.WriteString("\n## Known deviations\n\n| rule | what the release does | seen in | reports |\n|---|---|---|---|\n")
	}
	for _, d := range r.Deviations {
		var seen []string
		for _, s := range d.Seen {
			seen = append(seen, fmt.Sprintf("%s: %d runs", s.Target, s.Runs))
		}
		fmt.Fprintf(&tail, "| `%s` | %s | %s | %s |\n", d.Rule, cell(d.Deviation), cell(strings.Join(seen, "; ")), links(d.Reports))
	}
	fmt.Fprintf(&tail, "\nvelosim %s, %s\n", cell(r.Velosim), r.Generated.Format("2006-01-02 15:04 UTC"))

	if _, err := io.WriteString(w, head.String()); err != nil {
		return err
	}
	if err := r.writeUnexplained(w, maxMarkdown-head.Len()-tail.Len()); err != nil {
		return err
	}
	_, err := io.WriteString(w, tail.String())
	return err
}

// writeUnexplained writes what somebody has to look at, within so many bytes.
func (r *Report) writeUnexplained(w io.Writer, left int) error {
	const most = 16 << 10 // of one run
	cut := func(n int) string {
		return fmt.Sprintf("\n%d more are left out, as this page may have %d bytes: `velosim report` prints them.\n", n, maxMarkdown)
	}
	left -= len(cut(1 << 30))
	runs := r.Unexplained()
	for i, run := range runs {
		var b strings.Builder
		if i == 0 {
			b.WriteString("\n## What failed or is inconclusive\n")
		}
		text := findings(run)
		if len(text) > most {
			text = text[:most] + "\n…"
		}
		fmt.Fprintf(&b, "\n<details><summary><b>%s</b>: %s (%s, seed %d): %s</summary>\n\n%s\n</details>\n",
			run.Verdict, cell(run.Scenario), cell(run.Target().String()), run.Seed, cell(firstFinding(run)), fenced(text))
		if left -= b.Len(); left < 0 {
			_, err := io.WriteString(w, cut(len(runs)-i))
			return err
		}
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// outcome of all runs, in a few words.
func (r *Report) outcome() string {
	failed, unclear := 0, 0
	for _, t := range r.Targets {
		failed, unclear = failed+t.Fail, unclear+t.Inconclusive
	}
	switch {
	case len(r.Runs) == 0:
		return "no runs"
	case failed > 0 && unclear > 0:
		return fmt.Sprintf("%d of %d runs failed, and %d are inconclusive", failed, len(r.Runs), unclear)
	case failed > 0:
		return fmt.Sprintf("%d of %d runs failed", failed, len(r.Runs))
	case unclear > 0:
		return fmt.Sprintf("%d of %d runs are inconclusive", unclear, len(r.Runs))
	}
	return fmt.Sprintf("all %d runs pass or are known deviations", len(r.Runs))
}

// names of the transitions with the status; of those that are uncovered, what a deviation makes is told.
func (c Coverage) names(status Status) (names []string) {
	for _, t := range c.Transitions {
		name := t.Name()
		if t.Deviation {
			name += " (a deviation)"
		}
		if t.Status == status {
			names = append(names, name)
		}
	}
	return names
}

// cell is text in a cell of a table, or in a line.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[").Replace(text)
}

// fenced is text as it is. The fence is longer than any in the text.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// upstream is the name of an upstream report: velero#6490, or with another owner openshift/oadp-operator#703.
var upstream = regexp.MustCompile(`^([A-Za-z0-9-]+/)?([A-Za-z0-9._-]+)#([0-9]+)$`)

// Link is where an upstream report is found; empty: it is not known.
func Link(name string) string {
	m := upstream.FindStringSubmatch(name)
	switch {
	case m == nil || m[1] == "" && m[2] != "velero":
		return ""
	case m[1] == "":
		m[1] = "vmware-tanzu/"
	}
	return "https://github.com/" + m[1] + m[2] + "/issues/" + m[3]
}

func links(names []string) string {
	var all []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		if link := Link(name); link != "" {
			name = fmt.Sprintf("[%s](%s)", name, link)
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}
