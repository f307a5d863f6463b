package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/verdict"
)

// Schema is the version of the JSON that a Report is written as.
const Schema = 1

// Report is what any number of runs show together. All formats are made from it.
type Report struct {
	Schema int `json:"schema"`
	// Generated is when it was made, in UTC.
	Generated time.Time `json:"generated"`
	// Velosim is the version that made it.
	Velosim string `json:"velosim"`
	// Targets are where the runs took place, with what they came to, in order.
	Targets []TargetTotals `json:"targets"`
	// Runs in order of scenario, target and seed.
	Runs []Run `json:"runs"`
	// Coverage of each kind on each target, in order.
	Coverage []Coverage `json:"coverage"`
	// Deviations are the rules that runs have shown, in the order of `velosim deviations`.
	Deviations []Deviation `json:"deviations"`
	// Explorations of the specification, which the coverage is of.
	Explorations []Exploration `json:"explorations,omitempty"`
	// Code is how much of Velero's phase controllers the catalogue reaches, as `make cover-velero` has measured it.
	Code *Code `json:"code,omitempty"`

	results []Result // with traces, as the runs
}

// TargetTotals is what the runs on a target came to.
type TargetTotals struct {
	Target
	Runs      int `json:"runs"`
	Scenarios int `json:"scenarios"`
	// Seeds are the first and the last.
	Seeds          [2]int64 `json:"seeds"`
	Pass           int      `json:"pass"`
	KnownDeviation int      `json:"knownDeviation"`
	Inconclusive   int      `json:"inconclusive"`
	Fail           int      `json:"fail"`
}

// InconclusiveAt and FailAt are how many runs come before those in a bar.
func (t TargetTotals) InconclusiveAt() int { return t.Pass + t.KnownDeviation }
func (t TargetTotals) FailAt() int         { return t.InconclusiveAt() + t.Inconclusive }

// Deviation is a rule by which a release deviates, and where it was seen.
type Deviation struct {
	Rule string `json:"rule"`
	// Statement of what is demanded, and Deviation: what the release does.
	Statement string `json:"statement"`
	Deviation string `json:"deviation"`
	// Reports in upstream trackers.
	Reports []string `json:"reports,omitempty"`
	Seen    []Seen   `json:"seen"`
}

// Seen is a deviation on a target.
type Seen struct {
	Target
	Runs      int      `json:"runs"`
	Scenarios []string `json:"scenarios"`
}

// Exploration is what `velosim explore` has found of the specification.
type Exploration struct {
	Reading   string `json:"reading"`
	Kind      string `json:"kind"`
	Distinct  int    `json:"distinct"`
	Generated int    `json:"generated"`
	// Complete: every state was visited, within the Bounds, which are in words.
	Complete bool   `json:"complete"`
	Bounds   string `json:"bounds"`
	// Counterexamples to what is demanded, by the rules that they are due to.
	Counterexamples int `json:"counterexamples"`
}

// Code is the coverage of Velero's code.
type Code struct {
	// Release of Velero, and Seeds of each scenario that were run.
	Release     string       `json:"release"`
	Seeds       int          `json:"seeds"`
	Controllers []Controller `json:"controllers"`
}

// Controller is one of Velero's phase controllers.
type Controller struct {
	Name       string `json:"name"`
	Statements int    `json:"statements"`
	// Reached by the catalogue, and Unit by Velero's own unit tests.
	Reached int `json:"reached"`
	Unit    int `json:"unit"`
}

// Options are what a report says that is not in the runs.
type Options struct {
	// Now is when it is made.
	Now     time.Time
	Velosim string
	// Explorations and Code are as in Report.
	Explorations []Exploration
	Code         *Code
}

// New reports what the results show. It is pure, and does not depend on their order.
func New(results []Result, o Options) *Report {
	r := &Report{Schema: Schema, Generated: o.Now.UTC(), Velosim: o.Velosim, Targets: []TargetTotals{}, Runs: []Run{}, Deviations: []Deviation{}}
	r.Explorations, r.Code = o.Explorations, o.Code
	r.results = slices.Clone(results)
	slices.SortStableFunc(r.results, func(a, b Result) int { return a.Run.Compare(b.Run) })
	made := coverage{}
	for _, result := range r.results {
		r.Runs = append(r.Runs, result.Run)
		made.add(result)
	}
	r.Targets = totals(r.Runs)
	r.Coverage = made.all()
	r.Deviations = deviations(r.Runs)
	return r
}

func totals(runs []Run) []TargetTotals {
	of := map[Target]*TargetTotals{}
	scenarios := map[Target]map[string]bool{}
	for _, run := range runs {
		t := of[run.Target()]
		if t == nil {
			t = &TargetTotals{Target: run.Target(), Seeds: [2]int64{run.Seed, run.Seed}}
			of[run.Target()], scenarios[run.Target()] = t, map[string]bool{}
		}
		scenarios[run.Target()][run.Scenario] = true
		t.Runs++
		t.Seeds = [2]int64{min(t.Seeds[0], run.Seed), max(t.Seeds[1], run.Seed)}
		*t.count(run.Verdict)++
	}
	all := []TargetTotals{}
	for _, target := range slices.SortedFunc(maps.Keys(of), Target.Compare) {
		of[target].Scenarios = len(scenarios[target])
		all = append(all, *of[target])
	}
	return all
}

func (t *TargetTotals) count(v verdict.Result) *int {
	switch v {
	case verdict.Pass:
		return &t.Pass
	case verdict.KnownDeviation:
		return &t.KnownDeviation
	case verdict.Fail:
		return &t.Fail
	}
	return &t.Inconclusive
}

func deviations(runs []Run) []Deviation {
	seen := map[string]map[Target]map[string]int{}
	for _, run := range runs {
		for _, rule := range run.Deviations {
			if seen[rule] == nil {
				seen[rule] = map[Target]map[string]int{}
			}
			if seen[rule][run.Target()] == nil {
				seen[rule][run.Target()] = map[string]int{}
			}
			seen[rule][run.Target()][run.Scenario]++
		}
	}
	all := []Deviation{}
	for _, rule := range phase.All() {
		if seen[rule.Name] == nil {
			continue
		}
		d := Deviation{Rule: rule.Name, Statement: rule.Statement, Deviation: rule.Deviation, Reports: rule.Reports}
		for _, target := range slices.SortedFunc(maps.Keys(seen[rule.Name]), Target.Compare) {
			s := Seen{Target: target}
			for _, name := range slices.Sorted(maps.Keys(seen[rule.Name][target])) {
				s.Runs += seen[rule.Name][target][name]
				s.Scenarios = append(s.Scenarios, name)
			}
			d.Seen = append(d.Seen, s)
		}
		all = append(all, d)
	}
	return all
}

// Worst is the verdict that stands for all: a failure wins over what is inconclusive, and that over the rest.
func (r *Report) Worst() verdict.Result {
	worst := verdict.Pass
	for _, run := range r.Runs {
		worst = verdicts()[max(slices.Index(verdicts(), worst), slices.Index(verdicts(), run.Verdict))]
	}
	return worst
}

// Unexplained are the runs that somebody has to look at, failures first.
func (r *Report) Unexplained() []Run {
	runs := slices.DeleteFunc(slices.Clone(r.Runs), Run.Green)
	slices.SortStableFunc(runs, func(a, b Run) int {
		return -cmp.Compare(slices.Index(verdicts(), a.Verdict), slices.Index(verdicts(), b.Verdict))
	})
	return runs
}

// FirstSentence of a description, in one line.
func FirstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}
