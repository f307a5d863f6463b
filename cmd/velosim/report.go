package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
)

func reportCommand(c *cli) *cobra.Command {
	var json string
	cmd := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Report what runs have shown: verdicts, coverage of transitions, deviations",
		Long: `Report reads folders of results, as "velosim run --out" writes them, of any worlds, releases and seeds, and prints what they
show together: verdicts, the legal transitions of the specification that they cover, and the deviations of the releases.`,
		Example: `  velosim run --out out/virtual && velosim report out/virtual --html report.html`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.report(cmd.Context(), args, json) },
	}
	cmd.Flags().StringVar(&json, "json", "", "write it as JSON into `FILE`")
	return cmd
}

func (c *cli) report(ctx context.Context, folders []string, json string) error {
	report, err := c.readReport(ctx, folders)
	if err != nil {
		return err
	}
	return c.writeFile(json, report.WriteJSON)
}

// readReport reports what the folders show.
func (c *cli) readReport(ctx context.Context, folders []string) (*reports.Report, error) {
	results, err := await(ctx, func() ([]reports.Result, error) { return c.readResults(ctx, folders) })
	if err != nil {
		return nil, err
	}
	return reports.New(results, reports.Options{Now: c.now(), Velosim: buildVersion()}), nil
}

// readResults reads the results of the folders, several at a time, and draws how far it is.
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
	return results, errors.Join(append(errs, ctx.Err())...)
}

// writeFile writes a file of a user's choice; an empty path is none, and "-" stdout.
func (c *cli) writeFile(path string, write func(io.Writer) error) error {
	switch path {
	case "":
		return nil
	case "-":
		return write(c.out)
	}
	f, err := create(path)
	if err != nil {
		return fmt.Errorf("failed to write a report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
