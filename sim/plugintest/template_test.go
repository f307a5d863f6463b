package plugintest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/velosim/velosim/sim/world/executable"
)

// The template of a plugin module passes its tests outside of this repository, with nothing but velosim's modules and world.
func TestTemplate(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a module of its own, and -short asks for less")
	}
	finder, err := executable.FromEnvironment(t.Output(), false)
	if err != nil {
		t.Fatal(err)
	}
	world, err := finder.Find(t.Context(), "virtual")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "plugin-template"))); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum")) // what tidy would look up anew
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mod", "edit", "-replace", "github.com/velosim/velosim=" + root}, // this one, in place of a release
		{"mod", "tidy"},
		{"vet", "./..."},
		{"test", "./..."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), executable.DirVariable+"="+filepath.Dir(world))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Output().Write(out) //nolint:errcheck // it is a test's
			t.Fatalf("go %v: %v", args, err)
		}
	}
}
