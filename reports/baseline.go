package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/verdict"
)

// Baseline is what runs are expected to show, by target: "virtual 1.18.3". It is kept in a file that is reviewed like code.
type Baseline map[string]Expected

// Expected is what the runs on a target are expected to show.
type Expected struct {
	// Seeds that each scenario was run with.
	Seeds int `yaml:"seeds"`
	// Scenarios with their outcomes, each once: pass, or "known deviation: " and the rules.
	Scenarios map[string][]string `yaml:"scenarios"`
	// Transitions that runs have made, by kind.
	Transitions map[string][]string `yaml:"transitions"`
}

// ParseBaseline reads a baseline's file, whose name is for errors: they show the line. It is strict. An empty file expects nothing.
func ParseBaseline(name string, b []byte) (Baseline, error) {
	var base Baseline
	err := yaml.UnmarshalWithOptions(b, &base, yaml.Strict())
	if err == nil {
		err = base.check(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no baseline: %s", name, yaml.FormatError(err, false, true))
	}
	if base == nil {
		base = Baseline{}
	}
	return base, nil
}

// check finds what is wrong in a baseline that was read from the file.
func (b Baseline) check(file []byte) error {
	for _, target := range slices.Sorted(maps.Keys(b)) {
		at := (&yaml.PathBuilder{}).Root().Child(target)
		if targetOf(target).Release == "" {
			return mistake(file, at, "%q is not a world and a release, such as \"virtual 1.18.3\"", target)
		}
		if b[target].Seeds < 1 {
			return mistake(file, at, "%s: seeds must be 1 or more", target)
		}
		for _, scenario := range slices.Sorted(maps.Keys(b[target].Scenarios)) {
			outcomes := b[target].Scenarios[scenario]
			at := (&yaml.PathBuilder{}).Root().Child(target).Child("scenarios").Child(scenario)
			if len(outcomes) == 0 {
				return mistake(file, at, "%s has no outcome", scenario)
			}
			for i, outcome := range outcomes {
				if err := checkOutcome(outcome); err != nil {
					return mistake(file, at.Index(uint(i)), "%s: %w", scenario, err)
				}
			}
		}
	}
	return nil
}

// mistake is an error that shows its place in the file.
func mistake(file []byte, at *yaml.PathBuilder, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	node, unknown := at.Build().ReadNode(bytes.NewReader(file))
	if unknown != nil {
		return err
	}
	return &yaml.SyntaxError{Message: err.Error(), Token: node.GetToken()}
}

func checkOutcome(outcome string) error {
	if outcome == string(verdict.Pass) {
		return nil
	}
	rules, ok := strings.CutPrefix(outcome, string(verdict.KnownDeviation)+": ")
	if !ok {
		return fmt.Errorf("the outcome %q is neither %q nor \"%s: RULES\"", outcome, verdict.Pass, verdict.KnownDeviation)
	}
	for rule := range strings.SplitSeq(rules, ", ") {
		if phase.Named(rule).Name == "" {
			return fmt.Errorf("there is no rule %q: velosim deviations lists them", rule)
		}
	}
	return nil
}

// Write writes the baseline, in an order that does not change.
func (b Baseline) Write(w io.Writer) error {
	var s strings.Builder
	s.WriteString("# What runs are expected to show, by world and release: `velosim gate` judges by it, and `velosim gate --update` writes it.\n")
	for _, target := range slices.SortedFunc(maps.Keys(b), func(a, b string) int { return targetOf(a).Compare(targetOf(b)) }) {
		expected := b[target]
		fmt.Fprintf(&s, "\n%s:\n  seeds: %d\n  scenarios:\n", target, expected.Seeds)
		for _, name := range slices.Sorted(maps.Keys(expected.Scenarios)) {
			quoted := []string{}
			for _, outcome := range expected.Scenarios[name] {
				quoted = append(quoted, fmt.Sprintf("%q", outcome))
			}
			fmt.Fprintf(&s, "    %s: [%s]\n", name, strings.Join(quoted, ", "))
		}
		s.WriteString("  transitions:\n")
		for _, kind := range slices.Sorted(maps.Keys(expected.Transitions)) {
			fmt.Fprintf(&s, "    %s:\n", kind)
			for _, transition := range expected.Transitions[kind] {
				fmt.Fprintf(&s, "    - %s\n", transition)
			}
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// targetOf reads what Target.String has written.
func targetOf(name string) Target {
	world, release, _ := strings.Cut(name, " ")
	return Target{world, release}
}

// Update takes over what the report shows for its targets, and leaves the others. A failure, an inconclusive run or two outcomes of one seed
// are an error: none of them is expected of anything.
func (b Baseline) Update(r *Report) error {
	if n := len(r.Unexplained()); n > 0 {
		return fmt.Errorf("%d of %d runs neither passed nor are a known deviation: a baseline expects no such thing", n, len(r.Runs))
	}
	if twice := undetermined(r.Runs); len(twice) > 0 {
		return fmt.Errorf("%s: %s: a baseline expects no such thing", twice[0].Of, twice[0].Text)
	}
	for target, seen := range observe(r) {
		b[target.String()] = seen.Expected
	}
	return nil
}

// observed is what a report shows of a target.
type observed struct {
	Expected
	seeds   map[string]int  // by scenario
	illegal map[string]bool // kind and transition
}

// withOutcome adds an outcome to others, each once, those of the fewest rules first, pass before all.
func withOutcome(outcomes []string, one string) []string {
	outcomes = append(slices.Clone(outcomes), one)
	slices.SortFunc(outcomes, func(a, b string) int {
		return cmp.Or(len(rulesOf(a))-len(rulesOf(b)), -strings.Compare(a, b))
	})
	return slices.Compact(outcomes)
}

// observe sums a report up.
func observe(r *Report) map[Target]observed {
	all := map[Target]observed{}
	seeds := map[Target]map[string]map[int64]bool{}
	for _, run := range r.Runs {
		target := run.Target()
		if seeds[target] == nil {
			seeds[target] = map[string]map[int64]bool{}
			all[target] = observed{Expected{Scenarios: map[string][]string{}, Transitions: map[string][]string{}}, map[string]int{}, map[string]bool{}}
		}
		if seeds[target][run.Scenario] == nil {
			seeds[target][run.Scenario] = map[int64]bool{}
		}
		seeds[target][run.Scenario][run.Seed] = true
		all[target].Scenarios[run.Scenario] = withOutcome(all[target].Scenarios[run.Scenario], run.Outcome())
	}
	for target, o := range all {
		for scenario, of := range seeds[target] {
			o.seeds[scenario] = len(of)
			o.Seeds = max(o.Seeds, len(of))
		}
		all[target] = o
	}
	for _, c := range r.Coverage {
		o := all[c.Target]
		for _, t := range c.Transitions {
			if t.Runs > 0 {
				o.Transitions[c.Kind] = append(o.Transitions[c.Kind], t.Name())
			}
			o.illegal[c.Kind+" "+t.Name()] = t.Status == Illegal
		}
	}
	return all
}
