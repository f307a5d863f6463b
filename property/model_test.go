package property_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velosim/velosim/property"
	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// TestModel asks the model about 10,000 scenarios, in two halves at a time; with -short about few.
func TestModel(t *testing.T) {
	checks := "5000"
	if testing.Short() {
		checks = "500" // of which rapid leaves a fifth
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := flag.Set("rapid.checks", checks); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set("rapid.checks", f.DefValue) })
	}
	for _, half := range []string{"first", "second"} {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { predicts(t, property.Scenarios().Draw(t, "scenario").Scenario) })
		})
	}
}

// predicts checks the predictions for a scenario.
func predicts(t *rapid.T, s *scenario.Scenario) {
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	demanded, released := model.Predict(release.Demanded(), s), model.Predict(release, s)
	// What may become of one that is not predicted may hold any other.
	if unknown := func(p model.Prediction) bool { return p.Unknown != "" }; slices.ContainsFunc(demanded, unknown) || slices.ContainsFunc(released, unknown) {
		return
	}
	for i, object := range s.Objects() {
		d, r := demanded[i], released[i]
		if d.Object != object || r.Object != object {
			t.Fatalf("prediction %d is of %s and %s, want %s", i, d.Object, r.Object, object)
		}
		for _, p := range d.Paths {
			// The model takes what vanishes for something that stays, and so may hold others.
			if !p.End().Final() && !slices.ContainsFunc(s.Objects(), func(o string) bool { return vanishes(s, o) }) {
				t.Fatalf("demanded: %s may stay in %s", object, p)
			}
		}
		if object == s.Expect.Object && len(s.Faults) == 0 && (len(d.Paths) == 0 || len(r.Paths) == 0) {
			t.Fatalf("%s is certainly created, and is predicted to take no path: demanded %v, %s %v", object, d.Paths, release.Name, r.Paths)
		}
		other := slices.IndexFunc(r.Paths, func(p model.Path) bool { return !d.Allows(p) })
		if other >= 0 && rapid.IntRange(0, 9).Draw(t, "explained") == 9 {
			explained(t, release, s, i, r.Paths[other])
		}
	}
	if rapid.IntRange(0, 19).Draw(t, "again") == 19 {
		if diff := cmp.Diff(released, model.Predict(release, s)); diff != "" {
			t.Fatalf("asked again, the model says otherwise (-first +again):\n%s", diff)
		}
	}
}

// vanishes tells whether the object may be gone before its end: the user deletes or removes it, or its backup, which may expire, too.
func vanishes(s *scenario.Scenario, object string) bool {
	asked := func(object string) bool {
		return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Delete == object || f.Do.Remove == object })
	}
	if name, ok := strings.CutPrefix(object, "restore/"); ok {
		return asked(object) || vanishes(s, "backup/"+s.RestoreNamed(name).Backup)
	}
	_, expires := s.Expires()
	return asked(object) || expires
}

// explained demands rules without which the release would not take the path.
func explained(t *rapid.T, release phase.Rules, s *scenario.Scenario, object int, path model.Path) {
	var rules []string
	for _, rule := range phase.All() {
		if !rule.Deviates(release) {
			continue
		}
		p := model.Predict(release.Without(rule), s)[object]
		switch {
		case p.Unknown != "":
			return
		case p.Allows(path):
			release = release.Without(rule)
		default:
			rules = append(rules, rule.Name)
		}
	}
	if len(rules) == 0 { // without all of them it is what is demanded
		t.Fatalf("no rules explain that %s may take %s, which is not demanded", s.Objects()[object], path)
	}
}
