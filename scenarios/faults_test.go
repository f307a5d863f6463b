package scenarios_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
)

// TestFaults: docs/faults.md names every fault of the format, by its field, with a scenario that has it and the worlds that can run it.
func TestFaults(t *testing.T) {
	page, err := os.ReadFile("../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || len(codes(cells[2])) != 1 || len(codes(cells[4])) != 1 {
			continue
		}
		field, value, _ := strings.Cut(strings.ReplaceAll(codes(cells[2])[0], "[]", ""), ": ")
		name, worlds := codes(cells[4])[0], strings.TrimSpace(cells[3])
		fields = append(fields, field)
		s := parsed(t, name)
		if want := strings.Join(s.Worlds, ", "); want != "" && worlds != want || want == "" && worlds != "virtual, envtest" {
			t.Errorf("%s is said to run in %s, and is for %q (empty: all)", name, worlds, want)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(b, &document); err != nil {
			t.Fatal(err)
		}
		if values := at(document, strings.Split(field, ".")); len(values) == 0 || value != "" && !slices.Contains(values, value) {
			t.Errorf("%s is to show %s %s, and has %q there", name, field, value, values)
		}
	}
	of := map[string]any{"faults.do": scenario.Do{}, "plugins.start": scenario.Start{}, "plugins.progress": scenario.Behaviour{}, "store": scenario.Store{}}
	for parent, of := range of {
		for f := range reflect.TypeOf(of).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "-" && name != "nth" && name != "times" && !slices.Contains(fields, parent+"."+name) {
				t.Errorf("docs/faults.md lacks %s.%s", parent, name)
			}
		}
	}
}

// at are the values at a path of fields, through all lists, as text.
func at(document any, path []string) (values []string) {
	switch v := document.(type) {
	case []any:
		for _, element := range v {
			values = append(values, at(element, path)...)
		}
		return values
	case map[string]any:
		if len(path) == 0 {
			break
		}
		if next, ok := v[path[0]]; ok {
			return at(next, path[1:])
		}
		return nil
	}
	if len(path) > 0 {
		return nil
	}
	return []string{fmt.Sprint(document)}
}
