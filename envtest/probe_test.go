package envtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// TestProbe: a plugin that does not start is told with what it has said.
func TestProbe(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"exits", "echo no licence found >&2\nexit 3", "its stderr says: no licence found"},
		{"prints something else", "echo hello\nsleep 60", "Unrecognized remote plugin message: hello"},
		{"speaks another version", "echo '1|99|tcp|127.0.0.1:1|grpc'\nsleep 60", "incompatible API version"},
		{"hangs", "exec sleep 60", "deadline"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := probe(ctx, path, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}
