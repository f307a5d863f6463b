package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// Files are the verdicts in and below the folders, each once, in order. That there are none at all is an error; one folder may be empty, as
// that of a shard without a job is.
func Files(folders ...string) ([]string, error) {
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && strings.HasSuffix(path, verdictFile) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("failed to read results: %w", err)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no results (*%s) in %s: velosim run --out writes them", verdictFile, strings.Join(folders, ", "))
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Read reads a verdict's file, and the trace beside it, if there is one. A trace that is cut off is read as far as it goes.
func Read(file string) (Result, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Result{}, fmt.Errorf("failed to read a verdict: %w", err)
	}
	var run Run
	if err := json.Unmarshal(b, &run); err != nil {
		return Result{}, fmt.Errorf("%s: it is no verdict of velosim's: %w", file, err)
	}
	if err := run.check(); err != nil {
		return Result{}, fmt.Errorf("%s: it is no verdict of velosim's: %w", file, err)
	}
	t, err := readTrace(strings.TrimSuffix(file, verdictFile) + traceFile)
	if err != nil {
		return Result{}, err
	}
	if h := t.Header; h.Schema != 0 && (h.Scenario != run.Scenario || h.World != run.World || h.Velero != run.Version || h.Seed != run.Seed) {
		return Result{}, fmt.Errorf("%s: the trace beside it is of another run: %s on %s %s, seed %d", file, h.Scenario, h.World, h.Velero, h.Seed)
	}
	return NewResult(run, t), nil
}

// readTrace reads a trace; empty: there is none.
func readTrace(name string) (trace.Trace, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return trace.Trace{}, nil
	}
	if err != nil {
		return trace.Trace{}, fmt.Errorf("failed to read a trace: %w", err)
	}
	defer f.Close()
	t, err := trace.Read(f, name)
	if errors.Is(err, trace.ErrTruncated) {
		err = nil
	}
	return t, err
}

func (r Run) check() error {
	switch {
	case r.Scenario == "" || r.World == "" || r.Version == "":
		return errors.New("scenario, world or version is missing")
	case !slices.Contains(verdicts(), r.Verdict):
		return fmt.Errorf("the verdict is %q", r.Verdict)
	}
	return nil
}

// verdicts are all, the best first.
func verdicts() []verdict.Result {
	return []verdict.Result{verdict.Pass, verdict.KnownDeviation, verdict.Inconclusive, verdict.Fail}
}

// compareVersions compares 1.18.3 with 1.14.0, number by number.
func compareVersions(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return 0
}
