package seeded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnknown is returned for a Go whose runtime is not one that the package knows: Go 1.26 is.
var ErrUnknown = errors.New("the Go runtime is not one that is known")

// Overlay writes the changed copies of Go's files below dir, unless they are there, and returns the path of the file for
// go build -overlay. It is the same for the same Go. Errors: [ErrUnknown], or what the file system says.
func Overlay(goroot, dir string) (string, error) {
	changed := map[string]string{}
	sum := sha256.New()
	for _, e := range edits() {
		path := filepath.Join(goroot, "src", filepath.FromSlash(e.file))
		text, ok := changed[path]
		if !ok {
			b, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("failed to read the Go runtime: %w", err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("%w: %s has %q %d times", ErrUnknown, path, e.old, n)
		}
		changed[path] = strings.Replace(text, e.old, e.new, 1)
		fmt.Fprintf(sum, "%s\x00%s\x00", path, changed[path])
	}
	dir = filepath.Join(dir, "seeded-"+hex.EncodeToString(sum.Sum(nil))[:20])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("failed to make a folder for copies of the Go runtime: %w", err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range changed {
		rel, err := filepath.Rel(filepath.Join(goroot, "src"), path)
		if err != nil {
			return "", err
		}
		overlay.Replace[path] = filepath.Join(dir, strings.ReplaceAll(rel, string(filepath.Separator), "_"))
		if err := write(overlay.Replace[path], []byte(text)); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, write(file, b)
}

// write writes the file whole, or not at all: other processes may be reading it.
func write(path string, b []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(b) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("failed to write a copy of the Go runtime: %w", err)
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name()) //nolint:errcheck // in the way of nobody
		return fmt.Errorf("failed to write a copy of the Go runtime: %w", err)
	}
	return os.Rename(f.Name(), path)
}
