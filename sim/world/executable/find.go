package executable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// DirVariable is the environment variable that names the folder of the worlds' executables.
const DirVariable = "VELOSIM_WORLD_DIR"

// Command runs a program in dir and waits for it. When ctx ends, it interrupts the program.
type Command func(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error

// Finder says where to look.
type Finder struct {
	// WorldDir is the only folder to look in; empty: not set.
	WorldDir string
	// Dir is where a checkout is looked for, upward.
	Dir string
	// Beside is the folder of velosim's own executable; empty: unknown.
	Beside string
	// Cache is the folder of what was built. It is made when needed.
	Cache string
	// Assets is what KUBEBUILDER_ASSETS says; empty: nothing. Downloads is the pattern of the folders of setup-envtest.
	Assets, Downloads string
	// Log is where progress is shown; as a bar if it is a Terminal, else as a line now and then.
	Log      io.Writer
	Terminal bool
	// Run runs the go command, and Now tells the time.
	Run Command
	Now func() time.Time
}

// FromEnvironment returns a Finder for this process: its environment, working directory and executable.
func FromEnvironment(log io.Writer, terminal bool) (Finder, error) {
	f := Finder{
		WorldDir: os.Getenv(DirVariable), Assets: os.Getenv(AssetsVariable), Downloads: downloads(runtime.GOOS + "-" + runtime.GOARCH),
		Log: log, Terminal: terminal, Run: run, Now: time.Now,
	}
	var err error
	if f.Dir, err = os.Getwd(); err != nil {
		return Finder{}, fmt.Errorf("failed to find the working directory: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Finder{}, fmt.Errorf("failed to find the user's cache (set XDG_CACHE_HOME or HOME): %w", err)
	}
	f.Cache = filepath.Join(cache, "velosim", "worlds")
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			f.Beside = filepath.Dir(self)
		}
	}
	return f, nil
}

// run implements Command.
func run(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stdout, stderr
	// An interrupted go command keeps what it has compiled.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd.Run()
}

// Find returns the path of the world's executable, which it builds if it must.
func (f Finder) Find(ctx context.Context, world string) (string, error) {
	t, err := targetOf(world)
	if err != nil {
		return "", err
	}
	return f.find(ctx, t)
}

func (f Finder) find(ctx context.Context, t target) (string, error) {
	if f.WorldDir != "" {
		path := filepath.Join(f.WorldDir, t.name)
		if !executable(path) {
			return "", fmt.Errorf("there is no executable %s; %s says to look there and nowhere else: correct or unset it", path, DirVariable)
		}
		return path, nil
	}
	root, err := checkout(f.Dir)
	switch {
	case err == nil:
		return f.fromCheckout(ctx, t, root)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if path := filepath.Join(f.Beside, t.name); f.Beside != "" && executable(path) {
		return path, nil
	}
	if path, ok := f.newest(t); ok {
		fmt.Fprintf(f.Log, "Using %s, the cached one that was used last: outside a checkout velosim cannot tell whether its sources have changed since.\n", path)
		return path, nil
	}
	return "", fmt.Errorf(`%s is not installed: it is not
  beside velosim, in %s,
  nor in the cache, %s,
and this folder is in no checkout of %s, where it could be built. Do one of
  - run "velosim setup" once inside a checkout: it builds %[1]s into the cache;
  - put %[1]s beside velosim;
  - set %[5]s to the folder that holds %[1]s`, t.name, f.Beside, f.Cache, repository, DirVariable)
}

// executable tells whether path is a file that can be run.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
