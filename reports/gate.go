package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/verdict"
)

// Change is something that a report shows and its baseline does not, or the other way round.
type Change struct {
	Target Target `json:"target"`
	// Kind of change.
	Kind ChangeKind `json:"kind"`
	// Of is the scenario, or the kind and the transition.
	Of string `json:"of"`
	// Text says what changed.
	Text string `json:"text,omitempty"`
	// Replay is a command that shows it.
	Replay string `json:"replay,omitempty"`
}

// ChangeKind is a kind of change.
type ChangeKind string

// The kinds of changes, those that matter most first.
const (
	NewFailure        ChangeKind = "failure"
	NotConclusive     ChangeKind = "inconclusive"
	Nondeterminism    ChangeKind = "two outcomes of one seed"
	IllegalTransition ChangeKind = "illegal transition"
	NewDeviation      ChangeKind = "new deviation"
	DeviationGone     ChangeKind = "deviation is gone"
	OutcomeGone       ChangeKind = "outcome is gone"
	NotRun            ChangeKind = "scenario was not run"
	LostTransition    ChangeKind = "transition is no longer covered"
	NewTarget         ChangeKind = "target is not in the baseline"
	// What follows fails no gate.
	NewScenario   ChangeKind = "new scenario"
	NewTransition ChangeKind = "transition is newly covered"
	NotJudged     ChangeKind = "target was not run"
)

// ChangeKinds are all, in that order.
func ChangeKinds() []ChangeKind {
	return []ChangeKind{
		NewFailure, NotConclusive, Nondeterminism, IllegalTransition, NewDeviation, DeviationGone, OutcomeGone, NotRun, LostTransition, NewTarget,
		NewScenario, NewTransition, NotJudged,
	}
}

// Fails reports whether a gate fails for it.
func (k ChangeKind) Fails() bool {
	return !slices.Contains([]ChangeKind{NewScenario, NewTransition, NotJudged}, k)
}

// Compare is what changed between the baseline and the report, by kind, target and name. Where time is real, chance decides between the outcomes
// that the baseline has of a scenario; in virtual time the seeds do, and all of them must show again.
func (b Baseline) Compare(r *Report) []Change {
	var changes []Change
	replays := map[string]string{}
	for _, run := range r.Runs {
		c := Change{Target: run.Target(), Of: run.Scenario, Replay: run.Replay}
		replays[c.Target.String()+run.Scenario+run.Outcome()] = run.Replay
		switch run.Verdict {
		case verdict.Fail:
			c.Kind, c.Text = NewFailure, said(run)
		case verdict.Inconclusive:
			c.Kind, c.Text = NotConclusive, said(run)
		default:
			continue
		}
		changes = append(changes, c)
	}
	changes = append(changes, undetermined(r.Runs)...)
	seen := observe(r)
	for target, is := range seen {
		was, known := b[target.String()]
		if !known {
			changes = append(changes, Change{Target: target, Kind: NewTarget, Of: target.String(), Text: fmt.Sprintf("%d scenarios", len(is.Scenarios))})
			continue
		}
		changes = append(changes, scenarioChanges(target, was, is, replays)...)
		changes = append(changes, transitionChanges(target, was, is)...)
	}
	for name := range b {
		if _, ok := seen[targetOf(name)]; !ok {
			changes = append(changes, Change{Target: targetOf(name), Kind: NotJudged, Of: name})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(slices.Index(ChangeKinds(), a.Kind)-slices.Index(ChangeKinds(), b.Kind), a.Target.Compare(b.Target), strings.Compare(a.Of, b.Of), strings.Compare(a.Text, b.Text))
	})
	return changes
}

func said(run Run) string {
	if len(run.Findings) == 0 {
		return fmt.Sprintf("seed %d", run.Seed)
	}
	return fmt.Sprintf("seed %d, %s", run.Seed, firstFinding(run))
}

