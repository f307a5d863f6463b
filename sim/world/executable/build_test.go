package executable

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The linker ignores a variable that is not there, so a real world is built.
func TestAWorldTellsItsSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world")
	var out strings.Builder
	if err := run(t.Context(), ".", &out, &out, "go", "build", "-buildvcs=false", linked(target{pkg: "./cmd/world"}, "0123abcd"), "-o", path, "./testdata/world"); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if err := run(t.Context(), ".", &out, io.Discard, path); err != nil {
		t.Fatal(err)
	}
	if want := `"build":"sources 0123abcd, by hand"`; !strings.Contains(out.String(), want) {
		t.Errorf("hello = %s, want %s", &out, want)
	}
}

func TestABuildIsLinkedWithItsKey(t *testing.T) {
	var flags []string
	f, _ := finder(t, small(t), func(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
		if args[0] == "build" {
			flags = args
		}
		return run(ctx, dir, stdout, stderr, name, args...)
	})
	path, err := f.Find(t.Context(), "virtual")
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := strings.Cut(filepath.Base(filepath.Dir(path)), "velosim-virtual-")
	if !slices.Contains(flags, linked(target{pkg: "./cmd/world"}, key)) {
		t.Errorf("go %q, without %q", flags, linked(target{pkg: "./cmd/world"}, key))
	}
}
