package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The user interrupts an exploration, and gets what it has found.
func TestInterruptedExploration(t *testing.T) {
	for name, tt := range map[string]struct {
		when    string // the progress says this
		options exploreOptions
		want    string
	}{
		"in its midst":                   {"depth [1-9][0-9]", exploreOptions{operations: 4, crashes: 3, api: 1, store: 1}, " so far\n"},
		"while the rules are looked for": {"depth 0", exploreOptions{operations: 1, crashes: 1, safety: true}, "  by rule "}, // too small to be cut off
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var stdout, stderr bytes.Buffer
			progress := writerFunc(func(b []byte) {
				if regexp.MustCompile(tt.when).Match(b) {
					interrupt()
				}
			})
			var now time.Time
			tick := func() time.Time { now = now.Add(time.Second); return now }
			dir := filepath.Join(t.TempDir(), "found")
			tt.options.as, tt.options.memory, tt.options.emit, tt.options.format = "v1.18", 4096, dir, "text"
			err := (&cli{out: &stdout, err: &stderr, drawn: progress, terminal: true, now: tick}).explore(ctx, tt.options)
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != exitInconclusive || !errors.Is(err, context.Canceled) {
				t.Errorf("explore: %v", err)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "*.yaml")); len(files) == 0 || !strings.Contains(stdout.String(), tt.want) {
				t.Errorf("%d files; stdout:\n%s\nstderr:\n%s", len(files), &stdout, &stderr)
			}
		})
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
