package executable

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// tree writes files, by their path below dir.
func tree(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if filepath.Base(name) == "velosim-virtual" {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// small is a checkout that builds in a second.
func small(t testing.TB) string {
	return tree(t, t.TempDir(), map[string]string{
		"go.mod":                                 "module github.com/velosim/velosim\n\ngo 1.26\n",
		"sim/scenario/scenario.go":               "package scenario\n\nconst Kind = \"Scenario\"\n",
		"sim/verdict/verdict.go":                 "package verdict\n",
		"sim/velero/go.mod":                      "module github.com/velosim/velosim/sim/velero\n\ngo 1.26\n\nrequire (\n\texample.com/shim v0.0.0\n\tgithub.com/velosim/velosim v0.0.0\n)\n\nreplace github.com/velosim/velosim => ../..\n\nreplace (\n\texample.com/shim => ./shim // beside\n)\n",
		"sim/velero/go.sum":                      "",
		"sim/velero/shim/go.mod":                 "module example.com/shim\n\ngo 1.26\n",
		"sim/velero/shim/shim.go":                "package shim\n",
		"sim/velero/virtual/virtual.go":          "package virtual\n\nimport _ \"embed\"\n\n//go:embed crds/backups.yaml\nvar CRD string\n",
		"sim/velero/virtual/virtual_test.go":     "package virtual\n",
		"sim/velero/virtual/crds/backups.yaml":   "kind: Backup\n",
		"sim/velero/unused/unused.go":            "package unused\n",
		"sim/velero/cmd/velosim-virtual/main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t_ \"example.com/shim\"\n\n\t\"github.com/velosim/velosim/sim/scenario\"\n\t\"github.com/velosim/velosim/sim/velero/virtual\"\n)\n\nfunc main() { fmt.Print(scenario.Kind, virtual.CRD) }\n",
	})
}

// counted runs the real go command, and counts the builds.
type counted struct{ builds atomic.Int32 }

func (c *counted) run(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
	if args[0] == "build" {
		c.builds.Add(1)
	}
	return run(ctx, dir, stdout, stderr, name, args...)
}

func finder(t testing.TB, dir string, r Command) (Finder, *bytes.Buffer) {
	var log bytes.Buffer
	return Finder{Dir: dir, Cache: filepath.Join(t.TempDir(), "velosim", "worlds"), Log: &log, Run: r, Now: time.Now}, &log
}

func TestFindInACheckout(t *testing.T) {
	root, c := small(t), &counted{}
	f, log := finder(t, filepath.Join(root, "sim", "velero", "virtual"), c.run) // anywhere below the root
	f.Beside = tree(t, t.TempDir(), map[string]string{"velosim-virtual": "of other sources"})

	first, err := f.Find(t.Context(), "virtual")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), root, &out, io.Discard, first); err != nil || out.String() != "Scenariokind: Backup\n" {
		t.Errorf("the executable says %q, %v", out.String(), err)
	}
	if !strings.Contains(log.String(), "Building velosim-virtual, once for these sources.") {
		t.Errorf("log:\n%s", log)
	}
	log.Reset()
	if again, err := f.Find(t.Context(), "virtual"); again != first || err != nil || log.Len() > 0 {
		t.Errorf("the second time: %s, %v, log %q; want %s", again, err, log, first)
	}
	tree(t, root, map[string]string{"sim/scenario/scenario.go": "package scenario\n\nconst Kind = \"Changed\"\n"})
	changed, err := f.Find(t.Context(), "virtual")
	if changed == first || err != nil {
		t.Errorf("with other sources: %s, %v", changed, err)
	}
	if n := c.builds.Load(); n != 2 {
		t.Errorf("%d builds, want 2", n)
	}
}

func TestFindShowsWhatTheCompilerSays(t *testing.T) {
	root := small(t)
	tree(t, root, map[string]string{"sim/scenario/scenario.go": "package scenario\n\nconst Kind = 1 + \"one\"\n"})
	f, _ := finder(t, root, run)
	_, err := f.Find(t.Context(), "virtual")
	if err == nil || !strings.Contains(err.Error(), "failed to build velosim-virtual") || !strings.Contains(err.Error(), "scenario.go:3:14: invalid operation") {
		t.Errorf("error = %v", err)
	}
}

func TestFindWithoutGo(t *testing.T) {
	f, _ := finder(t, small(t), func(context.Context, string, io.Writer, io.Writer, string, ...string) error {
		return errors.New("executable file not found in $PATH")
	})
	if _, err := f.Find(t.Context(), "virtual"); err == nil || !strings.Contains(err.Error(), "is Go installed, and in PATH? executable file not found") {
		t.Errorf("error = %v", err)
	}
}

