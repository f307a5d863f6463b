package scenario_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
)

// FuzzParse: whatever the bytes, there are errors with positions in the file, or there is a scenario that a world can run.
func FuzzParse(f *testing.F) {
	valid := compiled(f)
	f.Add([]byte(full))
	f.Add([]byte(many))
	f.Add([]byte(unstarted))
	f.Add([]byte(minimal))
	f.Add([]byte(minimal + week))
	for _, name := range scenarios.Names() {
		b, err := scenarios.Read(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, errs := scenario.Parse("x.yaml", b)
		if (want == nil) != (len(errs) > 0) {
			t.Fatalf("scenario %v and %d errors", want, len(errs))
		}
		if want == nil {
			checkPositions(t, strings.ReplaceAll(string(b), "\r\n", "\n"), errs)
			if errs.Error() == "" {
				t.Error("errors without a text")
			}
			return
		}
		checkObjects(t, want)
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := new(scenario.Scenario)
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-parsed +through JSON):\n%s", diff)
		}
		for _, scaled := range []*scenario.Scenario{want.RealTime(), want.Scaled(time.Second, time.Minute)} {
			if diff := cmp.Diff(want.Objects(), scaled.Objects()); diff != "" {
				t.Errorf("objects (-as parsed +scaled):\n%s", diff)
			}
		}
		if after, err := json.Marshal(want); err != nil || !bytes.Equal(text, after) {
			t.Errorf("scaling has changed the scenario: %v\n%s\n%s", err, text, after)
		}
		want.Description = "" // no field of a file
		if text, err = json.Marshal(want); err != nil {
			t.Fatal(err)
		}
		value, err := validator.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := valid.Validate(value); err != nil {
			t.Errorf("by the schema it is invalid: %v\n%s", err, text)
		}
	})
}

// checkObjects requires that the objects have names of their own, and that what speaks of one finds it.
func checkObjects(t *testing.T, s *scenario.Scenario) {
	t.Helper()
	objects := map[string]bool{}
	for _, object := range s.Objects() {
		if objects[object] {
			t.Errorf("two objects are called %s", object)
		}
		objects[object] = true
		kind, name, _ := strings.Cut(object, "/")
		if kind == "backup" && s.BackupNamed(name) == nil || kind == "restore" && s.RestoreNamed(name) == nil {
			t.Errorf("there is no %s", object)
		}
	}
	for _, object := range append(s.Order(), s.Object(), s.Expect.Object) {
		if !objects[object] {
			t.Errorf("%q is not an object of the scenario", object)
		}
	}
	for _, m := range s.Manifests {
		item, ok := m.Item()
		if !ok || !slices.Contains(s.Items, item) || s.Manifest(item) == nil {
			t.Errorf("no item of the manifest %v", m)
		}
	}
	for _, f := range s.Faults {
		for _, object := range []string{f.At.Object, f.Do.Delete, f.Do.Remove, f.Do.Describe} {
			if object != "" && !objects[object] {
				t.Errorf("the fault %s speaks of %q", f.ID, object)
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, file := range map[string]string{"minimal": minimal, "full": full, "many": many} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, errs := scenario.Parse("x.yaml", []byte(file)); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
	}
}
