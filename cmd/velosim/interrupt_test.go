package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C ends velosim at once while it reads what may never come.
func TestCtrlCWhileItReads(t *testing.T) {
	folder := t.TempDir()
	fifo := filepath.Join(folder, "fifo.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args   []string
		signal syscall.Signal
		code   int
		stdout string
	}{
		"run, stdin":      {[]string{"run", "-"}, syscall.SIGINT, 130, ""},
		"run, a FIFO":     {[]string{"run", fifo}, syscall.SIGINT, 130, ""},
		"run, json":       {[]string{"run", "--format", "json", fifo}, syscall.SIGINT, 130, "{\n  \"results\": []\n}\n"},
		"lint, stdin":     {[]string{"lint", "-"}, syscall.SIGINT, 130, ""},
		"lint, a folder":  {[]string{"lint", folder}, syscall.SIGTERM, 143, ""},
		"describe, stdin": {[]string{"describe", "-"}, syscall.SIGINT, 130, ""},
		"describe, FIFO":  {[]string{"describe", fifo}, syscall.SIGTERM, 143, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout strings.Builder
			cmd := command(t, tt.args...)
			cmd.Stdout = &stdout
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(tt.args, "-") {
				// More than a pipe holds: it returns once velosim reads.
				if _, err := stdin.Write(bytes.Repeat([]byte("#"), 64<<10+1)); err != nil {
					t.Fatal(err)
				}
			} else {
				w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // likewise
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
			}
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			defer time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() }).Stop() // not at once
			cmd.Wait()                                                                //nolint:errcheck // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != tt.code || stdout.String() != tt.stdout {
				t.Errorf("%v, want exit code %d; stdout %q", cmd.ProcessState, tt.code, &stdout)
			}
		})
	}
}
