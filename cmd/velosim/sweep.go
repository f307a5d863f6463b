package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

func sweepCommand(c *cli) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "sweep NAME|FILE|FOLDER|-...",
		Short: "Run a scenario with a fault at each write, store access and plugin call",
		Long: `Sweep plans as velosim plan does, runs every plan, and compares what comes of it with the run without the fault. It prints what
fails, with the command that runs it again, and a summary by what found it. What was run stays in the folder --out: a sweep that
was interrupted, or killed, goes on where it was; remove the folder to start anew.

` + whereWorldsAre,
		Example: `  velosim sweep backup-operation-completes restore-operation-completes
  velosim sweep my-scenario.yaml --families kill --world envtest`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPlans(cmd, &o, args, func(s *sweep) error { return s.all(cmd.Context()) })
		},
	}
	planFlags(cmd, &o)
	cmd.Flags().StringVar(&o.dir, "out", filepath.Join("out", "sweep"), "keep plans, traces and verdicts in the folder `DIR`")
	return cmd
}

// sweep is the plans for some scenarios, and what runs them.
type sweep struct {
	*cli
	planOptions
	pool  *world.Pool
	bases []base
}

// all runs the plans that have not been run yet, and prints what came of all of them.
func (s *sweep) all(ctx context.Context) error {
	var sources []source
	of := map[string]base{}
	for _, b := range s.bases {
		for _, p := range b.toRun() {
			sources = append(sources, source{filepath.Join(s.dir, p.Name+".yaml"), p.File, p.Scenario})
			of[p.Name] = b
		}
	}
	results, err := s.run(ctx, sources, func(x *scenario.Scenario, t trace.Trace) verdict.Verdict {
		return verdict.Compare(x, t, of[x.Metadata.Name].trace)
	})
	if err != nil {
		return err
	}
	s.summary(results, len(sources))
	return exitOf(results, len(sources))
}

// run runs scenarios, unless their traces are in the folder, and returns their results in the order of the scenarios.
func (s *sweep) run(ctx context.Context, sources []source, judge func(*scenario.Scenario, trace.Trace) verdict.Verdict) ([]*result, error) {
	r := &runner{cli: s.cli, runOptions: s.runOptions, info: s.pool.Info(), sources: sources, judge: judge, failuresOnly: true, remembers: len(s.bases) == 0}
	if s.dir == "" {
		return r.all(ctx, s.pool, s.jobs(r.info, sources))
	}
	var results []*result
	var left []world.Job
	for _, job := range s.jobs(r.info, sources) {
		kept, err := s.kept(r, job)
		if err != nil {
			return nil, &exitError{exitInconclusive, err}
		}
		if kept == nil {
			left = append(left, job)
			continue
		}
		results = append(results, kept)
	}
	if len(results) > 0 && len(left) > 0 {
		fmt.Fprintf(s.err, "velosim: %s of %d are in %s\n", count(len(results), "result"), len(sources), s.dir)
	}
	more, err := r.all(ctx, s.pool, left)
	if err != nil {
		return nil, err
	}
	order := map[string]int{}
	for i, x := range sources {
		order[x.scenario.Metadata.Name] = i
	}
	return slices.SortedFunc(slices.Values(append(results, more...)), func(a, b *result) int { return order[a.Scenario] - order[b.Scenario] }), nil
}

// kept is the result of a job whose trace is in the folder, of this world and this very scenario; nil: there is none. What a kill has cut
// off, or an interrupt has ended, is none. Then the scenario's file is written.
func (s *sweep) kept(r *runner, job world.Job) (*result, error) {
	x := r.sources[job.ID-1]
	name := x.scenario.Metadata.Name
	file, err := os.ReadFile(filepath.Join(s.dir, name+".yaml"))
	if err != nil || !bytes.Equal(file, x.file) {
		if err := os.Remove(r.path(job, ".ndjson")); err != nil && !os.IsNotExist(err) { // it is that of another scenario
			return nil, err
		}
		return nil, s.write(name, x.file)
	}
	f, err := os.Open(r.path(job, ".ndjson"))
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	t, err := trace.Read(f, name)
	is := trace.Header{
		Schema: trace.Schema, Scenario: name, World: r.info.World, Velero: r.info.Velero, Build: r.info.Build, Seed: job.Seed, Scale: cmp.Or(r.info.Scale, 1),
	}
	if err != nil || t.Header != is || t.End.Reason == trace.Environment {
		return nil, nil
	}
	res := &result{Run: reports.NewRun(x.scenario, is, r.replay(x.arg, job.Seed)), full: r.judge(x.scenario, t)}
	res.Judged(res.full, 0)
	res.lost = res.Write(r.dir, name)
	if r.remembers {
		res.trace = t
	}
	(&screen{runner: r}).show(res)
	return res, nil
}

// summary prints what came of the plans.
func (s *sweep) summary(results []*result, plans int) {
	fmt.Fprintln(s.out)
	for _, b := range s.bases {
		b.count(s.cli)
	}
	verdicts, oracles, rules := map[verdict.Result]int{}, map[string]int{}, map[string]int{}
	for _, r := range results {
		verdicts[r.Verdict]++
		for _, rule := range r.Deviations {
			rules[rule]++
		}
		found := map[string]bool{}
		for _, f := range r.Findings {
			found[f.Oracle] = true
		}
		for oracle := range found {
			oracles[oracle]++
		}
	}
	fmt.Fprintf(s.out, "\n%s: %d pass, %d known deviation, %d fail, %d inconclusive", count(plans, "run"),
		verdicts[verdict.Pass], verdicts[verdict.KnownDeviation], verdicts[verdict.Fail], verdicts[verdict.Inconclusive])
	if n := plans - len(results); n > 0 {
		fmt.Fprintf(s.out, ", %d not run: the same command goes on", n)
	}
	fmt.Fprintln(s.out)
	for _, tally := range []struct {
		of string
		n  map[string]int
	}{{"oracle", oracles}, {"known deviation", rules}} {
		for _, name := range slices.Sorted(maps.Keys(tally.n)) {
			fmt.Fprintf(s.out, "  %4d %s %s\n", tally.n[name], tally.of, name)
		}
	}
	for _, r := range results {
		if r.Verdict == verdict.Fail {
			fmt.Fprintf(s.out, "  replay: %s\n", r.Replay)
		}
	}
}
