package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/world/executable"
)

func setupCommand(c *cli) *cobra.Command {
	var world string
	var overlay bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Build what a world needs, ahead of its first run",
		Long: `Setup finds the executable of a world, as the first run would, and prints its path. Inside a checkout of the repository it
builds it into the cache unless it is there: a first build takes 4 to 10 minutes.

` + whereWorldsAre,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			find := executable.Finder.Find
			if overlay {
				find = executable.Finder.Overlay
			}
			path, err := c.find(cmd.Context(), world, find)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.out, path)
			return err
		},
	}
	worldFlag(cmd, &world)
	cmd.Flags().BoolVar(&overlay, "overlay", false, "build nothing: print the file that a world is built with, for go test -overlay")
	return cmd
}

const whereWorldsAre = `A world is looked for in the folder that ` + executable.DirVariable + ` names; else, inside a checkout, in the cache under the key
of the checkout's sources, and built if it is not there; else beside velosim, and in the cache.`

func worldFlag(cmd *cobra.Command, world *string) {
	cmd.Flags().StringVar(world, "world", "virtual", "the `WORLD` to run in: virtual")
}

// findWorld returns the path of the world's executable.
func (c *cli) findWorld(ctx context.Context, world string) (string, error) {
	return c.find(ctx, world, executable.Finder.Find)
}

func (c *cli) find(ctx context.Context, world string, find func(executable.Finder, context.Context, string) (string, error)) (string, error) {
	if err := oneOf("world", world, executable.Worlds()); err != nil {
		return "", err
	}
	finder, err := executable.FromEnvironment(c.drawn, c.terminal)
	if err != nil {
		return "", &exitError{exitInconclusive, err}
	}
	path, err := find(finder, ctx, world)
	if err != nil {
		return "", interrupted(ctx, err)
	}
	return path, nil
}
