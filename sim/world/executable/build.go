package executable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// cachedPackage is what a package takes in Go's build cache, in bytes: 6.4 GiB were measured for the 5,300 of all that is built.
const cachedPackage = 1.25 * (1 << 20)

// cold is how many packages are to be compiled for a build to be called a cold one.
const cold = 500

// fromCheckout returns the cached executable of exactly the checkout's sources, which it builds if there is none.
func (f Finder) fromCheckout(ctx context.Context, t target, root string) (string, error) {
	g, err := f.toolchain(ctx, t, filepath.Join(root, t.module))
	if err != nil {
		return "", err
	}
	key, err := g.key(t, root)
	if err != nil {
		return "", err
	}
	path := f.entry(t, key)
	if executable(path) {
		f.used(path)
		return path, nil
	}
	if err := os.MkdirAll(f.Cache, 0o700); err != nil {
		return "", fmt.Errorf("failed to make the cache: %w", err)
	}
	unlock, err := f.lock(ctx, t)
	if err != nil {
		return "", err
	}
	defer unlock()
	if executable(path) { // another process has built it in the meantime
		f.used(path)
		return path, nil
	}
	for {
		if err := f.build(ctx, t, g, root, key); err != nil {
			return "", err
		}
		after, err := g.key(t, root)
		if err != nil {
			return "", err
		}
		if after == key {
			break
		}
		os.RemoveAll(filepath.Dir(path)) //nolint:errcheck // it belongs to no key; in the way of nobody
		fmt.Fprintf(f.Log, "The sources have changed since; building again.\n")
		key, path = after, f.entry(t, after)
	}
	f.used(path)
	f.prune(t)
	return path, nil
}

// lock keeps other processes from building t.
func (f Finder) lock(ctx context.Context, t target) (unlock func(), err error) {
	lock := flock.New(filepath.Join(f.Cache, t.name+".lock"), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		fmt.Fprintf(f.Log, "Another velosim builds %s; waiting for it.\n", t.name)
		defer f.remind("still waiting")()
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to lock the cache %s: %w", f.Cache, err)
	}
	return func() { lock.Unlock() }, nil //nolint:errcheck // the end of the process unlocks it at the latest
}

// partial ends the name of an executable that is being built.
const partial = ".partial"

// build builds the executable from the sources of the key, and puts it into the cache once it is complete.
func (f Finder) build(ctx context.Context, t target, g toolchain, root, key string) error {
	path, dir := f.entry(t, key), filepath.Join(root, t.module)
	fmt.Fprintf(f.Log, "Building %s, once for these sources. Looking for what is to be downloaded and compiled.\n", t.name)
	told := f.remind("still looking")
	total, err := f.stale(ctx, g, t, dir)
	told()
	if err != nil {
		return fmt.Errorf("failed to list the packages of %s: %w", t.name, err)
	}
	if total >= cold && t.takes != "" {
		fmt.Fprintf(f.Log, "%d packages: this takes %s, and about %.1f GiB in Go's build cache. It may be interrupted; it then goes on where it stopped.\n",
			total, t.takes, float64(total)*cachedPackage/(1<<30))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("failed to make an entry of the cache: %w", err)
	}
	unfinished := path + partial
	defer os.Remove(unfinished)
	shown := newProgress(f, total)
	err = f.Run(ctx, dir, io.Discard, shown, "go", slices.Concat([]string{"build", "-v"}, g.flags(t), []string{linked(t, key), "-o", unfinished, t.pkg})...)
	shown.stop()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the build of %s was interrupted; the next one goes on where it stopped: %w", t.name, ctx.Err())
	case err != nil:
		return fmt.Errorf("failed to build %s (in %s, go build %s): %w\n%s", t.name, dir, t.pkg, err, shown.rest())
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("failed to put %s into the cache: %w", t.name, err)
	}
	fmt.Fprintf(f.Log, "Built %s in %v.\n", t.name, shown.elapsed())
	return nil
}

// linked is the linker's flags: a world tells, as its build, the key of its sources; others' executables go without symbols.
func linked(t target, key string) string {
	if strings.HasPrefix(t.pkg, "./") {
		return "-ldflags=-X " + repository + "/sim/world.sources=" + key
	}
	return strings.TrimSpace("-ldflags=-s -w " + t.link)
}

// flags of the go command for a build.
func (g toolchain) flags(t target) []string {
	flags := []string{"-buildvcs=false"}
	if t.seeded {
		flags = append(flags, "-overlay="+g.overlay)
	}
	return flags
}

// stale counts the packages that go build will compile, or link.
func (f Finder) stale(ctx context.Context, g toolchain, t target, dir string) (int, error) {
	var out, stderr bytes.Buffer
	err := f.Run(ctx, dir, &out, &stderr, "go", slices.Concat([]string{"list"}, g.flags(t), []string{"-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", t.pkg})...)
	if err != nil {
		return 0, errors.Join(err, errors.New(strings.TrimSpace(stderr.String())))
	}
	return len(strings.Fields(out.String())), nil
}
