package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// runOptions are the flags of run.
type runOptions struct {
	world    string
	velero   string
	plugins  []string
	seed     int64
	seeds    int
	parallel int
	dir      string // --out
	format   string
	quiet    bool
	verbose  bool
	shard    world.Shard
	// durations is a folder of results, or a report in JSON, whose runs say how long scenarios take.
	durations string
}

func runCommand(c *cli) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [NAME|FILE|FOLDER|-]...",
		Short: "Run scenarios and judge how they end",
		Long: `Run runs scenarios: names of the catalogue, files, folders (every *.yaml in and below them), and "-" for stdin; none: the
whole catalogue. Of a single run it prints a timeline and the verdict; of several a line each, as they finish, and what was
found. The same seed gives the same run.

` + whereWorldsAre,
		Example: `  velosim run backup-operation-times-out
  velosim run my-scenario.yaml --seeds 50 --parallel 4
  velosim run scenarios/ --out out --format json`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	worldFlag(cmd, &o.world)
	veleroFlag(cmd, &o.velero)
	pluginFlag(cmd, &o.plugins)
	f.Int64Var(&o.seed, "seed", 1, "the seed `N` of the first run of each scenario")
	f.IntVar(&o.seeds, "seeds", 1, "run each scenario with `N` seeds: --seed and those after it")
	f.IntVar(&o.parallel, "parallel", 0, "run up to `N` at a time (default the number of CPUs; envtest, where a run mostly waits, twelve times as many and no more than 24)")
	f.StringVar(&o.dir, "out", "", "write each trace and verdict into the folder `DIR`, as NAME.ndjson and NAME.verdict.json, or, with several seeds, NAME.seed-N.…; of a run that does not pass, also NAME.files: the stacks of a crash and, on envtest, logs, resources and stored objects")
	f.Var(&o.shard, "shard", "run the `I/N`-th part of what is named, for N machines that run all of it; velosim report and gate merge their folders")
	f.StringVar(&o.durations, "durations", "", "balance shards, and begin with what takes long, by the runs in `PATH`: an earlier folder of results, or a report in JSON (default: by bounds, where time is real)")
	f.StringVar(&o.format, "format", "text", "text or json")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print a line for each verdict, and for what makes a run inconclusive, and nothing else")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print timelines with every event, and for several runs too")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	return cmd
}

func pluginFlag(cmd *cobra.Command, plugins *[]string) {
	cmd.Flags().StringArrayVar(plugins, "plugin", nil, "give the server the plugin executable `PATH` too; may be repeated (world envtest only)")
}

func (o runOptions) check() error {
	switch {
	case o.seeds < 1:
		return fmt.Errorf("--seeds %d: at least 1 is needed", o.seeds)
	case o.seed > math.MaxInt64-int64(o.seeds-1):
		return fmt.Errorf("--seed %d: there are no %d seeds from there on", o.seed, o.seeds)
	case o.parallel < 0:
		return fmt.Errorf("--parallel %d: at least 1 is needed", o.parallel)
	}
	return oneOf("format", o.format, formats())
}

func (c *cli) run(ctx context.Context, o runOptions, args []string) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	results := []*result{}
	if o.format == "json" {
		defer func() {
			err = errors.Join(err, printJSON(c.out, map[string]any{"results": results}))
		}()
	}
	sources, err := c.load(ctx, args)
	if err != nil {
		return wrongScenarios(c, err)
	}
	pool, err := c.openPool(ctx, o, sources, min(o.atATime(), len(sources)*o.seeds))
	if err != nil {
		return err
	}
	defer pool.Close()
	if sources, err = c.able(pool.Info(), sources, len(args) == 0); err != nil {
		return &exitError{exitInconclusive, err}
	}
	jobs := o.jobs(pool.Info(), sources)
	if jobs, err = c.sharded(ctx, o, pool.Info(), jobs); err != nil {
		return err
	}
	r := &runner{cli: c, runOptions: o, info: pool.Info(), sources: sources, single: len(sources)*o.seeds == 1, judge: verdict.Judge}
	if results, err = r.all(ctx, pool, jobs); err != nil {
		return err
	}
	return exitOf(results, len(jobs))
}

