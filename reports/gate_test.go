package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/verdict"
)

const path = "backup/b: New Queued ReadyToStart InProgress Finalizing Completed"

func TestGate(t *testing.T) {
	const rule, other = "stale-read-acted-upon", "progress-error-is-final"
	before := []Result{
		made(t, Run{Scenario: "passes"}, path), made(t, Run{Scenario: "passes", Seed: 2}, path),
		made(t, known("deviates", 1, rule), path), made(t, known("deviates", 2, rule), path),
		made(t, Run{Scenario: "races"}, path), made(t, known("races", 2, other), path),
	}
	baseline := Baseline{}
	if err := baseline.Update(New(before, Options{})); err != nil {
		t.Fatal(err)
	}
	with := func(i int, r Result) []Result {
		changed := append([]Result{}, before...)
		changed[i] = r
		return changed
	}
	for name, test := range map[string]struct {
		results []Result
		want    []string
		opens   bool
	}{
		"nothing changed": {results: before, opens: true},
		"a failure": {
			results: with(0, made(t, Run{Scenario: "passes", Verdict: verdict.Fail, Replay: "again"}, path)),
			want:    []string{"failure: passes: seed 1"},
		},
		"inconclusive": {
			results: with(0, made(t, Run{Scenario: "passes", Verdict: verdict.Inconclusive, Findings: []verdict.Finding{
				{Oracle: "completeness", Expected: "fault f strikes", Seen: "it never did\nat all"},
			}}, path)),
			want: []string{"inconclusive: passes: seed 1, completeness: expected fault f strikes, saw it never did"},
		},
		"a new deviation": {results: with(1, made(t, known("passes", 2, rule), path)), want: []string{"new deviation: passes: " + rule}},
		"a new deviation in all seeds": {
			results: append(before[2:6:6], made(t, known("passes", 1, rule), path), made(t, known("passes", 2, rule), path)),
			want:    []string{"new deviation: passes: " + rule},
		},
		"another rule, too": {
			results: with(2, made(t, known("deviates", 1, other, rule), path)), want: []string{"new deviation: deviates: " + other},
		},
		"a deviation is gone": {
			results: append(before[:2:2], made(t, Run{Scenario: "deviates"}, path), made(t, Run{Scenario: "deviates", Seed: 2}, path), before[4], before[5]),
			want:    []string{"deviation is gone: deviates: " + rule + ": if it is fixed, update the rule, and the baseline"},
		},
		"a failure in its place says no more": {
			results: append(before[:2:2], made(t, Run{Scenario: "deviates", Verdict: verdict.Fail}, path),
				made(t, Run{Scenario: "deviates", Seed: 2, Verdict: verdict.Fail}, path), before[4], before[5]),
			want: []string{"failure: deviates: seed 1", "failure: deviates: seed 2"},
		},
		"no seed passes any more": {
			results: with(4, made(t, known("races", 1, other), path)),
			want:    []string{"outcome is gone: races: pass; it shows known deviation: " + other},
		},
		"no seed passes any more, of fewer": {results: append(before[:4:4], before[5]), opens: true},
		"with fewer seeds, it may only not have come up": {
			results: append(before[:4:4], before[4]), opens: true,
		},
		"a scenario was not run": {results: append(before[2:2:2], before[2:]...), want: []string{"scenario was not run: passes: "}},
		"lost coverage": {
			results: func() (short []Result) {
				for _, r := range before {
					short = append(short, made(t, r.Run, "backup/b: New Queued ReadyToStart InProgress Finalizing"))
				}
				return short
			}(),
			want: []string{"transition is no longer covered: backup Finalizing → Completed: "},
		},
		"an illegal transition": {
			results: with(0, made(t, Run{Scenario: "passes"}, path, "backup/c: New Completed Queued")),
			want:    []string{"illegal transition: backup Completed → Queued: ", "illegal transition: backup New → Completed: "},
		},
		"another target": {
			results: append(before[:6:6], made(t, Run{Scenario: "passes", World: "envtest", Version: "1.18.3"}, path)),
			want:    []string{"target is not in the baseline: envtest 1.18.3: 1 scenarios"},
		},
		"one seed, two outcomes": {
			results: append(before[:6:6], made(t, known("races", 1, other), path)),
			want:    []string{"two outcomes of one seed: races: seed 1: pass, and known deviation: " + other},
		},
		"what is new and good": {
			results: append(before[:6:6], made(t, Run{Scenario: "new"}, path, "backup/c: New Queued ReadyToStart FailedValidation")),
			want:    []string{"new scenario: new: pass", "transition is newly covered: backup ReadyToStart → FailedValidation: "}, opens: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			changes := baseline.Compare(New(test.results, Options{}))
			var got []string
			opens := true
			for _, c := range changes {
				got = append(got, string(c.Kind)+": "+c.Of+": "+c.Text)
				opens = opens && !c.Kind.Fails()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if opens != test.opens {
				t.Errorf("the gate is open: %v", opens)
			}
		})
	}
}

