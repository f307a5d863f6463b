package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/world/executable"
)

func doctorCommand(c *cli) *cobra.Command {
	var clean bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what is installed, cached and missing, and what it takes",
		Long: `Doctor shows what each world runs with: where it is, how large, and of what is missing how long its build would take. It builds
nothing. --clean removes from the cache what no run from here would use: what was built from other sources.

Exit codes: 0 everything is there; 3 something is missing, and with it a world cannot run before it is built.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.doctor(cmd.Context(), clean) },
	}
	cmd.Flags().BoolVar(&clean, "clean", false, "remove from the cache what no run from here would use")
	return cmd
}

func (c *cli) doctor(ctx context.Context, clean bool) error {
	finder, err := c.finder()
	if err != nil {
		return err
	}
	parts, err := finder.Inventory(ctx)
	if err != nil {
		return &exitError{exitInconclusive, interrupted(ctx, err)}
	}
	fmt.Fprintf(c.out, "velosim %s\n", buildVersion())
	if path, err := exec.LookPath("go"); err == nil {
		fmt.Fprintf(c.out, "go      %s\n", path)
	} else {
		fmt.Fprintf(c.out, "go      missing: nothing can be built; install Go 1.26\n")
	}
	fmt.Fprintf(c.out, "cache   %s\n\n", finder.Cache)
	missing := 0
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		state := mib(p.Size) + "\t" + p.Path
		switch {
		case p.Path == "":
			missing++
			state = "missing\t" + takes(p)
		case p.Stale:
			missing++
			state = "other sources\t" + takes(p)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, p.For, state)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := c.cached(ctx, finder, parts, clean); err != nil {
		return &exitError{exitInconclusive, err}
	}
	if missing > 0 {
		fmt.Fprintf(c.out, "%s missing: velosim setup and velosim setup --world envtest build them inside a checkout\n", count(missing, "part"))
		return &exitError{exitInconclusive, nil}
	}
	return nil
}

// cached tells what the cache takes, and removes of it what is not used.
func (c *cli) cached(ctx context.Context, finder executable.Finder, parts []executable.Part, clean bool) error {
	entries, err := finder.Entries(ctx, parts)
	if err != nil {
		return err
	}
	var used, unused int64
	var removed []error
	for _, e := range entries {
		switch {
		case e.Used:
			used += e.Size
			continue
		case clean:
			removed = append(removed, os.RemoveAll(e.Path))
			fmt.Fprintf(c.out, "removed %s (%s)\n", filepath.Base(e.Path), mib(e.Size))
		}
		unused += e.Size
	}
	fmt.Fprintf(c.out, "\nthe cache takes %s", mib(used+unused))
	switch {
	case clean:
		fmt.Fprintf(c.out, ", of which %s were removed", mib(unused))
	case unused > 0:
		fmt.Fprintf(c.out, ", of which no run from here uses %s: velosim doctor --clean removes them", mib(unused))
	}
	fmt.Fprintln(c.out)
	return errors.Join(removed...)
}

func takes(p executable.Part) string {
	if p.Takes == "" {
		return "built within a minute"
	}
	return "its build takes " + p.Takes
}

// mib is a size for people.
func mib(bytes int64) string {
	return strings.TrimSpace(fmt.Sprintf("%4d MiB", (bytes+1<<20-1)>>20))
}
