package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
)

// gateOptions are the flags of gate.
type gateOptions struct {
	baseline        string
	update, verbose bool
}

// gateLines is how many changes of a kind are printed unless all are asked for.
const gateLines = 8

func gateCommand(c *cli) *cobra.Command {
	var o gateOptions
	cmd := &cobra.Command{
		Use:   "gate --baseline FILE RESULTS...",
		Short: "Judge results by a baseline: what fails, deviates or is covered otherwise than before",
		Long: `Gate compares folders of results, as "velosim run --out" writes them, with a baseline, and prints what changed. It fails on a failure, an
inconclusive run, a new deviation, one that is gone, a scenario that was not run, a transition that is no longer covered, an
illegal one, a world or release that the baseline does not have, and in virtual time on an outcome that no seed shows any more
and on a seed with two outcomes. What is new and as it should be does not fail it.

--update writes what the results show into the baseline, for their worlds and releases, to be reviewed like code. Results
that fail are never expected.

Exit codes: 0 nothing that fails the gate; 1 something does; 2 the command line, the baseline or a result cannot be read; 3
the baseline could not be written.`,
		Example: `  velosim run --seeds 3 --out out/virtual && velosim gate --baseline baseline.yaml out/virtual`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.gate(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.baseline, "baseline", "", "the baseline's `FILE`")
	f.BoolVar(&o.update, "update", false, "write what the results show into the baseline")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print every change")
	cobra.CheckErr(cmd.MarkFlagRequired("baseline"))
	return cmd
}

func (c *cli) gate(ctx context.Context, o gateOptions, folders []string) error {
	b, err := os.ReadFile(o.baseline)
	if err != nil && (!o.update || !errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("failed to read the baseline (--update writes one): %w", err)
	}
	baseline := reports.Baseline{}
	if err == nil {
		if baseline, err = reports.ParseBaseline(o.baseline, b); err != nil {
			return err
		}
	}
	report, err := c.readReport(ctx, folders)
	if err != nil {
		return err
	}
	changes := baseline.Compare(report)
	c.printChanges(changes, o.verbose)
	if o.update {
		return c.updateBaseline(o.baseline, baseline, report)
	}
	failing := 0
	for _, change := range changes {
		if change.Kind.Fails() {
			failing++
		}
	}
	if failing > 0 {
		fmt.Fprintf(c.out, "\nthe gate is closed: %s\n", count(failing, "change"))
		return &exitError{exitFailure, nil}
	}
	fmt.Fprintf(c.out, "the gate is open: %s as the baseline expects\n", count(len(report.Runs), "run"))
	return nil
}

// printChanges prints the changes by kind.
func (c *cli) printChanges(changes []reports.Change, all bool) {
	for _, kind := range reports.ChangeKinds() {
		of := slices.DeleteFunc(slices.Clone(changes), func(change reports.Change) bool { return change.Kind != kind })
		if len(of) == 0 {
			continue
		}
		note := ""
		if kind == reports.NewScenario || kind == reports.NewTransition || kind == reports.NewTarget {
			note = " (--update adds it)"
		}
		fmt.Fprintf(c.out, "%s%s: %d\n", kind, note, len(of))
		for i, change := range of {
			if i >= gateLines && !all {
				fmt.Fprintf(c.out, "  and %d more: -v prints them\n", len(of)-i)
				break
			}
			fmt.Fprintf(c.out, "  %s", change.Of)
			if change.Of != change.Target.String() {
				fmt.Fprintf(c.out, " (%s)", change.Target)
			}
			if change.Text != "" {
				fmt.Fprintf(c.out, ": %s", change.Text)
			}
			fmt.Fprintln(c.out)
			if change.Replay != "" {
				fmt.Fprintf(c.out, "    replay: %s\n", change.Replay)
			}
		}
	}
}

func (c *cli) updateBaseline(file string, baseline reports.Baseline, report *reports.Report) error {
	if err := baseline.Update(report); err != nil {
		return &exitError{exitFailure, err}
	}
	var b bytes.Buffer
	if err := baseline.Write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return &exitError{exitInconclusive, fmt.Errorf("failed to write the baseline: %w", err)}
	}
	fmt.Fprintf(c.out, "%s expects this now: review it like code\n", file)
	return nil
}
