package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/trace"
)

func describeCommand(c *cli) *cobra.Command {
	var at trace.Time
	cmd := &cobra.Command{
		Use:   "describe TRACE",
		Short: "Show the state of a run at an instant, from its trace",
		Long: `Describe shows the state of a run at an instant, from its trace ("-" for stdin): the phase of each object, its item
operations with their progress, and what it waits for. "velosim run --out" writes traces.`,
		Example: "  velosim describe out/backup-operation-times-out.ndjson --at 2h30m",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := await(cmd.Context(), func() (trace.Trace, error) { return c.readTrace(args[0]) })
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("at") {
				at = t.Last()
			}
			_, err = trace.Describe(t, at).WriteTo(c.out)
			return err
		},
	}
	cmd.Flags().TextVar(&at, "at", trace.Time(0), "the `TIME` since the start of the trace, such as 2h30m (default the end)")
	cmd.Flags().Lookup("at").DefValue = ""
	return cmd
}

// readTrace reads a trace. Of one that is cut off it returns what there is, and says so.
func (c *cli) readTrace(name string) (trace.Trace, error) {
	in := c.in
	if name == "-" {
		name = "stdin"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return trace.Trace{}, fmt.Errorf("failed to read a trace: %w", err)
		}
		defer f.Close()
		in = io.Reader(f)
	}
	t, err := trace.Read(in, name)
	if errors.Is(err, trace.ErrTruncated) && t.Header.Schema != 0 {
		fmt.Fprintf(c.err, "velosim: %v\n", err)
		err = nil
	}
	return t, err
}
