package property

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velosim/velosim/sim/scenario"
)

func TestMostOfWhatIsDrawnIsValid(t *testing.T) {
	const draws = 2000
	why := map[string]int{}
	invalid := 0
	drawn := rapid.Custom(func(t *rapid.T) error {
		_, err := draw(t)
		return err
	})
	for n := 1; n <= draws; n++ {
		if err := drawn.Example(n); err != nil {
			invalid++
			why[alike(err.Error()[strings.Index(err.Error(), ": ")+1:])]++
		}
	}
	if invalid > draws/50 {
		t.Errorf("%d of %d are invalid: %v", invalid, draws, why)
	}
	t.Logf("%d of %d are invalid: %v", invalid, draws, why)
}

func TestTheNumberIsRapidsSeed(t *testing.T) {
	for _, n := range []int{1, 7, 1000} {
		first := rapid.Custom(func(t *rapid.T) Drawn { return Scenarios().Draw(t, "scenario") }).Example(n)
		if diff := cmp.Diff(Numbered(n).Scenario, first.Scenario); diff != "" {
			t.Errorf("number %d (-numbered +seeded):\n%s", n, diff)
		}
		if diff := cmp.Diff(scenario.Expect{Object: first.Scenario.Objects()[0]}, first.Scenario.Expect); diff != "" {
			t.Errorf("number %d expects more than that the first object is created:\n%s", n, diff)
		}
	}
}

// TestEveryFieldIsDrawn: each field of the format at times, and each value that an enumeration or an action of a fault can have.
func TestEveryFieldIsDrawn(t *testing.T) {
	never := []string{
		"backup", "restore", "worlds", "releases", "description", "metadata.reports", // short for others, or about no run
		"backups.at.write", "restores.at.write", "faults.at.write.from", // an object is created at a phase
		"expect.", "faults.at.object", // drawn, or looked at, by name
		"crds.",                                                                         // they last, too
		"plugins.own",                                                                   // a plugin of the user's own answers nothing that could be drawn
		"store.immutable",                                                               // it lasts, so that nothing has to end
		"backups.spec", "schedules.template.spec", "restores.spec", "restores.schedule", // the model takes nearly everything for possible then
	}
	const draws = 3000
	seen := map[string]int{}
	for n := 1; n <= draws; n++ {
		here := map[string]bool{}
		fields(reflect.ValueOf(Numbered(n).written), "", here)
		for f := range here {
			seen[f]++
		}
	}
	all := map[string]bool{}
	known(reflect.TypeFor[scenario.Scenario](), "", all)
	for _, f := range slices.Sorted(maps.Keys(all)) {
		switch {
		case slices.ContainsFunc(never, func(p string) bool {
			return f == p || strings.HasPrefix(f, p+".") || strings.HasPrefix(f, p) && strings.HasSuffix(p, ".")
		}):
		case seen[f] == 0:
			t.Errorf("%s is never drawn", f)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%5.1f %%  %s", 100*float64(seen[f])/draws, f)
	}
}

// fields are those that are set; a field of few values is listed with each.
func fields(v reflect.Value, path string, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			set[path] = true
			fields(v.Elem(), path, set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			set[path] = true
			fields(v.Index(i), path, set)
		}
	case reflect.Struct:
		if d, ok := v.Interface().(scenario.Duration); ok {
			if d.Duration > 0 {
				set[path] = true
			}
			return
		}
		for i := range v.NumField() {
			fields(v.Field(i), join(path, v.Type().Field(i)), set)
		}
	case reflect.String:
		if v.Type() != reflect.TypeFor[string]() && v.Type() != reflect.TypeFor[scenario.Item]() && v.String() != "" || strings.HasSuffix(path, ".verb") {
			set[path+"="+v.String()] = true
		}
		fallthrough
	default:
		if !v.IsZero() {
			set[path] = true
		}
	}
}

// known are all fields that there are.
func known(t reflect.Type, path string, all map[string]bool) {
	switch {
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice:
		known(t.Elem(), path, all)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[scenario.Duration]():
		if path != "" && t.NumField() == 0 {
			all[path] = true
		}
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("json") != "-" {
				known(t.Field(i).Type, join(path, t.Field(i)), all)
			}
		}
	default:
		all[path] = true
	}
}

func join(path string, f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if f.Anonymous {
		return path
	}
	return strings.TrimPrefix(fmt.Sprintf("%s.%s", path, name), ".")
}
