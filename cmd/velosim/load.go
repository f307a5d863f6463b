package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
)

// maxFile bounds what is read of a file that may be none of a scenario. Parse refuses smaller ones already.
const maxFile = 2 << 20

// source is a scenario that the command line names.
type source struct {
	// arg names it again on a command line: a file's path, a name of the catalogue, or "-".
	arg      string
	file     []byte // what it was parsed from
	scenario *scenario.Scenario
}

// acts tells whether the scenario has pre- or post-actions.
func (s source) acts() bool { return s.scenario.HasActions() }

// load loads the scenarios that args name; none: the whole catalogue. Everything that is wrong with any of them is in the
// one error, which is an exitError if it was interrupted.
func (c *cli) load(ctx context.Context, args []string) ([]source, error) {
	return await(ctx, func() ([]source, error) { return c.read(args) })
}

func (c *cli) read(args []string) ([]source, error) {
	var sources []source
	var wrong []error
	add := func(arg, file string, b []byte) {
		s, errs := scenario.Parse(file, b)
		if len(errs) > 0 {
			wrong = append(wrong, errs)
			return
		}
		sources = append(sources, source{arg, b, s})
	}
	catalogue := scenarios.Names()
	if len(args) == 0 {
		args = catalogue
	}
	for _, arg := range args {
		files := []string{arg}
		switch {
		case arg == "-":
			b, err := io.ReadAll(io.LimitReader(c.in, maxFile))
			if err != nil {
				wrong = append(wrong, fmt.Errorf("failed to read stdin: %w", err))
				continue
			}
			add(arg, "stdin", b)
			continue
		case slices.Contains(catalogue, arg):
			b, err := scenarios.Read(arg)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			add(arg, "catalogue/"+arg+".yaml", b)
			continue
		case isFolder(arg):
			var err error
			if files, err = scenarioFiles(arg); err != nil {
				wrong = append(wrong, err)
			}
		}
		for _, file := range files {
			b, err := readFile(file)
			if err != nil {
				wrong = append(wrong, notFound(file, err, catalogue))
				continue
			}
			add(file, file, b)
		}
	}
	wrong = append(wrong, twice(sources)...)
	return sources, errors.Join(wrong...)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// scenarioFiles returns the *.yaml files in and below a folder, in the order of their paths.
func scenarioFiles(folder string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".yaml" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return files, fmt.Errorf("failed to look for scenarios: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the folder %s holds no *.yaml file", folder)
	}
	return files, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// notFound says what is wrong with an argument that is neither a file nor a name of the catalogue.
func notFound(arg string, err error, catalogue []string) error {
	if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(arg, `./\`) {
		return fmt.Errorf("failed to read a scenario: %w", err)
	}
	if best := closest(arg, catalogue); best != "" {
		return fmt.Errorf("there is no scenario %q, neither in the catalogue nor as a file; did you mean %q?", arg, best)
	}
	return fmt.Errorf("there is no scenario %q, neither in the catalogue (velosim list shows it) nor as a file", arg)
}

// twice returns an error for each scenario that has the name of another: their results could not be told apart.
func twice(sources []source) []error {
	var wrong []error
	first := map[string]string{}
	for _, s := range sources {
		name := s.scenario.Metadata.Name
		if arg, ok := first[name]; ok {
			wrong = append(wrong, fmt.Errorf("the scenario %s is there twice: %s and %s", name, arg, s.arg))
			continue
		}
		first[name] = s.arg
	}
	return wrong
}
