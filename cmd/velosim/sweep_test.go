package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAKilledSweepGoesOn kills a sweep in the middle of its third plan: the next one runs that and what comes after it, and nothing else.
func TestAKilledSweepGoesOn(t *testing.T) {
	out, plan := t.TempDir(), scenarioFile(t, "sweeps")
	names := []string{
		"sweeps", "sweeps--refuse-patch-finalizing", "sweeps--lose-reply-of-patch-finalizing", "sweeps--refuse-patch-completed",
		"sweeps--lose-reply-of-patch-completed",
	}
	const killed = 3
	args := []string{"sweep", plan, "--families", "refuse,lose-reply", "--parallel", "1", "--out", out}
	cmd := command(t, args...)
	hold := filepath.Join(out, "hold")
	if err := os.WriteFile(hold, []byte(names[killed]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	path := func(i int) string { return filepath.Join(out, names[i]+".ndjson") }
	waitFor(t, path(killed), `"to":"InProgress"`)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	before := map[int]os.FileInfo{}
	for i := range killed {
		info, err := os.Stat(path(i))
		if err != nil {
			t.Fatal(err)
		}
		before[i] = info
	}

	var stdout, stderr strings.Builder
	cmd = command(t, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run() //nolint:errcheck // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code != exitFailure {
		t.Errorf("exit code %d, stderr:\n%s", code, &stderr)
	}
	if want := "2 results of 4 are in " + out; !strings.Contains(stderr.String(), want) {
		t.Errorf("stderr has no %q:\n%s", want, &stderr)
	}
	if want := "4 runs: 2 pass, 0 known deviation, 2 fail, 0 inconclusive"; !strings.Contains(stdout.String(), want) {
		t.Errorf("stdout has no %q:\n%s", want, &stdout)
	}
	for i := range names {
		tr, err := readTrace(path(i))
		if err != nil || tr.End.Reason == "" {
			t.Errorf("%s: end %+v, %v", names[i], tr.End, err)
		}
		info, err := os.Stat(path(i))
		if err != nil {
			t.Fatal(err)
		}
		if old := before[i]; old != nil && (!old.ModTime().Equal(info.ModTime()) || !os.SameFile(old, info)) {
			t.Errorf("%s was run again", names[i])
		}
	}
}
