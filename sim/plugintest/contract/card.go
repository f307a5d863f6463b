package contract

import "slices"

// Outcome of a check.
type Outcome string

// The outcomes.
const (
	// Pass: the plugin does as it should.
	Pass Outcome = "pass"
	// Fail: it does not.
	Fail Outcome = "fail"
	// Inconclusive: what was seen does not tell, such as when no item fits the plugin.
	Inconclusive Outcome = "inconclusive"
	// NotApplicable: the check is not about what the plugin is, as Progress is not about one that starts no operation.
	NotApplicable Outcome = "not applicable"
)

// Card is what the contract suite says of a plugin executable.
type Card struct {
	// Plugin is the executable.
	Plugin string `json:"plugin"`
	// Registers is what it registers: "BackupItemActionV2 example.io/mover".
	Registers []string `json:"registers"`
	// World and Velero are what it ran in, Build the world's executable.
	World  string `json:"world"`
	Velero string `json:"velero"`
	Build  string `json:"build,omitempty"`
	// Checks in the order of the suite.
	Checks []Checked `json:"checks"`
}

// Checked is a check, and what came of it.
type Checked struct {
	// Name of the check, such as progress-monotone, unique in the suite.
	Name string `json:"name"`
	// Demands is what the contract demands, in a sentence.
	Demands string `json:"demands"`
	// Source of the demand: a file of Velero's, or a section of its design documents.
	Source  string  `json:"source"`
	Outcome Outcome `json:"outcome"`
	// Evidence is what was seen: of a failure where the plugin falls short, else what the outcome rests upon.
	Evidence []string `json:"evidence,omitempty"`
	// Velero is what Velero does with a plugin that falls short; Fix is how to correct the plugin. Of every check, whatever its outcome.
	Velero string `json:"velero"`
	Fix    string `json:"fix"`
}

// Count is how many checks have the outcome.
func (c Card) Count(o Outcome) int {
	n := 0
	for _, x := range c.Checks {
		if x.Outcome == o {
			n++
		}
	}
	return n
}

// Outcome of the whole: Fail if a check fails, else Inconclusive if one is, else Pass.
func (c Card) Outcome() Outcome {
	for _, o := range []Outcome{Fail, Inconclusive} {
		if slices.ContainsFunc(c.Checks, func(x Checked) bool { return x.Outcome == o }) {
			return o
		}
	}
	return Pass
}