func TestAnInterruptedBuildLeavesNothing(t *testing.T) {
	root := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	f, _ := finder(t, root, func(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
		if args[0] == "build" {
			cancel()
		}
		return run(ctx, dir, stdout, stderr, name, args...)
	})
	if _, err := f.Find(ctx, "virtual"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(f.Cache, "velosim-*", "*")); len(left) > 0 {
		t.Errorf("left in the cache: %v", left)
	}
	f.Run = run
	if _, err := f.Find(t.Context(), "virtual"); err != nil {
		t.Errorf("the next time: %v", err)
	}
}

func TestOneBuildsWhileOthersWait(t *testing.T) {
	root, c := small(t), &counted{}
	f, _ := finder(t, root, c.run)
	f.Log = io.Discard
	var g errgroup.Group
	for range 3 {
		g.Go(func() error {
			_, err := f.Find(t.Context(), "virtual")
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := c.builds.Load(); n != 1 {
		t.Errorf("%d builds, want 1", n)
	}
}

func TestSourcesThatChangeDuringTheBuildAreBuiltAgain(t *testing.T) {
	root := small(t)
	var once sync.Once
	f, _ := finder(t, root, func(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
		err := run(ctx, dir, stdout, stderr, name, args...)
		if args[0] == "build" {
			once.Do(func() {
				tree(t, root, map[string]string{"sim/scenario/scenario.go": "package scenario\n\nconst Kind = \"Late\"\n"})
			})
		}
		return err
	})
	path, err := f.Find(t.Context(), "virtual")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), root, &out, io.Discard, path); err != nil || !strings.HasPrefix(out.String(), "Late") {
		t.Errorf("the executable says %q, %v", out.String(), err)
	}
	if entries := f.entries(target{name: "velosim-virtual"}); len(entries) != 1 {
		t.Errorf("the cache holds %v", entries)
	}
}

// Nothing can tell whether the sources have changed since, so it says which one it takes.
func TestFindSaysWhichCachedOneItTakes(t *testing.T) {
	f, log := finder(t, t.TempDir(), run)
	v, _ := targetOf("virtual")
	path := f.entry(v, "1")
	tree(t, filepath.Dir(path), map[string]string{v.name: ""})
	if _, err := f.Find(t.Context(), "virtual"); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.Contains(got, path) || strings.Count(got, "\n") != 1 {
		t.Errorf("log:\n%s", got)
	}
	log.Reset()
	f.Beside = filepath.Dir(path)
	if _, err := f.Find(t.Context(), "virtual"); err != nil || log.Len() > 0 {
		t.Errorf("beside velosim: %v, log:\n%s", err, log)
	}
}

func TestFindElsewhere(t *testing.T) {
	const name = "velosim-virtual"
	full := tree(t, t.TempDir(), map[string]string{name: ""})
	empty := tree(t, t.TempDir(), map[string]string{"README.md": ""})
	cache := tree(t, t.TempDir(), map[string]string{name + "-1/" + name: "", name + "-2/" + name: ""})
	newest := filepath.Join(cache, name+"-1", name)
	Finder{Now: func() time.Time { return time.Now().Add(time.Hour) }}.used(newest)

	for what, tt := range map[string]struct {
		finder Finder
		world  string
		want   string // the path, or a part of the error
	}{
		"beside velosim":         {Finder{Beside: full, Cache: cache}, "virtual", filepath.Join(full, name)},
		"in the cache":           {Finder{Beside: empty, Cache: cache}, "virtual", newest},
		"where the variable is":  {Finder{WorldDir: full, Dir: small(t), Cache: cache}, "virtual", filepath.Join(full, name)},
		"not where it says":      {Finder{WorldDir: empty, Beside: full, Cache: cache}, "virtual", "VELOSIM_WORLD_DIR says to look there and nowhere else"},
		"nowhere":                {Finder{Beside: empty, Cache: empty}, "virtual", `run "velosim setup" once inside a checkout`},
		"nowhere, with no cache": {Finder{Cache: filepath.Join(empty, "none")}, "virtual", `velosim-virtual is not installed`},
		"another world":          {Finder{Beside: full}, "real", `there is no world "real"; the worlds are: virtual`},
	} {
		t.Run(what, func(t *testing.T) {
			f := tt.finder
			f.Run, f.Now, f.Log = run, time.Now, io.Discard
			if f.Dir == "" {
				f.Dir = empty
			}
			got, err := f.Find(t.Context(), tt.world)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}
