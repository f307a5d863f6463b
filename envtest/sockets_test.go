package envtest

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// TestRoomForSockets: the first thing that a run looks at is whether there is room, up to the byte, in its temporary folder.
func TestRoomForSockets(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	fits := base + "/" + strings.Repeat("x", maxSocket-len(longestSocket)-len(base)-1)
	for temp, want := range map[string]string{
		fits:       "etcd", // of which there is none, is looked for next
		fits + "x": "the temporary folder " + fits + "x is 1 bytes too long for the sockets of plugins, whose paths have up to 107: set TMPDIR to a shorter one",
	} {
		if err := os.MkdirAll(filepath.Dir(temp+longestSocket), 0o700); err != nil {
			t.Fatal(err)
		}
		l, listenErr := net.Listen("unix", temp+longestSocket)
		if listenErr == nil {
			l.Close()
		}
		t.Setenv("TMPDIR", temp)
		w := New(Options{Assets: base})
		_, err := w.Run(t.Context(), world.Job{ID: 1}, func(trace.Event) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
		if (listenErr == nil) != (temp == fits) {
			t.Errorf("a socket in %s: %v", temp, listenErr)
		}
	}
}
