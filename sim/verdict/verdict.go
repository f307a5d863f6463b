package verdict

import (
	"fmt"
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Result is what a verdict comes to.
type Result string

// The results.
const (
	// Pass: the run is as users need it.
	Pass Result = "pass"
	// Fail: the run is neither as users need it nor as its release is known to do, or no longer as that is.
	Fail Result = "fail"
	// KnownDeviation: the run is not as users need it, but as its release is known to do.
	KnownDeviation Result = "known deviation"
	// Inconclusive: the trace does not show enough to tell.
	Inconclusive Result = "inconclusive"
)

// Verdict is what the oracles say of one run.
type Verdict struct {
	Result Result `json:"result"`
	// Deviations are the rules of sim/phase by which the release deviates, when the result is KnownDeviation: the one that the
	// scenario names or, where others explain all that was found, those.
	Deviations []string `json:"deviations,omitempty"`
	// Phase is the last phase of the object that the expectations speak of; empty: it never had one.
	Phase string `json:"phase"`
	// Simulated is how long the run took in trace time.
	Simulated trace.Time `json:"simulated"`
	// Findings is why the result is Fail or Inconclusive; empty, never nil, otherwise.
	Findings []Finding `json:"findings"`
}

// Finding is one thing that an oracle demands, and what it saw instead.
type Finding struct {
	// Oracle is expectation, prediction, conformance, liveness, accounting, contract, panic or differential; or deviation (one is wrongly claimed), or
	// completeness (the trace lacks something).
	Oracle string `json:"oracle"`
	// Reading under which it was found: "demanded", or the release's.
	Reading string `json:"reading,omitempty"`
	// Rules of sim/phase by which the release deviates, by name, that together explain what was found; empty: none do.
	Rules []string `json:"rules,omitempty"`
	// Object is kind/name; empty: the finding is about none.
	Object   string     `json:"object,omitempty"`
	Expected string     `json:"expected"`
	Seen     string     `json:"seen"`
	At       trace.Time `json:"at"`
	// Around are the events about the object, the server and the faults just before and after.
	Around []trace.Event `json:"around,omitempty"`
}

// reading is one way to read the machine, and the outcomes that it leads to.
type reading struct {
	rules    phase.Rules
	outcomes scenario.Outcomes
	// accepted are the phases, not final ones, in which the deviation leaves objects.
	accepted map[string]string
	// held: the deviation is that calls hold objects for ever.
	held bool
	// broken are the invariants that the deviation breaks, by name.
	broken []string
}

func (rd reading) holds(invariant string) bool { return !slices.Contains(rd.broken, invariant) }

// Judge judges a run of the scenario: as users need it (phase.Demanded), and, where the scenario names a deviation that
// the trace's release has, as that release does (phase.ForRelease). A deviation that is named need not show, other than in the
// rule's witness: users name one that shows in some interleavings only, too. If it shows, the run is as the deviation says. If
// other rules explain all that was found, the run is a known deviation by those, other than in the rule's witness. It is pure, and
// takes any trace; the time that it takes grows with the number of events.
//
// A trace in which a dead server acts shows nothing. Else a failure shown wins over a lack of evidence. Expectations are judged
// on a complete run only, liveness on one that has not been cut off.
func Judge(s *scenario.Scenario, t trace.Trace) Verdict { return judge(s, t, model.Predict) }

// predict is model.Predict, or nothing in tests of the other oracles.
type predict func(phase.Rules, *scenario.Scenario) []model.Prediction

func judge(s *scenario.Scenario, t trace.Trace, predict predict) Verdict {
	r := fold(s, t)
	r.predict = predict
	subject := s.Object()
	v := Verdict{Phase: r.find(subject).phase(), Simulated: r.at}
	seen := r.evidence()
	if undead := r.afterlife(); undead != nil {
		v.Result, v.Findings = Inconclusive, append(undead, seen.lacks...)
		return v
	}
	d, release, excuses := r.deviation(&seen)
	v.Findings = r.judge(reading{rules: release.Demanded(), outcomes: s.Expect.Outcomes}, seen)
	if len(v.Findings) > 0 {
		r.contested = r.contests(release)
		r.stale = r.staleReads(release)
	}
	r.attribute(v.Findings, release)
	r.excuse(v.Findings)
	v.Result = Pass
	witness := excuses && s.Metadata.Name == phase.Named(d.Rule).Witness
	switch broken := broken(v.Findings, release); {
	case len(v.Findings) > 0 && excuses && (len(broken) == 0 || witness && !raced(broken) || slices.Equal(broken, []string{d.Rule})):
		second := slices.DeleteFunc(r.judge(r.released(release, d), seen), r.excused)
		shows := len(broken) == 0 || slices.Contains(broken, d.Rule) // or the witness of the rule shows another one
		if len(second) == 0 && shows {
			v.Result, v.Deviations, v.Findings = KnownDeviation, []string{d.Rule}, nil
			break
		}
		v.Result, v.Findings = Fail, merge(second, v.Findings)
	case len(broken) > 0:
		v.Result, v.Deviations, v.Findings = KnownDeviation, broken, nil
	case len(v.Findings) > 0:
		v.Result = Fail
	case witness && seen.complete():
		v.Result = Fail
		v.Findings = []Finding{r.atEnd("deviation", subject,
			"Velero "+t.Header.Velero+" deviates: phase "+d.Phase, "the deviation no longer shows: update rule "+d.Rule)}
	}
	if len(seen.lacks) > 0 {
		if v.Result != Fail {
			v.Result, v.Deviations = Inconclusive, nil
		}
		v.Findings = append(v.Findings, seen.lacks...)
	}
	if v.Findings == nil {
		v.Findings = []Finding{}
	}
	return v
}

// raced reports whether the rules are all of races that few seeds show: a witness need not show its own then.
func raced(rules []string) bool {
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(name string) bool { return phase.Named(name).Witness != "" })
}