// undetermined are runs of virtual time that the seed did not decide.
func undetermined(runs []Run) (changes []Change) {
	type one struct {
		Target
		scenario string
		seed     int64
	}
	outcomes := map[one][]string{}
	for _, run := range runs {
		key := one{run.Target(), run.Scenario, run.Seed}
		outcomes[key] = withOutcome(outcomes[key], run.Outcome())
	}
	for _, run := range runs {
		key := one{run.Target(), run.Scenario, run.Seed}
		if of := outcomes[key]; len(of) > 1 && virtual(key.Target) {
			changes = append(changes, Change{
				Target: key.Target, Kind: Nondeterminism, Of: run.Scenario, Replay: run.Replay,
				Text: fmt.Sprintf("seed %d: %s", run.Seed, strings.Join(of, ", and ")),
			})
			delete(outcomes, key) // once
		}
	}
	return changes
}

// virtual reports whether seeds decide what comes of a run.
func virtual(t Target) bool { return t.World == "virtual" }

func scenarioChanges(target Target, was Expected, is observed, replays map[string]string) (changes []Change) {
	for _, name := range slices.Sorted(maps.Keys(is.Scenarios)) {
		expected, known := was.Scenarios[name]
		if !known {
			changes = append(changes, Change{Target: target, Kind: NewScenario, Of: name, Text: strings.Join(is.Scenarios[name], "; ")})
		}
		for _, outcome := range is.Scenarios[name] {
			if rules := newRules(outcome, expected); len(rules) > 0 {
				changes = append(changes, Change{
					Target: target, Kind: NewDeviation, Of: name, Text: strings.Join(rules, ", "), Replay: replays[target.String()+name+outcome],
				})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.Scenarios)) {
		outcomes, run := is.Scenarios[name]
		switch {
		case !run:
			changes = append(changes, Change{Target: target, Kind: NotRun, Of: name})
			continue
		case is.seeds[name] < was.Seeds || !virtual(target) && len(was.Scenarios[name]) > 1:
			continue // what is gone may not have come up
		case !green(outcomes):
			continue // it may be what fails now
		}
		changes = append(changes, goneOf(target, name, was.Scenarios[name], outcomes)...)
	}
	return changes
}

// goneOf is what of a scenario's outcomes no longer shows: rules, or else an outcome, such as pass, in whose place are others that are known.
func goneOf(target Target, name string, was, is []string) (changes []Change) {
	for _, outcome := range was {
		if rules := newRules(outcome, is); len(rules) > 0 {
			changes = append(changes, Change{
				Target: target, Kind: DeviationGone, Of: name, Text: strings.Join(rules, ", ") + ": if it is fixed, update the rule, and the baseline",
			})
		}
	}
	deviates := slices.ContainsFunc(is, func(outcome string) bool { return len(newRules(outcome, was)) > 0 })
	if len(changes) > 0 || deviates || !virtual(target) {
		return changes
	}
	for _, outcome := range was {
		if !slices.Contains(is, outcome) {
			changes = append(changes, Change{Target: target, Kind: OutcomeGone, Of: name, Text: outcome + "; it shows " + strings.Join(is, "; ")})
		}
	}
	return changes
}

// newRules are the rules of an outcome that none of the others has.
func newRules(outcome string, others []string) (rules []string) {
	for _, rule := range rulesOf(outcome) {
		if !slices.ContainsFunc(others, func(o string) bool { return slices.Contains(rulesOf(o), rule) }) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// green reports whether none of the outcomes is a failure, or inconclusive.
func green(outcomes []string) bool {
	return !slices.ContainsFunc(outcomes, func(outcome string) bool { return outcome != string(verdict.Pass) && len(rulesOf(outcome)) == 0 })
}

func rulesOf(outcome string) []string {
	rules, ok := strings.CutPrefix(outcome, string(verdict.KnownDeviation)+": ")
	if !ok {
		return nil
	}
	return strings.Split(rules, ", ")
}

func transitionChanges(target Target, was Expected, is observed) (changes []Change) {
	for _, kind := range slices.Sorted(maps.Keys(is.Transitions)) {
		for _, name := range is.Transitions[kind] {
			c := Change{Target: target, Kind: NewTransition, Of: kind + " " + name}
			if is.illegal[c.Of] {
				c.Kind = IllegalTransition
			}
			if !slices.Contains(was.Transitions[kind], name) {
				changes = append(changes, c)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(was.Transitions)) {
		for _, name := range was.Transitions[kind] {
			if !slices.Contains(is.Transitions[kind], name) {
				changes = append(changes, Change{Target: target, Kind: LostTransition, Of: kind + " " + name})
			}
		}
	}
	return changes
}