// Where time is real, chance decides between the outcomes that the baseline has.
func TestGateInRealTime(t *testing.T) {
	run := func(r Run) Result {
		r.World, r.Version, r.Seed = "envtest", "1.18.3", 1
		return made(t, r, path)
	}
	baseline := Baseline{}
	passes, deviates := run(Run{Scenario: "races"}), run(known("races", 1, "stale-read-acted-upon"))
	if err := baseline.Update(New([]Result{passes, deviates}, Options{})); err != nil {
		t.Fatal(err)
	}
	for _, result := range []Result{passes, deviates} {
		if changes := baseline.Compare(New([]Result{result}, Options{})); changes != nil {
			t.Errorf("%s: %+v", result.Outcome(), changes)
		}
	}
	if changes := baseline.Compare(New(nil, Options{})); len(changes) != 1 || changes[0].Kind != NotJudged {
		t.Errorf("a target that was not run: %+v", changes)
	}
}

func TestBaselineIsReadAsWritten(t *testing.T) {
	baseline := Baseline{}
	r := New([]Result{
		made(t, Run{Scenario: "passes"}, path), made(t, known("deviates", 1, "progress-error-is-final", "stale-read-acted-upon"), path),
		made(t, Run{Scenario: "passes", World: "envtest", Version: "1.14.0"}, "backup/b: New InProgress"),
	}, Options{})
	if err := baseline.Update(r); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := baseline.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := ParseBaseline("baseline.yaml", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(baseline, read); diff != "" {
		t.Errorf("(-written +read):\n%s\n%s", diff, b.String())
	}
}

func TestWhatNoBaselineExpects(t *testing.T) {
	passes := made(t, Run{Scenario: "runs"})
	for _, other := range []Run{
		{Scenario: "runs", Seed: 2, Verdict: verdict.Fail},
		{Scenario: "runs", Seed: 2, Verdict: verdict.Inconclusive},
		known("runs", 1, "stale-read-acted-upon"), // of the same seed
	} {
		baseline := Baseline{}
		if err := baseline.Update(New([]Result{passes, made(t, other)}, Options{})); err == nil || len(baseline) > 0 {
			t.Errorf("%+v: %v, and expected is %v", other, err, baseline)
		}
	}
}

func TestEmptyBaseline(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}"} {
		baseline, err := ParseBaseline("b.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := baseline.Update(New([]Result{made(t, Run{Scenario: "passes"}, path)}, Options{})); err != nil || len(baseline) != 1 {
			t.Errorf("%q: %v, and expected is %v", text, err, baseline)
		}
	}
}

func TestBadBaselines(t *testing.T) {
	for text, want := range map[string]string{
		"virtual 1.18.3: {seed: 1}":                                                                  "[1:18] unknown field",
		"virtual 1.18.3: {seeds: 1}\nvirtual 1.18.3: {seeds: 1}":                                     "[2:1] mapping key",
		"virtual 1.18.3:\n  seeds: 0":                                                                "virtual 1.18.3: seeds must be 1 or more",
		"virtual 1.18.3:\n  seeds: 1\n  scenarios:\n    a: [fail]":                                   `[4:9] a: the outcome "fail" is neither "pass" nor "known deviation: RULES"`,
		"virtual 1.18.3:\n  seeds: 1\n  scenarios:\n    a: [pass,\n     'known deviation: nothing']": `[5:6] a: there is no rule "nothing"`,
		"virtual 1.18.3:\n  seeds: 1\n  scenarios:\n    a: []":                                       "[4:8] a has no outcome",
		"virtual: {seeds: 1}":                                                                        `"virtual" is not a world and a release`,
		"'it''s 1.18.3': {}":                                                                         "seeds must be 1 or more",
		"- 1":                                                                                        "[1:1]",
		"\x00":                                                                                       "is no baseline",
		"virtual: {seeds:":                                                                           "is no baseline",
	} {
		_, err := ParseBaseline("b.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "b.yaml is no baseline: ") {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
