package reports

import (
	"encoding/xml"
	"io"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

// The elements are those of a report's JUnit XML, and what a check may be that a run may not: skipped.
type (
	cardSuites struct {
		XMLName  xml.Name  `xml:"testsuites"`
		Name     string    `xml:"name,attr"`
		Tests    int       `xml:"tests,attr"`
		Failures int       `xml:"failures,attr"`
		Errors   int       `xml:"errors,attr"`
		Skipped  int       `xml:"skipped,attr"`
		Time     string    `xml:"time,attr"`
		Suite    cardSuite `xml:"testsuite"`
	}
	cardSuite struct {
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []cardCase      `xml:"testcase"`
	}
	cardCase struct {
		Classname string        `xml:"classname,attr"`
		Name      string        `xml:"name,attr"`
		Time      string        `xml:"time,attr"`
		Skipped   *cardSkipped  `xml:"skipped"`
		Failure   *junitFailure `xml:"failure"`
		Error     *junitFailure `xml:"error"`
		Out       string        `xml:"system-out,omitempty"`
	}
	cardSkipped struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// CardJUnit writes the card of a plugin as JUnit XML: a suite, with a case for each check. As in that of a report, a failure is a failure, and
// what is inconclusive an error; what is not applicable is skipped. The time is that of the card: nothing is known of how long a check took.
func CardJUnit(w io.Writer, c contract.Card, at time.Time) error {
	none := junitTime(0)
	suite := cardSuite{
		Tests: len(c.Checks), Failures: c.Count(contract.Fail), Errors: c.Count(contract.Inconclusive), Skipped: c.Count(contract.NotApplicable),
		Time: none, Name: "velosim plugin test", Timestamp: at.UTC().Format("2006-01-02T15:04:05Z07:00"),
		Properties: []junitProperty{{"plugin", oneLine(c.Plugin)}, {"world", oneLine(c.World)}, {"velero", oneLine(c.Velero)}},
	}
	for _, x := range c.Checks {
		one := cardCase{Classname: "velosim.plugin", Name: oneLine(x.Name), Time: none}
		message, text := shortened(firstEvidence(x), 200), strings.Join(explained(x), "\n")+"\n"
		if message == "" {
			message = oneLine(x.Demands)
		}
		switch x.Outcome {
		case contract.Fail:
			one.Failure = &junitFailure{message, string(x.Outcome), text}
		case contract.Inconclusive:
			one.Error = &junitFailure{message, string(x.Outcome), text}
		case contract.NotApplicable:
			one.Skipped = &cardSkipped{message, text}
		default:
			one.Out = text
		}
		suite.Cases = append(suite.Cases, one)
	}
	all := cardSuites{
		Name: "velosim", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped, Time: none, Suite: suite,
	}
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
