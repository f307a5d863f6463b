package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
)

func diffCommand(c *cli) *cobra.Command {
	var format string
	var exit bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two folders of results, such as of two releases",
		Long: `Diff compares two folders of results, as "velosim run --out" writes them, run by run: which outcomes differ, which paths of phases, and
which transitions only one of them has made. Their worlds and releases may differ.

Exit codes: 0 both were read; with --exit-code 1 if something differs; 2 one cannot be read.`,
		Example: `  velosim run --world envtest --velero 1.14.0 --out out/1.14.0
  velosim run --world envtest --out out/1.18.3
  velosim diff out/1.14.0 out/1.18.3`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", format, formats()); err != nil {
				return err
			}
			return c.diff(cmd.Context(), args[0], args[1], format, exit)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().BoolVar(&exit, "exit-code", false, "exit with 1 if something differs")
	return cmd
}

func (c *cli) diff(ctx context.Context, a, b, format string, exit bool) error {
	before, err := c.readReport(ctx, []string{a})
	if err != nil {
		return err
	}
	after, err := c.readReport(ctx, []string{b})
	if err != nil {
		return err
	}
	d := reports.NewDiff(before, after)
	if format == "json" {
		err = printJSON(c.out, d)
	} else {
		c.printDiff(a, b, d)
	}
	if err == nil && exit && !d.Same() {
		err = &exitError{exitFailure, nil}
	}
	return err
}

func (c *cli) printDiff(a, b string, d reports.Diff) {
	for _, side := range []struct {
		mark, folder string
		totals       []reports.TargetTotals
	}{{"-", a, d.A}, {"+", b, d.B}} {
		for _, t := range side.totals {
			fmt.Fprintf(c.out, "%s %s: %s, %s\n", side.mark, side.folder, t.Target, totals(t))
		}
	}
	fmt.Fprintln(c.out)
	last := ""
	for _, x := range d.Differences {
		if name := fmt.Sprintf("%s (seed %d)", x.Scenario, x.Seed); name != last {
			fmt.Fprintln(c.out, name)
			last = name
		}
		of := ""
		if x.Object != "" {
			of = x.Object + ": "
		}
		fmt.Fprintf(c.out, "  - %s%s\n  + %s%s\n", of, orNothing(x.A), of, orNothing(x.B))
	}
	for _, list := range []struct {
		title string
		names []string
	}{
		{"only in " + a, d.OnlyA}, {"only in " + b, d.OnlyB}, {"transitions only in " + a, d.Lost}, {"transitions only in " + b, d.Gained},
	} {
		if len(list.names) > 0 {
			fmt.Fprintf(c.out, "%s: %d\n  %s\n", list.title, len(list.names), strings.Join(list.names, "\n  "))
		}
	}
	runs := map[string]bool{}
	for _, x := range d.Differences {
		runs[fmt.Sprint(x.Scenario, x.Seed)] = true
	}
	fmt.Fprintf(c.out, "\n%s compared: %d differ\n", count(d.Runs, "run"), len(runs))
}

func orNothing(s string) string {
	if s == "" {
		return "(no phase)"
	}
	return s
}

// totals are the numbers of verdicts that there are.
func totals(t reports.TargetTotals) string {
	parts := []string{count(t.Runs, "run")}
	for _, n := range []struct {
		n    int
		name string
	}{{t.Pass, "pass"}, {t.KnownDeviation, "known deviation"}, {t.Fail, "fail"}, {t.Inconclusive, "inconclusive"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.name))
		}
	}
	return strings.Join(parts, ", ")
}