// deviation returns the deviation that the scenario names, the release's rules, and whether they may excuse what is found
// under the demanded ones. What it cannot tell is added to what the trace lacks, and then only safety is judged.
func (r *run) deviation(seen *evidence) (d *scenario.Deviation, release phase.Rules, excuses bool) {
	unsure := func(expected, found string) {
		seen.whole = false
		seen.lacks = append(seen.lacks, r.missing("", expected, found))
	}
	d = r.scenario.Expect.Deviation
	release, err := phase.ForRelease(r.trace.Header.Velero)
	if err != nil {
		unsure("a release with rules in sim/phase", err.Error())
		return d, release, false
	}
	if d == nil {
		return d, release, false
	}
	if rule := phase.Named(d.Rule); rule.Name != "" {
		return d, release, rule.Deviates(release)
	}
	unsure("a rule of sim/phase in expect.deviation", fmt.Sprintf("unknown rule %q: correct expect.deviation.rule", d.Rule))
	return d, release, true // so that what this release does anyway is not taken for a failure
}

// broken are the rules that explain the findings, each once, if there is one for every finding and the release deviates in all of
// them; else none.
func broken(found []Finding, release phase.Rules) []string {
	var rules []string
	for _, f := range found {
		if len(f.Rules) == 0 {
			return nil
		}
		rules = append(rules, f.Rules...)
	}
	if slices.ContainsFunc(rules, func(name string) bool { return !phase.Named(name).Deviates(release) }) {
		return nil
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// released is the release's reading, with the deviation's outcomes. It accepts that calls hold objects only if they do.
func (r *run) released(release phase.Rules, d *scenario.Deviation) reading {
	rd := reading{rules: release, outcomes: d.Outcomes, accepted: map[string]string{}, held: d.Rule == phase.PluginCallWithoutDeadline}
	for name, o := range r.expected(d.Outcomes) {
		if !final(o.Phase) && !rd.held {
			rd.accepted[name] = o.Phase
		}
	}
	rd.broken = phase.Named(d.Rule).Breaks
	return rd
}

// expected are the outcomes, by object.
func (r *run) expected(o scenario.Outcomes) map[string]scenario.Outcome {
	all := map[string]scenario.Outcome{r.scenario.Object(): o.Outcome}
	maps.Copy(all, o.Objects)
	return all
}

// judge lets every oracle judge the run under one reading, as far as the evidence goes.
func (r *run) judge(rd reading, seen evidence) []Finding {
	found := r.panics(rd.rules)
	if !r.starts() {
		if seen.complete() {
			found = append(found, r.unstarted()...)
		}
		return found
	}
	if seen.complete() {
		found = append(found, r.expectations(rd)...)
		if !r.unscripted() {
			found = append(found, r.prediction(rd)...)
		}
	}
	contract := r.contract(rd.rules)
	found = append(found, r.conformance(rd, contract)...)
	if seen.whole {
		found = append(found, r.liveness(rd)...)
	}
	found = append(found, r.accounting(rd)...)
	found = append(found, contract...)
	for i := range found {
		found[i].Reading = rd.rules.Name
	}
	return found
}

// unscripted reports whether a plugin of the user's was called: what it answers, the scenario does not say.
func (r *run) unscripted() bool {
	return slices.ContainsFunc(r.calls, func(c *call) bool {
		return c != nil && !slices.ContainsFunc(r.scenario.Plugins, func(p scenario.Plugin) bool { return p.Name == c.Plugin })
	})
}

// merge appends what b finds beyond a.
func merge(a, b []Finding) []Finding {
	type same struct{ oracle, object, expected, seen string }
	of := func(f Finding) same { return same{f.Oracle, f.Object, f.Expected, f.Seen} }
	has := map[same]bool{}
	for _, f := range a {
		has[of(f)] = true
	}
	for _, f := range b {
		if !has[of(f)] {
			a = append(a, f)
		}
	}
	return a
}
