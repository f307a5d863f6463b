package reports

import (
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

// ParseBaseline reads a baseline's file, whose name is for errors: they show the line. It is strict.
func ParseBaseline(name string, b []byte) (Baseline, error) {
	var base Baseline
	if err := yaml.UnmarshalWithOptions(b, &base, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s is no baseline: %s", name, yaml.FormatError(err, false, true))
	}
	for target, expected := range base {
		for scenario, outcomes := range expected.Scenarios {
			for _, outcome := range outcomes {
				if err := checkOutcome(outcome); err != nil {
					return nil, fmt.Errorf("%s is no baseline: %s: %s: %w", name, target, scenario, err)
				}
			}
		}
	}
	return base, nil
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

// Update takes over what the report shows for its targets, and leaves the others. A failure or an inconclusive run is an error: neither is
// expected of anything.
func (b Baseline) Update(r *Report) error {
	if worst := r.Worst(); worst == verdict.Fail || worst == verdict.Inconclusive {
		return fmt.Errorf("%d of %d runs neither passed nor are a known deviation: a baseline expects no such thing", len(r.Unexplained()), len(r.Runs))
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
		outcomes := append(all[target].Scenarios[run.Scenario], run.Outcome())
		slices.SortFunc(outcomes, func(a, b string) int { // pass first
			return cmp.Or(cmp.Compare(len(strings.Split(a, ",")), len(strings.Split(b, ","))), -strings.Compare(a, b))
		})
		all[target].Scenarios[run.Scenario] = slices.Compact(outcomes)
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
