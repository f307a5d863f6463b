package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/velosim/velosim/sim/verdict"
)

// The elements are those that gotestsum writes (gotest.tools/gotestsum, internal/junitxml). Properties of a test case, which it does not have,
// are as pytest writes them; what does not know them passes over them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Time       string          `xml:"time,attr"`
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCase struct {
		Classname  string          `xml:"classname,attr"`
		Name       string          `xml:"name,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Failure    *junitFailure   `xml:"failure"`
		Error      *junitFailure   `xml:"error"`
		Out        string          `xml:"system-out,omitempty"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML: a suite for each target, and a case for each run. A failure is a failure, what is inconclusive an
// error, and a known deviation passes, with its rules as a property.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "velosim", Suites: []junitSuite{}}
	several := map[Target]map[string]int{}
	for _, run := range r.Runs {
		if several[run.Target()] == nil {
			several[run.Target()] = map[string]int{}
		}
		several[run.Target()][run.Scenario]++
	}
	total := 0.0
	for _, t := range r.Targets {
		suite := junitSuite{
			Tests: t.Runs, Failures: t.Fail, Errors: t.Inconclusive, Name: t.Target.String(), Timestamp: r.Generated.Format("2006-01-02T15:04:05Z07:00"),
			Properties: []junitProperty{{"world", t.World}, {"release", t.Release}, {"velosim", r.Velosim}},
		}
		seconds := 0.0
		for _, run := range r.Runs {
			if run.Target() != t.Target {
				continue
			}
			seconds += run.WallSeconds
			suite.Cases = append(suite.Cases, junitOf(run, several[t.Target][run.Scenario] > 1))
		}
		suite.Time = junitTime(seconds)
		total += seconds
		all.Suites = append(all.Suites, suite)
		all.Tests, all.Failures, all.Errors = all.Tests+t.Runs, all.Failures+t.Fail, all.Errors+t.Inconclusive
	}
	all.Time = junitTime(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "\t")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(run Run, several bool) junitCase {
	c := junitCase{
		Classname: "velosim." + run.World, Name: run.Scenario, Time: junitTime(run.WallSeconds),
		Properties: []junitProperty{
			{"seed", fmt.Sprint(run.Seed)}, {"world", run.World}, {"release", run.Version}, {"replay", run.Replay}, {"phase", run.Phase},
		},
	}
	if several {
		c.Name += fmt.Sprintf(" (seed %d)", run.Seed)
	}
	switch run.Verdict {
	case verdict.KnownDeviation:
		c.Properties = append(c.Properties, junitProperty{"deviations", strings.Join(run.Deviations, ", ")})
		c.Out = "known deviation: " + strings.Join(run.Deviations, ", ") + "\n"
	case verdict.Fail:
		c.Failure = &junitFailure{firstFinding(run), "fail", findings(run)}
	case verdict.Inconclusive:
		c.Error = &junitFailure{firstFinding(run), "inconclusive", findings(run)}
	}
	return c
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }

// firstFinding is a line.
func firstFinding(run Run) string {
	if len(run.Findings) == 0 {
		return string(run.Verdict)
	}
	f := run.Findings[0]
	seen, _, _ := strings.Cut(f.Seen, "\n")
	return fmt.Sprintf("%s: expected %s, saw %s", f.Oracle, f.Expected, seen)
}

// findings are all, as text, and how to see them again.
func findings(run Run) string {
	var b strings.Builder
	for _, f := range run.Findings {
		fmt.Fprintf(&b, "%s", f.Oracle)
		if f.Object != "" {
			fmt.Fprintf(&b, ", %s", f.Object)
		}
		fmt.Fprintf(&b, ", at %s\n  expected %s\n  saw      %s\n", f.At, f.Expected, strings.ReplaceAll(f.Seen, "\n", "\n           "))
		if len(f.Rules) > 0 {
			fmt.Fprintf(&b, "  by rule  %s\n", strings.Join(f.Rules, ", "))
		}
	}
	if run.Replay != "" {
		fmt.Fprintf(&b, "replay: %s\n", run.Replay)
	}
	return b.String()
}
