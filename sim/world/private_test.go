package world

import (
	"os"
	"testing"
	"time"
)

func TestLeftOverFoldersAreSwept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	used, err := newPrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	left, err := newPrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := left.lock.Close(); err != nil { // as when its owner is killed
		t.Fatal(err)
	}
	young, err := newPrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := young.lock.Close(); err != nil {
		t.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	for _, d := range []privateDir{used, left} {
		if err := os.Chtimes(d.path, hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	for d, want := range map[privateDir]bool{used: true, left: false, young: true} {
		if _, err := os.Stat(d.path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", d.path, err == nil, want)
		}
	}
	if err := used.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(used.path); err == nil {
		t.Error("a removed folder is there")
	}
}
