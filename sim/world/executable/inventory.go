package executable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Part is something that a world runs with, and where it would be taken from.
type Part struct {
	// Name of the executable, and what it is For.
	Name, For string
	// Path of it; empty: it is missing.
	Path string
	// Stale: the path is in the cache, and was built from other sources than this checkout has.
	Stale bool
	// Size in bytes, and how long a build Takes on two cores from nothing, in words.
	Size  int64
	Takes string
}

// Inventory are the parts of every world, in the order in which they are built, without building any.
func (f Finder) Inventory(ctx context.Context) ([]Part, error) {
	root, err := checkout(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	virtual, err := targetOf("virtual")
	if err != nil {
		return nil, err
	}
	world, err := targetOf("envtest")
	if err != nil {
		return nil, err
	}
	all := []struct {
		target target
		use    string
	}{
		{virtual, "the world virtual"},
		{world, "the world envtest"},
		{pluginsTarget, "envtest: scripted plugins"},
		{controlPlane[0], "envtest"},
		{controlPlane[1], "envtest"},
		{actionsServer, "envtest: pre- and post-actions"},
	}
	known := []string{linkedRelease}
	if root != "" {
		known = releases(root)
	}
	for _, release := range slices.Backward(known) {
		all = append(all, struct {
			target target
			use    string
		}{serverTarget(release), "envtest: Velero " + release})
	}
	var parts []Part
	for _, one := range all {
		part := Part{Name: one.target.name, For: one.use, Takes: one.target.takes}
		if part.Path, part.Stale, err = f.look(ctx, one.target, root); err != nil {
			return nil, err
		}
		if info, err := os.Stat(part.Path); err == nil {
			part.Size = info.Size()
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// look is where the target is found without a build; stale: only of other sources.
func (f Finder) look(ctx context.Context, t target, root string) (path string, stale bool, err error) {
	beside := filepath.Join(f.Beside, t.name)
	switch {
	case f.WorldDir != "":
		if path := filepath.Join(f.WorldDir, t.name); executable(path) {
			return path, false, nil
		}
		return "", false, nil
	case t.folder == controlPlane[0].folder:
		if dir, err := f.installed(); err != nil || dir != "" {
			return filepath.Join(dir, t.name), false, err
		}
	}
	if root != "" {
		current, err := f.current(ctx, t, root)
		if err != nil || executable(current) {
			return current, false, err
		}
	} else if f.Beside != "" && executable(beside) {
		return beside, false, nil
	}
	path, ok := f.newest(t)
	return path, ok && root != "", nil
}

// current is where the cache has the target of the checkout's sources, if it has it.
func (f Finder) current(ctx context.Context, t target, root string) (string, error) {
	g, err := f.toolchain(ctx, t, filepath.Join(root, t.module))
	if err != nil {
		return "", err
	}
	key, err := g.key(t, root)
	return f.entry(t, key), err
}

// Entry is a folder of the cache.
type Entry struct {
	Path string
	// Size in bytes.
	Size int64
	// Used: a run from here would use it, or it is being built.
	Used bool
}

// Entries are the folders of the cache, by name. What the parts do not name is not used from here.
func (f Finder) Entries(ctx context.Context, parts []Part) ([]Entry, error) {
	dirs, err := os.ReadDir(f.Cache)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the cache: %w", err)
	}
	overlay, err := f.Overlay(ctx, "virtual")
	if err != nil { // there is no Go: nothing is built here
		overlay = ""
	}
	var entries []Entry
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		e := Entry{Path: filepath.Join(f.Cache, d.Name())}
		within := func(path string) bool { return strings.HasPrefix(path, e.Path+string(filepath.Separator)) }
		e.Used = within(overlay) || slices.ContainsFunc(parts, func(p Part) bool { return !p.Stale && within(p.Path) })
		err := filepath.WalkDir(e.Path, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			e.Used = e.Used || strings.HasSuffix(path, partial)
			info, err := entry.Info()
			if err == nil && info.Mode().IsRegular() {
				e.Size += info.Size()
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process prunes
			return nil, fmt.Errorf("failed to read the cache: %w", err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}
