package executable

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// kept is how many executables of a world stay in the cache: those used last.
const kept = 3

// entry returns the path of the executable that the key stands for.
func (f Finder) entry(t target, key string) string {
	return filepath.Join(f.Cache, t.dir()+"-"+key, t.name)
}

// dir is the name of the target's folders in the cache, before their keys.
func (t target) dir() string { return cmp.Or(t.folder, t.name) }

// used marks an entry as used just now.
func (f Finder) used(path string) {
	now := f.Now()
	os.Chtimes(path, now, now) //nolint:errcheck // at worst it is removed early, and built again
}

// newest returns the executable that was used last.
func (f Finder) newest(t target) (string, bool) {
	entries := f.entries(t)
	if len(entries) == 0 {
		return "", false
	}
	return entries[0], true
}

// prune removes the entries that were not used for longest. The caller holds the lock.
func (f Finder) prune(t target) {
	for i, path := range f.entries(t) {
		if i >= kept {
			os.RemoveAll(filepath.Dir(path)) //nolint:errcheck // the next build tries again
		}
	}
}

// entries returns the executables of t in the cache, the one used last first.
func (f Finder) entries(t target) []string {
	dirs, err := os.ReadDir(f.Cache)
	if err != nil {
		return nil // there is no cache yet
	}
	var paths []string
	used := map[string]time.Time{}
	for _, d := range dirs {
		path := filepath.Join(f.Cache, d.Name(), t.name)
		if info, err := os.Stat(path); err == nil && strings.HasPrefix(d.Name(), t.dir()+"-") {
			paths, used[path] = append(paths, path), info.ModTime()
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return used[b].Compare(used[a]) })
	return paths
}
