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
			if kind, _, _ := strings.Cut(name, "-"); !strings.HasPrefix(s.Object(), kind+"/") {
				t.Errorf("its name speaks of a %s, its expectations of %s", kind, s.Object())
			}
			if !bytes.HasPrefix(b, []byte("# ")) || !strings.HasSuffix(s.Description, ".") || !strings.Contains(s.Description, "must") {
				t.Errorf("opens with %q, want a comment in sentences that says what must come of it", s.Description)
			}
			if s.Expect.Operations == nil || s.Expect.Within.Duration == 0 {
				t.Error("expect does not state operations and within")
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
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".yaml")
	}
	if diff := cmp.Diff(files, scenarios.Names()); diff != "" {
		t.Error(diff)
	}
	want, err := os.ReadFile("backup-operation-completes.yaml")
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

// TestWitnesses pins which scenarios show a deviation of a release, and by which rule.
func TestWitnesses(t *testing.T) {
	want := map[string]string{
		"backup-contents-lost":                         "finalizer-retried-for-ever",
		"backup-final-upload-fails":                    "final-upload-failure-ignored",
		"backup-operations-file-lost":                  "missing-operations-read-as-none",
		"backup-server-killed-after-upload-of-failure": "failure-forgotten-before-patch",
		"backup-progress-errors-once":                  "progress-error-is-final",
		"backup-progress-hangs":                        "plugin-call-without-deadline",
		"backup-server-killed-while-ready-to-start":    "ready-backup-forgotten-by-restart",
	}
	got := map[string]string{}
	for _, name := range scenarios.Names() {
		b, _ := scenarios.Read(name)
		if s, _ := scenario.Parse(name, b); s != nil && s.Expect.Deviation != nil {
			got[name] = s.Expect.Deviation.Rule
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
