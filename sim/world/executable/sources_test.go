package executable

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeyFollowsWhatIsBuilt(t *testing.T) {
	for file, matters := range map[string]bool{
		"go.mod":                                 true,
		"sim/velero/go.mod":                      true,
		"sim/velero/go.sum":                      true,
		"sim/velero/shim/go.mod":                 true,
		"sim/velero/shim/shim.go":                true,
		"sim/velero/shim/new.s":                  true,
		"sim/scenario/scenario.go":               true,
		"sim/scenario/new.go":                    true,
		"sim/velero/virtual/crds/backups.yaml":   true,
		"sim/velero/cmd/velosim-virtual/main.go": true,
		"sim/verdict/verdict.go":                 false,
		"sim/velero/unused/unused.go":            false,
		"sim/velero/virtual/virtual_test.go":     false,
		"sim/velero/virtual/testdata/new.go":     false,
		"README.md":                              false,
	} {
		t.Run(file, func(t *testing.T) {
			root := small(t)
			f, _ := finder(t, root, run)
			key := func() string {
				target, err := targetOf("virtual")
				if err != nil {
					t.Fatal(err)
				}
				g, err := f.toolchain(t.Context(), target, root)
				if err != nil {
					t.Fatal(err)
				}
				key, err := g.key(target, root)
				if err != nil {
					t.Fatal(err)
				}
				return key
			}
			before := key()
			b, _ := os.ReadFile(filepath.Join(root, file))
			tree(t, root, map[string]string{file: string(b) + "\n// changed\n"})
			if after := key(); (after != before) != matters {
				t.Errorf("key %s, then %s", before, after)
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	dir, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	root, err := checkout(dir)
	if err != nil {
		b.Fatal(err)
	}
	f, _ := finder(b, root, run)
	v, _ := targetOf("virtual")
	for b.Loop() {
		g, err := f.toolchain(b.Context(), v, root)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := g.key(v, root); err != nil {
			b.Fatal(err)
		}
	}
}