// openPool opens the world for the scenarios, with the user's plugins.
func (c *cli) openPool(ctx context.Context, o runOptions, sources []source, atATime int) (*world.Pool, error) {
	plugins, err := o.pluginPaths(sources)
	if err != nil {
		return nil, err
	}
	path, flags, err := c.findWorld(ctx, o.world, o.velero, len(plugins) > 0 || slices.ContainsFunc(sources, source.acts))
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		flags = append(flags, "--plugin", plugin)
	}
	pool, err := world.OpenPool(ctx, path, atATime, world.Options{Args: flags})
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	return pool, nil
}

// atATime is how many runs there are at a time.
func (o runOptions) atATime() int {
	switch {
	case o.parallel > 0:
		return o.parallel
	case o.world == "envtest": // they wait most of the time, and have one API server
		return min(12*runtime.NumCPU(), 24)
	}
	return runtime.NumCPU()
}

// pluginPaths are the paths of the user's plugins, from wherever the server runs. In its plugin folder each has the name of its file,
// beside those of the scenarios.
func (o runOptions) pluginPaths(sources []source) ([]string, error) {
	taken := map[string]string{"object-store": "the object store"}
	for _, s := range sources {
		scripted, _ := s.scenario.Scripted()
		for _, p := range scripted.Plugins {
			taken[p.File()] = "the scripted plugin " + p.Name
		}
	}
	var paths []string
	for _, path := range o.plugins {
		if o.world != "envtest" {
			return nil, fmt.Errorf("--plugin %s: the world %s has no processes; add --world envtest", path, o.world)
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--plugin %q: %w", path, err)
		case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
			return nil, fmt.Errorf("--plugin %s: it is no executable file (chmod +x?)", path)
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(absolute)
		if other, ok := taken[name]; ok {
			return nil, fmt.Errorf("--plugin %s: %s has the file name %s, too: rename it", path, other, name)
		}
		taken[name] = "another --plugin"
		paths = append(paths, absolute)
	}
	return paths, nil
}

// jobs are what is to be run, in the order of the scenarios and their seeds.
func (o runOptions) jobs(info world.Info, sources []source) []world.Job {
	var jobs []world.Job
	for _, s := range sources {
		job := world.Job{Scenario: s.scenario, Bound: verdict.Bound(s.scenario)}
		if info.Scale != 0 {
			job.Scenario = s.scenario.RealTime()
			job.Bound = verdict.RealBound(job.Scenario, info.Scale)
		}
		for i := range o.seeds {
			job.ID, job.Seed = len(jobs)+1, o.seed+int64(i)
			jobs = append(jobs, job)
		}
	}
	if info.Scale != 0 {
		world.LongestFirst(jobs)
	}
	return jobs
}

// able returns the scenarios that the world can run. Of the whole catalogue, it leaves out the others and says so; of scenarios that
// were named, each is an error.
func (c *cli) able(info world.Info, sources []source, whole bool) ([]source, error) {
	var can []source
	var wrong []error
	for _, s := range sources {
		why := info.Unable(s.scenario)
		switch {
		case why == "":
			can = append(can, s)
		case whole:
			fmt.Fprintf(c.err, "velosim: left out: %s: %s\n", s.scenario.Metadata.Name, why)
		default:
			wrong = append(wrong, fmt.Errorf("the scenario %s: %s", s.scenario.Metadata.Name, why))
		}
	}
	return can, errors.Join(wrong...)
}

// exitOf returns the error that stands for what came of the runs: a failure wins. A run without a result was
// interrupted.
func exitOf(results []*result, jobs int) error {
	code := exitOK
	if len(results) < jobs {
		code = exitInconclusive
	}
	for _, r := range results {
		switch {
		case r.Verdict == verdict.Fail:
			code = exitFailure
		case (r.Verdict == verdict.Inconclusive || r.lost != nil) && code == exitOK:
			code = exitInconclusive
		}
	}
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}
