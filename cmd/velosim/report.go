package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// reportOptions are the flags of report: files, "-" for stdout, and empty for none.
type reportOptions struct{ html, junit, json, markdown, code string }

func reportCommand(c *cli) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Report what runs have shown: verdicts, coverage of transitions, deviations",
		Long: `Report reads folders of results, as "velosim run --out" writes them, of any worlds, releases and seeds, and prints what they
show together: verdicts, the legal transitions of the specification that they cover, and the deviations of the releases. It
reports, and does not judge: "velosim gate" does. A FILE may be "-", for stdout.

Exit codes: 0 the report was written, whatever it says; 2 the command line or a result cannot be read, and the report is
that of the others; 3 a file could not be written.`,
		Example: `  velosim run --out out/virtual && velosim report out/virtual --html report.html`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.report(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.html, "html", "", "write a page for a browser, which needs nothing else, into `FILE`")
	f.StringVar(&o.junit, "junit", "", "write JUnit XML into `FILE`")
	f.StringVar(&o.json, "json", "", "write JSON into `FILE`, as \"velosim schema --of report\" describes it")
	f.StringVar(&o.markdown, "markdown", "", "write Markdown for the summary of a CI step into `FILE`")
	f.StringVar(&o.code, "code", "", "include the coverage of Velero's code that \"make cover-velero\" has written into `FILE`")
	return cmd
}

func (c *cli) report(ctx context.Context, o reportOptions, folders []string) error {
	options := reports.Options{}
	var err error
	if o.code != "" {
		if options.Code, err = readCode(o.code); err != nil {
			return err
		}
	}
	results, broken := await(ctx, func() ([]reports.Result, error) { return c.readResults(ctx, folders) })
	if len(results) == 0 {
		return broken
	}
	options.Now, options.Velosim = c.now(), buildVersion()
	if options.Explorations, err = explorations(ctx, results); err != nil {
		return interrupted(ctx, err)
	}
	report := reports.New(results, options)
	files := []struct {
		path  string
		write func(io.Writer) error
	}{{o.html, report.WriteHTML}, {o.junit, report.WriteJUnit}, {o.json, report.WriteJSON}, {o.markdown, report.WriteMarkdown}}
	stdout := 0
	var failed []error
	for _, file := range files {
		switch file.path {
		case "":
		case "-":
			stdout++
		default:
			failed = append(failed, writeFile(file.path, file.write))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return &exitError{exitInconclusive, errors.Join(broken, err)}
	}
	switch {
	case stdout > 1:
		return errors.New("only one of the files can be stdout")
	case stdout == 0:
		return errors.Join(broken, report.WriteText(c.out))
	}
	for _, file := range files {
		if file.path == "-" {
			return errors.Join(broken, file.write(c.out))
		}
	}
	return broken
}

// readReport reports what the folders show.
func (c *cli) readReport(ctx context.Context, folders []string) (*reports.Report, error) {
	results, err := await(ctx, func() ([]reports.Result, error) { return c.readResults(ctx, folders) })
	if err != nil {
		return nil, err
	}
	return reports.New(results, reports.Options{Now: c.now(), Velosim: buildVersion()}), nil
}

// readResults reads the results of the folders, several at a time, and draws how far it is. What cannot be read is in the error, beside the
// others.
func (c *cli) readResults(ctx context.Context, folders []string) ([]reports.Result, error) {
	files, err := reports.Files(folders...)
	if err != nil {
		return nil, err
	}
	var bar *progressbar.ProgressBar
	if c.terminal {
		bar = progressbar.NewOptions(len(files), progressbar.OptionSetWriter(c.drawn), progressbar.OptionSetDescription("reading"),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	results, errs := make([]reports.Result, len(files)), make([]error, len(files))
	next := make(chan int)
	var readers sync.WaitGroup
	for range runtime.NumCPU() {
		readers.Go(func() {
			for i := range next {
				results[i], errs[i] = reports.Read(files[i])
				if bar != nil {
					bar.Add(1) //nolint:errcheck // nothing depends on the bar
				}
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	readers.Wait()
	results = slices.DeleteFunc(results, func(r reports.Result) bool { return r.Scenario == "" })
	return results, errors.Join(append(errs, ctx.Err())...)
}

func readCode(file string) (*reports.Code, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("failed to read --code: %w", err)
	}
	var code reports.Code
	if err := json.Unmarshal(b, &code); err != nil {
		return nil, fmt.Errorf("--code %s is not what make cover-velero writes: %w", file, err)
	}
	return &code, nil
}

// explorations are small ones, of what is demanded and of the releases that were run.
func explorations(ctx context.Context, results []reports.Result) ([]reports.Exploration, error) {
	readings := []phase.Rules{phase.Demanded()}
	for _, r := range results {
		release, err := phase.ForRelease(r.Version)
		if err == nil && !slices.ContainsFunc(readings, func(known phase.Rules) bool { return known.Name == release.Name }) {
			readings = append(readings, release)
		}
	}
	var all []reports.Exploration
	for _, rules := range readings {
		for _, kind := range []phase.Kind{phase.Backup, phase.Restore} {
			found, err := model.Explore(ctx, model.Config{
				Machine: model.Machine{Spec: rules}, Kind: kind, Items: 1, NoSymmetry: true, Faults: model.Budget{Crashes: 1, API: 1, Store: 1},
			})
			if err != nil {
				return nil, err
			}
			all = append(all, reports.Exploration{
				Reading: rules.Name, Kind: kind.String(), Distinct: found.Distinct, Generated: found.Generated, Complete: found.Complete,
				Bounds: "1 operation, 1 crash, 1 API fault, 1 store fault", Counterexamples: len(found.Counterexamples),
			})
		}
	}
	return all, nil
}

// writeFile writes a file of a user's choice, whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("failed to write a report: %w", err)
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("failed to write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
