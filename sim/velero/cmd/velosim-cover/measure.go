package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// controllerPackage is the package of Velero's controllers.
const controllerPackage = "github.com/vmware-tanzu/velero/pkg/controller"

// wrapper starts the world in the place of velosim-virtual. It is there because a world gets nothing of velosim's environment.
const wrapper = `#!/bin/sh
GOCOVERDIR="${0%/*}/counters" exec "${0%/*}/covered" "$@"
`

// measure runs the catalogue on a virtual world that counts, and returns the profile. Runs that fail are told and count as well; of a
// world that crashed or had to be killed, nothing does.
func measure(ctx context.Context, velosim string, seeds int) (profile string, err error) {
	velosim, err = filepath.Abs(velosim)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "velosim-cover-")
	if err != nil {
		return "", fmt.Errorf("failed to make a folder for the counters: %w", err)
	}
	defer os.RemoveAll(dir)
	counters := filepath.Join(dir, "counters")
	err = errors.Join(os.Mkdir(counters, 0o700), os.WriteFile(filepath.Join(dir, "velosim-virtual"), []byte(wrapper), 0o700))
	if err != nil {
		return "", fmt.Errorf("failed to prepare the world: %w", err)
	}
	overlay, err := output(ctx, velosim, "setup", "--overlay")
	if err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "Building the virtual world with counters. A first build takes 4 to 10 minutes.")
	// Without ./... main itself would not be instrumented, and nothing would write the counters.
	if _, err := output(ctx, "go", "build", "-cover", "-coverpkg=./...,"+controllerPackage, "-overlay="+overlay,
		"-o", filepath.Join(dir, "covered"), "./cmd/velosim-virtual"); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "Running the catalogue, each scenario with %d seeds.\n", seeds)
	run := command(ctx, velosim, "run", "--quiet", "--seeds", strconv.Itoa(seeds))
	run.Env = append(os.Environ(), "VELOSIM_WORLD_DIR="+dir)
	verdicts, err := run.CombinedOutput()
	switch written, _ := os.ReadDir(counters); { //nolint:errcheck // what cannot be read is not there
	case ctx.Err() != nil:
		return "", ctx.Err()
	case len(written) == 0:
		return "", fmt.Errorf("velosim run left no counters (%v):\n%s", err, verdicts)
	case err != nil:
		fmt.Fprintf(os.Stderr, "velosim run: %v; these runs count as well:\n%s", err, failures(verdicts))
	}
	file := filepath.Join(dir, "profile")
	if _, err := output(ctx, "go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+file); err != nil {
		return "", err
	}
	b, err := os.ReadFile(file)
	return string(b), err
}

// failures are the lines of velosim run that tell of no success.
func failures(verdicts []byte) string {
	var lines strings.Builder
	for line := range bytes.Lines(verdicts) {
		if !bytes.Contains(line, []byte("): pass: ")) && !bytes.Contains(line, []byte("): known deviation ")) {
			lines.Write(line)
		}
	}
	return lines.String()
}

// findSources returns the folder of the package of Velero's controllers.
func findSources(ctx context.Context) (string, error) {
	return output(ctx, "go", "list", "-f", "{{.Dir}}", controllerPackage)
}

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// output returns what a command prints, without the last newline.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := command(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
