package filestore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrNotFound is that there is no object with the key.
var ErrNotFound = errors.New("the object does not exist")

// pending is the folder of what is being put. No bucket can have its name.
const pending = ".pending"

// Store is an object store. It is safe for concurrent use, also by several processes.
type Store struct {
	path string
	root *os.Root
}

// Open opens the store in a folder, which must exist; its path must be absolute.
func Open(folder string) (*Store, error) {
	if !filepath.IsAbs(folder) {
		return nil, fmt.Errorf("the object store's folder must be an absolute path, not %q", folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("failed to open the object store's folder: %w", err)
	}
	return &Store{path: folder, root: root}, nil
}

// Close closes the store's folder.
func (s *Store) Close() error { return s.root.Close() }

// Pending is what is being put: Commit makes an object of it, and Discard removes it if there was no Commit.
type Pending struct {
	Size  int64 // in bytes
	store *Store
	temp  string
	to    string
}

// Prepare reads what is to be put, without an effect.
func (s *Store) Prepare(bucket, key string, body io.Reader) (_ *Pending, err error) {
	to, err := objectPath(bucket, key)
	if err != nil {
		return nil, err
	}
	if err := s.root.MkdirAll(pending, 0o700); err != nil {
		return nil, err
	}
	p := &Pending{store: s, temp: path.Join(pending, rand.Text()), to: to}
	f, err := s.root.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	p.Size, err = io.Copy(f, body)
	if err = errors.Join(err, f.Close()); err != nil {
		p.Discard()
		return nil, fmt.Errorf("failed to read what is to be put at %s: %w", to, err)
	}
	return p, nil
}

// Commit makes the object appear, or change.
func (p *Pending) Commit() error {
	if err := p.store.root.MkdirAll(path.Dir(p.to), 0o700); err != nil {
		return err
	}
	return p.store.root.Rename(p.temp, p.to)
}

// Discard removes what was not committed.
func (p *Pending) Discard() { p.store.root.Remove(p.temp) } //nolint:errcheck // it is in nobody's way

// Put puts an object.
func (s *Store) Put(bucket, key string, body io.Reader) error {
	p, err := s.Prepare(bucket, key, body)
	if err != nil {
		return err
	}
	defer p.Discard()
	return p.Commit()
}

// Exists reports whether there is an object with the key.
func (s *Store) Exists(bucket, key string) (bool, error) {
	name, err := objectPath(bucket, key)
	if err != nil {
		return false, err
	}
	info, err := s.root.Stat(name)
	if missing(err) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// Get opens an object and returns its size in bytes. The error is ErrNotFound if there is none.
func (s *Store) Get(bucket, key string) (io.ReadCloser, int64, error) {
	name, err := objectPath(bucket, key)
	if err != nil {
		return nil, 0, err
	}
	f, err := s.root.Open(name)
	if missing(err) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotFound
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Delete deletes an object. One that does not exist is none to delete.
func (s *Store) Delete(bucket, key string) error {
	name, err := objectPath(bucket, key)
	if err != nil {
		return err
	}
	if exists, err := s.Exists(bucket, key); !exists || err != nil {
		return err
	}
	if err := s.root.Remove(name); !missing(err) {
		return err
	}
	return nil
}

// List returns the keys that begin with the prefix, sorted.
func (s *Store) List(bucket, prefix string) ([]string, error) {
	if err := checkBucket(bucket); err != nil {
		return nil, err
	}
	if prefix != "" && !filepath.IsLocal(prefix) {
		return nil, fmt.Errorf("invalid prefix %q", prefix)
	}
	folder := path.Join(bucket, prefix[:strings.LastIndex(prefix, "/")+1])
	var keys []string
	err := fs.WalkDir(s.root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		if missing(err) {
			return nil // nobody has put anything there, or it was deleted meanwhile
		}
		if err == nil && d.Type().IsRegular() {
			if key := strings.TrimPrefix(name, bucket+"/"); strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
}

// CommonPrefixes returns what the keys with the prefix have in common up to the next delimiter, it included, sorted.
func (s *Store) CommonPrefixes(bucket, prefix, delimiter string) ([]string, error) {
	keys, err := s.List(bucket, prefix)
	var prefixes []string
	for _, key := range keys {
		rest := key[len(prefix):]
		if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
			prefixes = append(prefixes, prefix+rest[:i+len(delimiter)])
		}
	}
	return slices.Compact(prefixes), err
}

// URL is where the object is, for processes of this machine.
func (s *Store) URL(bucket, key string) (string, error) {
	name, err := objectPath(bucket, key)
	return "file://" + path.Join(filepath.ToSlash(s.path), name), err
}

// objectPath is the file of an object.
func objectPath(bucket, key string) (string, error) {
	if err := checkBucket(bucket); err != nil {
		return "", err
	}
	// A key that Clean changes would be another object's: a//b, a/./b, a/../b.
	if !filepath.IsLocal(key) || path.Clean(key) != key || key == "." || strings.ContainsAny(key, "\x00\\") {
		return "", fmt.Errorf("invalid key %q", key)
	}
	return path.Join(bucket, key), nil
}

func checkBucket(bucket string) error {
	if bucket == "" || strings.HasPrefix(bucket, ".") || strings.ContainsAny(bucket, "/\\\x00") {
		return fmt.Errorf("invalid bucket %q", bucket)
	}
	return nil
}

// missing: there is no such file, or what should be a folder is an object.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
