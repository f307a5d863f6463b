package executable

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheCacheKeepsTheLastUsed(t *testing.T) {
	f, _ := finder(t, t.TempDir(), run)
	v, _ := targetOf("virtual")
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Now = func() time.Time { clock = clock.Add(time.Minute); return clock }
	for _, key := range []string{"a", "b", "c", "d", "e", "b"} {
		path := f.entry(v, key)
		tree(t, filepath.Dir(path), map[string]string{v.name: key})
		f.used(path)
	}
	f.prune(v)
	var want []string
	for _, key := range []string{"b", "e", "d"} {
		want = append(want, f.entry(v, key))
	}
	if diff := cmp.Diff(want, f.entries(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
