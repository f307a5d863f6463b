package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/trace"
)

const bucket = "velosim"

// objects is the object store of a world, as Velero has it.
func objects(t *testing.T, e host.Executable, options ...func(*host.Options)) (*server, velero.ObjectStore) {
	t.Helper()
	e.ObjectStore = true
	s := serveWorld(t, map[string]host.Executable{"store": e}, options...)
	o, err := s.manager().GetObjectStore("velosim.io/object-store")
	if err != nil {
		t.Fatal(err)
	}
	// As Velero does it: the bucket and the prefix are added to the location's config.
	if err := o.Init(map[string]string{"root": s.store, "bucket": bucket, "prefix": ""}); err != nil {
		t.Fatal(err)
	}
	return s, o
}

func read(o velero.ObjectStore, key string) (string, error) {
	r, err := o.GetObject(bucket, key)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	return string(b), err
}

func TestObjectStore(t *testing.T) {
	s, o := objects(t, host.Executable{})
	big := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB, which comes in several messages
	for key, body := range map[string]string{"backups/b-1/a": big, "backups/b-2/a": "2"} {
		if err := o.PutObject(bucket, key, strings.NewReader(body)); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	s.events = nil // they come in any order
	s.mu.Unlock()
	if got, err := read(o, "backups/b-1/a"); got != big || err != nil {
		t.Errorf("got %d bytes, %v; want %d", len(got), err, len(big))
	}
	_, err := read(o, "backups/b-3/a")
	contains(t, err, "the object does not exist")
	if prefixes, err := o.ListCommonPrefixes(bucket, "backups/", "/"); cmp.Diff([]string{"backups/b-1/", "backups/b-2/"}, prefixes) != "" || err != nil {
		t.Errorf("ListCommonPrefixes: %q, %v", prefixes, err)
	}
	if keys, err := o.ListObjects(bucket, "backups/b-2/"); cmp.Diff([]string{"backups/b-2/a"}, keys) != "" || err != nil {
		t.Errorf("ListObjects: %q, %v", keys, err)
	}
	if err := o.DeleteObject(bucket, "backups/b-2/a"); err != nil {
		t.Error(err)
	}
	if exists, err := o.ObjectExists(bucket, "backups/b-2/a"); exists || err != nil {
		t.Errorf("ObjectExists: %t, %v", exists, err)
	}
	if url, err := o.CreateSignedURL(bucket, "backups/b-1/a", time.Minute); url != "file://"+filepath.Join(s.store, bucket, "backups/b-1/a") || err != nil {
		t.Errorf("CreateSignedURL: %s, %v", url, err)
	}
	contains(t, o.PutObject(bucket, "../../x", strings.NewReader("x")), "invalid key")
	s.wantEvents(
		"get velosim/backups/b-1/a: 4194304",
		"get velosim/backups/b-3/a: 0 the object does not exist",
		"list velosim/backups/: 0",
		"list velosim/backups/b-2/: 0",
		"delete velosim/backups/b-2/a: 0",
		"exists velosim/backups/b-2/a: 0",
		"sign velosim/backups/b-1/a: 0",
	)
}

func TestInitErrors(t *testing.T) {
	for want, config := range map[string]map[string]string{
		"must be an absolute path": {},
		"config has invalid keys":  {"root": "/tmp", "rooot": "x"},
	} {
		s := serveWorld(t, map[string]host.Executable{"store": {ObjectStore: true}})
		o, err := s.manager().GetObjectStore("velosim.io/object-store")
		if err != nil {
			t.Fatal(err)
		}
		contains(t, o.Init(config), want)
	}
}

// TestStoreFaults has the world interfere with accesses.
func TestStoreFaults(t *testing.T) {
	var s *server
	s, o := objects(t, host.Executable{}, func(o *host.Options) {
		o.Access = func(p host.Process, a trace.Store) (f host.StoreFault, _ func(trace.Store)) {
			_, returned := s.access(p, a)
			switch {
			case a.Verb == "put" && strings.HasSuffix(a.Key, "/full"):
				f.Fail = "disk full"
			case a.Verb == "get" && strings.HasSuffix(a.Key, "/lost"):
				f.Lose = true
			}
			return f, returned
		}
	})
	contains(t, o.PutObject(bucket, "b/full", strings.NewReader("x")), "disk full")
	if exists, err := o.ObjectExists(bucket, "b/full"); exists || err != nil {
		t.Errorf("an object whose put failed: exists %t, %v", exists, err)
	}
	if err := o.PutObject(bucket, "b/lost", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	_, err := read(o, "b/lost")
	contains(t, err, "the object does not exist")
	s.wantEvents("put velosim/b/full: 1 disk full", "exists velosim/b/full: 0", "put velosim/b/lost: 1", "get velosim/b/lost: 0 the object does not exist")
}

// The process is killed in a put: before it, the former object is there, after it, the new one. Velero sees an error.
func TestKilledInPut(t *testing.T) {
	for _, tt := range []struct {
		after bool
		want  string
	}{{false, "old"}, {true, "new"}} {
		s, o := objects(t, host.Executable{Strikes: []host.Strike{{Method: "put", Nth: 2, Times: 1, After: tt.after, Strike: wire.Strike{Do: wire.Kill}}}})
		if err := o.PutObject(bucket, "a", strings.NewReader("old")); err != nil {
			t.Fatal(err)
		}
		if err := o.PutObject(bucket, "a", bytes.NewReader([]byte("new"))); err == nil {
			t.Error("a put in which the process was killed succeeded")
		}
		if b, err := os.ReadFile(filepath.Join(s.store, bucket, "a")); string(b) != tt.want || err != nil {
			t.Errorf("after %t: %q, %v; want %q", tt.after, b, err, tt.want)
		}
		var got string
		if err := again(t, func() (err error) { got, err = read(o, "a"); return err }); got != tt.want || err != nil { // in another process
			t.Errorf("after %t: got %q, %v; want %q", tt.after, got, err, tt.want)
		}
	}
}
