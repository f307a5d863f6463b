package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// Difference is how two results of a scenario differ.
type Difference struct {
	Scenario string `json:"scenario"`
	// Seed of the runs.
	Seed int64 `json:"seed"`
	// What differs: outcome, or path, which is that of Object.
	What   string `json:"what"`
	Object string `json:"object,omitempty"`
	A      string `json:"a"`
	B      string `json:"b"`
}

// Diff is what differs between two sets of results.
type Diff struct {
	A []TargetTotals `json:"a"`
	B []TargetTotals `json:"b"`
	// Differences of runs that both have, by scenario and seed.
	Differences []Difference `json:"differences"`
	// OnlyA and OnlyB are the scenarios that one alone has.
	OnlyA []string `json:"onlyA"`
	OnlyB []string `json:"onlyB"`
	// Gained and Lost are the transitions that B has made and A has not, and the other way round, with their kind.
	Gained []string `json:"gained"`
	Lost   []string `json:"lost"`
	// Runs that were compared.
	Runs int `json:"runs"`
}

// NewDiff compares two sets of results, run by run: those of one scenario and seed, whatever their worlds and releases. Of several with the
// same of these, the last counts. A phase that only one of two releases has, such as Queued, makes no difference between their paths.
func NewDiff(a, b *Report) Diff {
	d := Diff{A: a.Targets, B: b.Targets, Differences: []Difference{}, OnlyA: []string{}, OnlyB: []string{}, Gained: []string{}, Lost: []string{}}
	type key struct {
		scenario string
		seed     int64
	}
	index := func(r *Report) (map[key]Result, map[string]bool) {
		runs, scenarios := map[key]Result{}, map[string]bool{}
		for _, result := range r.results {
			runs[key{result.Scenario, result.Seed}] = result
			scenarios[result.Scenario] = true
		}
		return runs, scenarios
	}
	before, inA := index(a)
	after, inB := index(b)
	for k, was := range before {
		if is, ok := after[k]; ok {
			d.Runs++
			d.Differences = append(d.Differences, differences(was, is)...)
		}
	}
	slices.SortFunc(d.Differences, func(x, y Difference) int {
		return strings.Compare(fmt.Sprintf("%s %09d %s%s", x.Scenario, x.Seed, x.What, x.Object), fmt.Sprintf("%s %09d %s%s", y.Scenario, y.Seed, y.What, y.Object))
	})
	d.OnlyA, d.OnlyB = without(inA, inB), without(inB, inA)
	madeA, madeB := madeBy(a), madeBy(b)
	d.Gained, d.Lost = without(madeB, madeA), without(madeA, madeB)
	return d
}

// Same reports whether nothing differs.
func (d Diff) Same() bool {
	return len(d.Differences)+len(d.OnlyA)+len(d.OnlyB)+len(d.Gained)+len(d.Lost) == 0
}

func differences(a, b Result) (all []Difference) {
	if was, is := a.Outcome(), b.Outcome(); was != is {
		all = append(all, Difference{Scenario: a.Scenario, Seed: a.Seed, What: "outcome", A: was, B: is})
	}
	objects := map[string]bool{}
	for _, paths := range []map[string][]string{a.paths, b.paths} {
		for object := range paths {
			objects[object] = true
		}
	}
	for _, object := range slices.Sorted(maps.Keys(objects)) {
		was, is := strings.Join(b.known(a.paths[object]), " → "), strings.Join(a.known(b.paths[object]), " → ")
		if was != is {
			all = append(all, Difference{Scenario: a.Scenario, Seed: a.Seed, What: "path", Object: object, A: was, B: is})
		}
	}
	return all
}

// known are the phases of a path that the run's release has.
func (r Result) known(path []string) []string {
	release, err := phase.ForRelease(r.Version)
	if err != nil {
		return path
	}
	return slices.DeleteFunc(slices.Clone(path), func(name string) bool {
		p, err := phase.Parse(name)
		return err == nil && !release.Has(p)
	})
}

// without are the names in a that are not in b, in order.
func without(a, b map[string]bool) []string {
	only := []string{}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !b[name] {
			only = append(only, name)
		}
	}
	return only
}

// madeBy are the transitions that the runs of a report have made.
func madeBy(r *Report) map[string]bool {
	made := map[string]bool{}
	for _, c := range r.Coverage {
		for _, t := range c.Transitions {
			if t.Runs > 0 {
				made[c.Kind+" "+t.Name()] = true
			}
		}
	}
	return made
}
