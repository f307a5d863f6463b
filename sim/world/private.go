package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// privateDirs is what the folders of worlds are called, in the system's temporary folder.
const privateDirs = "velosim-world-*"

// privateDir is a folder of one child's own. Its lock is held for as long as it is used, so that a later velosim can tell
// those that one left behind which was killed.
type privateDir struct {
	path string
	lock *flock.Flock
}

// newPrivateDir makes a folder, after it has removed those that are left over.
func newPrivateDir() (privateDir, error) {
	sweep()
	path, err := os.MkdirTemp("", privateDirs)
	if err == nil {
		path, err = filepath.Abs(path) // TMPDIR may be relative
	}
	if err != nil {
		return privateDir{}, fmt.Errorf("failed to make the world's private folder: %w", err)
	}
	d := privateDir{path, lockOf(path)}
	if _, err := d.lock.TryLock(); err != nil {
		return privateDir{}, errors.Join(fmt.Errorf("failed to lock the world's private folder: %w", err), os.RemoveAll(path))
	}
	return d, nil
}

func (d privateDir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

// PrivateFolder is the folder of this process, if it is a world that the CLI has started: it may remove it at its end, whatever that
// is. Empty: it is none.
func PrivateFolder() string {
	dir := os.TempDir()
	if private, _ := filepath.Match(privateDirs, filepath.Base(dir)); !private || dir != os.Getenv("HOME") {
		return ""
	}
	return dir
}

func lockOf(path string) *flock.Flock { return flock.New(filepath.Join(path, "lock")) }

// sweep removes the folders that nobody holds. A young one may be about to be locked.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), privateDirs)) // the pattern is a good one
	for _, path := range left {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		lock := lockOf(path)
		if ok, err := lock.TryLock(); ok && err == nil {
			os.RemoveAll(path) //nolint:errcheck // it may be another user's
		}
		lock.Close() //nolint:errcheck // nothing depends on it any more
	}
}
