package filestore_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/fakeplugins/filestore"
)

const bucket = "velosim"

func open(t *testing.T, folder string) *filestore.Store {
	t.Helper()
	s, err := filestore.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *filestore.Store, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := s.Put(bucket, key, strings.NewReader("of "+key)); err != nil {
			t.Fatal(err)
		}
	}
}

func get(t *testing.T, s *filestore.Store, key string) string {
	t.Helper()
	r, size, err := s.Get(bucket, key)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil || int64(len(b)) != size {
		t.Errorf("%d bytes, size %d, error %v", len(b), size, err)
	}
	return string(b)
}

func TestObjects(t *testing.T) {
	s := open(t, t.TempDir())
	const key = "backups/b/velero-backup.json"
	if exists, err := s.Exists(bucket, key); exists || err != nil {
		t.Errorf("before: exists %t, error %v", exists, err)
	}
	put(t, s, key)
	if got := get(t, s, key); got != "of "+key {
		t.Errorf("got %q", got)
	}
	if err := s.Put(bucket, key, strings.NewReader("new")); err != nil || get(t, s, key) != "new" {
		t.Errorf("put over it: error %v, now %q", err, get(t, s, key))
	}
	if exists, err := s.Exists(bucket, key); !exists || err != nil {
		t.Errorf("exists %t, error %v", exists, err)
	}
	for range 2 { // the second time it is gone already
		if err := s.Delete(bucket, key); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	for _, k := range []string{key, "backups/b", key + "/below", "never"} {
		if _, _, err := s.Get(bucket, k); !errors.Is(err, filestore.ErrNotFound) {
			t.Errorf("Get %s: %v, want ErrNotFound", k, err)
		}
		if exists, err := s.Exists(bucket, k); exists || err != nil {
			t.Errorf("Exists %s: %t, %v", k, exists, err)
		}
	}
}

func TestLists(t *testing.T) {
	s := open(t, t.TempDir())
	put(t, s, "backups/b-1/b", "backups/b-1/a", "backups/b-10/a", "backups/b-2/deep/er/a", "restores/r/a", "top")
	put(t, s, "gone/x/a")
	if err := s.Delete(bucket, "gone/x/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(bucket, "half/a", strings.NewReader("not yet an object")); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][]string{
		"":             {"backups/b-1/a", "backups/b-1/b", "backups/b-10/a", "backups/b-2/deep/er/a", "restores/r/a", "top"},
		"backups/b-1":  {"backups/b-1/a", "backups/b-1/b", "backups/b-10/a"},
		"backups/b-1/": {"backups/b-1/a", "backups/b-1/b"},
		"none/":        nil,
		"top/":         nil,
	} {
		got, err := s.List(bucket, prefix)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("List %q: error %v (-want +got):\n%s", prefix, err, diff)
		}
	}
	for prefix, want := range map[string][]string{
		"":            {"backups/", "restores/"},
		"backups/":    {"backups/b-1/", "backups/b-10/", "backups/b-2/"},
		"backups/b-1": {"backups/b-1/", "backups/b-10/"},
		"gone/":       nil,
	} {
		got, err := s.CommonPrefixes(bucket, prefix, "/")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("CommonPrefixes %q: error %v (-want +got):\n%s", prefix, err, diff)
		}
	}
	if keys, err := s.List("other", ""); len(keys) > 0 || err != nil {
		t.Errorf("another bucket: %q, %v", keys, err)
	}
}

// What a put has not committed is no object, and leaves the one before.
func TestPutIsAllOrNothing(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	put(t, s, "a")
	if err := s.Put(bucket, "a", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("cut")))); err == nil {
		t.Error("a body that cannot be read was put")
	}
	p, err := s.Prepare(bucket, "a", strings.NewReader("other"))
	if err != nil || p.Size != 5 {
		t.Fatalf("Prepare: size %d, error %v", p.Size, err)
	}
	if got := get(t, s, "a"); got != "of a" {
		t.Errorf("before Commit the object is %q", got)
	}
	p.Discard()
	if left, err := os.ReadDir(filepath.Join(folder, ".pending")); len(left) > 0 || err != nil {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestKeysCannotLeaveTheFolder(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s := open(t, folder)
	put(t, s, "a")
	for link, to := range map[string]string{"out": outside, "file": filepath.Join(outside, "secret")} {
		if err := os.Symlink(to, filepath.Join(folder, bucket, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ bucket, key string }{
		{bucket, "../x"},
		{bucket, "a/../../x"},
		{bucket, "/etc/passwd"},
		{bucket, ""},
		{bucket, "."},
		{bucket, "a//b"},
		{bucket, "a/"},
		{bucket, "a/./b"},
		{bucket, "a\x00"},
		{bucket, `a\b`},
		{bucket, "out/secret"},
		{bucket, "out/new"},
		{bucket, "file"},
		{"..", "a"},
		{"", "a"},
		{".pending", "a"},
		{"a/b", "c"},
		{"/", "a"},
	} {
		_, existsErr := s.Exists(tt.bucket, tt.key)
		_, _, getErr := s.Get(tt.bucket, tt.key)
		if existsErr == nil || getErr == nil {
			t.Errorf("%s %q: Exists %v, Get %v; want errors", tt.bucket, tt.key, existsErr, getErr)
		}
		if tt.key == "file" {
			continue // a put replaces the link
		}
		if err := s.Put(tt.bucket, tt.key, strings.NewReader("x")); err == nil {
			t.Errorf("%s %q was put", tt.bucket, tt.key)
		}
		if err := s.Delete(tt.bucket, tt.key); err == nil {
			t.Errorf("%s %q was deleted", tt.bucket, tt.key)
		}
	}
	for _, prefix := range []string{"../", "/", "out/"} {
		if keys, err := s.List(bucket, prefix); err == nil {
			t.Errorf("List %q: %q, want an error", prefix, keys)
		}
	}
	put(t, s, "file")
	if b, err := os.ReadFile(filepath.Join(outside, "secret")); string(b) != "secret" || err != nil {
		t.Errorf("outside there is now %q, %v", b, err)
	}
	if left, err := os.ReadDir(outside); len(left) != 1 || err != nil {
		t.Errorf("outside there are %v, %v", left, err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, folder := range []string{"", "relative", filepath.Join(t.TempDir(), "none")} {
		if _, err := filestore.Open(folder); err == nil {
			t.Errorf("Open(%q) succeeded", folder)
		}
	}
}

func TestConcurrentPuts(t *testing.T) {
	s := open(t, t.TempDir())
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := s.Put(bucket, "a/b", strings.NewReader("same")); err != nil {
				t.Error(err)
			}
			if got := get(t, s, "a/b"); got != "same" {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
	if url, err := s.URL(bucket, "a/b"); !strings.HasPrefix(url, "file:///") || !strings.HasSuffix(url, "/velosim/a/b") || err != nil {
		t.Errorf("URL %s, %v", url, err)
	}
}
