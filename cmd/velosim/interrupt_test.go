package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/velosim/velosim/sim/world/executable"
)

// Nothing has come of the command yet, so that it ends as shells expect it, and says no more than that.
func TestInterruptedBeforeTheWorldIsThere(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			started := filepath.Join(dir, "started")
			if err := os.WriteFile(filepath.Join(dir, "velosim-virtual"), []byte("#!/bin/sh\necho yes >"+started+"\nexec sleep 60\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, "run", scenarioFile(t, "passes"))
			cmd.Env = append(cmd.Env, executable.DirVariable+"="+dir)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, started, "yes")
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != exitSignal+int(signal) || strings.Contains(stderr.String(), "canceled") || stdout.Len() > 0 {
				t.Errorf("exit code %d; stdout %q, stderr:\n%s", code, &stdout, &stderr)
			}
		})
	}
}
