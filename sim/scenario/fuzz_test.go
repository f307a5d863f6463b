package scenario_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
)

// FuzzParse: whatever the bytes, there is a scenario that survives JSON or there are errors with positions in the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(minimal))
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
	})
}

func BenchmarkParse(b *testing.B) {
	for name, file := range map[string]string{"minimal": minimal, "full": full} {
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
