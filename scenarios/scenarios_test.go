package scenarios_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
)

func TestEveryScenario(t *testing.T) {
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			b, err := scenarios.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			s, errs := scenario.Parse(name+".yaml", b)
			if len(errs) > 0 {
				t.Fatalf("does not parse:\n%v", errs)
			}
			if s.Metadata.Name != name {
				t.Errorf("metadata.name is %q, want the file's name", s.Metadata.Name)
			}
			about := s.Object()
			if s.Expect.Server != "" {
				about = "server/"
			}
			if kind, _, _ := strings.Cut(name, "-"); !strings.HasPrefix(about, kind+"/") {
				t.Errorf("its name speaks of a %s, its expectations of %s", kind, s.Object())
			}
			if !bytes.HasPrefix(b, []byte("# ")) || !strings.HasSuffix(s.Description, ".") || !strings.Contains(s.Description, "must") {
				t.Errorf("opens with %q, want a comment in sentences that says what must come of it", s.Description)
			}
			if e := s.Expect; ends(e.Phase) && e.Operations == nil {
				t.Error("expect does not state the operations")
			}
			for _, line := range strings.Split(string(b), "\n") {
				if strings.HasPrefix(line, "#") && len(line) > 130 {
					t.Errorf("a comment line of %d characters; wrap it", len(line))
				}
			}
		})
	}
}

func TestNamesAreTheFiles(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, scenarios.Files()); diff != "" {
		t.Error(diff)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(filepath.Base(files[i]), ".yaml")
	}
	slices.Sort(files)
	if unique := slices.Compact(slices.Clone(files)); len(unique) < len(files) {
		t.Errorf("%d files have the name of another", len(files)-len(unique))
	}
	if diff := cmp.Diff(files, scenarios.Names()); diff != "" {
		t.Error(diff)
	}
	want, err := os.ReadFile("operation/backup-operation-completes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := scenarios.Read("backup-operation-completes")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestReadUnknown(t *testing.T) {
	for _, name := range []string{"", "no-such-scenario", "../go", "scenarios.go", "*"} {
		if _, err := scenarios.Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%q): %v, want fs.ErrNotExist", name, err)
		}
	}
}

// ends reports whether the object that ends so still has the counts of its operations, which are all that it had.
func ends(phase string) bool { return phase == "Completed" || phase == "PartiallyFailed" }
