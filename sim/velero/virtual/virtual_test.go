package virtual_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

func load(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	b, err := scenarios.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, name, string(b))
}

func parse(t testing.TB, name, text string) *scenario.Scenario {
	t.Helper()
	s, errs := scenario.Parse(name, []byte(text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

// run runs the scenario and returns its trace.
func run(t testing.TB, s *scenario.Scenario, seed int64) trace.Trace {
	t.Helper()
	tr := trace.Trace{Header: trace.Header{Schema: trace.Schema, Scenario: s.Metadata.Name, World: "virtual", Velero: virtual.Velero, Seed: seed, Scale: 1}}
	var err error
	tr.End, err = virtual.New().Run(context.Background(), world.Job{Scenario: s, Seed: seed, Bound: verdict.Bound(s)}, func(e trace.Event) error {
		tr.Events = append(tr.Events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// ndjson is the trace as it is written to a file: what must be equal for equal seeds.
func ndjson(t testing.TB, tr trace.Trace) string {
	t.Helper()
	var b bytes.Buffer
	for _, e := range tr.Events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	fmt.Fprintln(&b, tr.End)
	return b.String()
}

// seeds is how many seeds a test tries: VELOSIM_SEEDS, or few.
func seeds(t testing.TB, few int64) int64 {
	t.Helper()
	if v := os.Getenv("VELOSIM_SEEDS"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			t.Fatalf("VELOSIM_SEEDS=%s: %v", v, err)
		}
		return n
	}
	return few
}

// deviations are the catalogue's scenarios in which this release deviates.
var deviations = map[string]string{
	"backup-progress-hangs":                     "plugin-call-without-deadline",
	"backup-progress-errors-once":               "progress-error-is-final",
	"backup-server-killed-while-ready-to-start": "ready-backup-forgotten-by-restart",
}

func TestCatalogue(t *testing.T) {
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			for seed := int64(1); seed <= seeds(t, 8); seed++ {
				tr := run(t, s, seed)
				v := verdict.Judge(s, tr)
				want := "pass"
				if deviations[name] != "" {
					want = "known deviation"
				}
				if string(v.Result) != want || v.Deviation != deviations[name] {
					var b strings.Builder
					fmt.Fprintf(&b, "seed %d: %s %s, want %s %s; ended %+v\n", seed, v.Result, v.Deviation, want, deviations[name], tr.End)
					for _, f := range v.Findings {
						fmt.Fprintf(&b, "  %s: expected %s, saw %s at %v\n", f.Oracle, f.Expected, f.Seen, f.At)
					}
					t.Error(b.String())
				}
			}
		})
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			for seed := int64(1); seed <= 4; seed++ {
				first, again := ndjson(t, run(t, s, seed)), ndjson(t, run(t, s, seed))
				if first != again {
					a, b := strings.Split(first, "\n"), strings.Split(again, "\n")
					for i := range min(len(a), len(b)) {
						if a[i] != b[i] {
							t.Fatalf("seed %d differs at line %d:\n%s\n%s", seed, i+1, a[i], b[i])
						}
					}
					t.Fatalf("seed %d: %d lines, then %d", seed, len(a), len(b))
				}
			}
		})
	}
}
