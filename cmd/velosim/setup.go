package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/world/executable"
)

func setupCommand(c *cli) *cobra.Command {
	var world, velero, into string
	var overlay, assets bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Build what a world needs, ahead of its first run",
		Long: `Setup finds the executable of a world, as the first run would, and prints its path. Inside a checkout of the repository it
builds it into the cache unless it is there: a first build takes 4 to 10 minutes. For the world envtest it builds etcd,
kube-apiserver, velero, the server with pre- and post-actions, and the scripted plugins as well, unless they are there: about
20 minutes more. A run builds that server only if a scenario has such actions, or with --plugin.

` + whereWorldsAre,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var path string
			var args []string
			var err error
			switch {
			case overlay:
				path, err = c.find(cmd.Context(), world, executable.Finder.Overlay)
			case assets:
				path, err = c.find(cmd.Context(), "envtest", func(f executable.Finder, ctx context.Context, _ string) (string, error) { return f.ControlPlane(ctx) })
			default:
				path, args, err = c.findWorld(cmd.Context(), world, velero, true)
			}
			if err == nil && into != "" {
				path, err = gather(into, path, args)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.out, path)
			return err
		},
	}
	worldFlag(cmd, &world)
	veleroFlag(cmd, &velero)
	cmd.Flags().StringVar(&into, "into", "", "copy what was found or built into the folder `DIR`, which "+executable.DirVariable+" may then name, or which may go beside velosim on another machine")
	cmd.Flags().BoolVar(&assets, "assets", false, "build etcd and kube-apiserver alone: print their folder, for KUBEBUILDER_ASSETS")
	cmd.Flags().BoolVar(&overlay, "overlay", false, "build nothing: print the file that a world is built with, for go test -overlay")
	cmd.MarkFlagsMutuallyExclusive("into", "overlay", "assets")
	return cmd
}

// gather copies a world's executable, and those that its arguments name, into the folder, and returns the path of its copy.
func gather(dir, path string, args []string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", &exitError{exitInconclusive, fmt.Errorf("failed to make --into: %w", err)}
	}
	files := []string{path}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil: // it is no path
		case info.IsDir():
			files = append(files, filepath.Join(arg, "etcd"), filepath.Join(arg, "kube-apiserver"))
		default:
			files = append(files, arg)
		}
	}
	for _, file := range files {
		if err := install(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			return "", &exitError{exitInconclusive, fmt.Errorf("failed to copy %s: %w", file, err)}
		}
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// install copies an executable, whole or not at all.
func install(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(0o755), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

const whereWorldsAre = `A world is looked for in the folder that ` + executable.DirVariable + ` names; else, inside a checkout, in the cache under the key
of the checkout's sources, and built if it is not there; else beside velosim, and in the cache.`

func worldFlag(cmd *cobra.Command, world *string) {
	cmd.Flags().StringVar(world, "world", "virtual", "the `WORLD` to run in: "+strings.Join(executable.Worlds(), ", "))
}

func veleroFlag(cmd *cobra.Command, velero *string) {
	cmd.Flags().StringVar(velero, "velero", "", "the `VERSION` of Velero to run, such as 1.18.3, or the path of a velero executable, with a slash (world envtest only)")
}

// newest is the release of Velero that is run unless another one is asked for.
const newest = "1.18.3"

// findWorld returns the path of the world's executable, and its arguments; with actions of one that can call pre- and post-actions, if there is.
func (c *cli) findWorld(ctx context.Context, world, velero string, actions bool) (path string, args []string, err error) {
	if world == "envtest" {
		finder, err := c.finder()
		if err != nil {
			return "", nil, err
		}
		path, args, err := finder.Envtest(ctx, cmp.Or(velero, newest), actions)
		if err != nil {
			return "", nil, interrupted(ctx, err)
		}
		return path, args, nil
	}
	if velero != "" {
		return "", nil, fmt.Errorf("--velero %s: the world %s has one release only; add --world envtest", velero, world)
	}
	path, err = c.find(ctx, world, executable.Finder.Find)
	return path, nil, err
}

func (c *cli) finder() (executable.Finder, error) {
	finder, err := executable.FromEnvironment(c.drawn, c.terminal)
	if err != nil {
		return finder, &exitError{exitInconclusive, err}
	}
	return finder, nil
}

func (c *cli) find(ctx context.Context, world string, find func(executable.Finder, context.Context, string) (string, error)) (string, error) {
	if err := oneOf("world", world, executable.Worlds()); err != nil {
		return "", err
	}
	finder, err := c.finder()
	if err != nil {
		return "", err
	}
	path, err := find(finder, ctx, world)
	if err != nil {
		return "", interrupted(ctx, err)
	}
	return path, nil
}
