package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/sim/world"
)

// sharded are the jobs of this machine's shard, what takes longest first where that was recorded.
func (c *cli) sharded(ctx context.Context, o runOptions, info world.Info, jobs []world.Job) ([]world.Job, error) {
	weight := func(j world.Job) float64 {
		if info.Scale == 0 {
			return 1
		}
		return time.Duration(j.Bound).Seconds()
	}
	if o.durations != "" {
		runs, err := c.recorded(ctx, o.durations)
		if err != nil {
			return nil, fmt.Errorf("--durations: %w", err)
		}
		target := reports.Target{World: info.World, Release: info.Velero}
		if took := durationsOf(runs, target); took != nil {
			weight = took
			slices.SortStableFunc(jobs, func(a, b world.Job) int { return cmp.Compare(weight(b), weight(a)) })
		} else {
			fmt.Fprintf(c.err, "velosim: --durations %s has no run on %s\n", o.durations, target)
		}
	}
	part := o.shard.Part(jobs, weight)
	if o.shard.Of > 0 {
		fmt.Fprintf(c.err, "velosim: shard %s: %d of %s\n", &o.shard, len(part), count(len(jobs), "run"))
	}
	return part, nil
}

// recorded are the runs of an earlier time.
func (c *cli) recorded(ctx context.Context, path string) ([]reports.Run, error) {
	if !isFolder(path) {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var report reports.Report
		if err := json.Unmarshal(b, &report); err != nil {
			return nil, fmt.Errorf("%s is neither a folder of results nor a report in JSON: %w", path, err)
		}
		if report.Schema != reports.Schema {
			return nil, fmt.Errorf(`%s is no report in JSON of this velosim: its "schema" is %d, not %d`, path, report.Schema, reports.Schema)
		}
		return report.Runs, nil
	}
	report, err := c.readReport(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	return report.Runs, nil
}

// durationsOf is how long the jobs' scenarios took on the target, in seconds: the mean of their runs, and what was not run the median of all;
// nil if there were none.
func durationsOf(runs []reports.Run, target reports.Target) func(world.Job) float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, run := range runs {
		if run.Target() == target {
			sums[run.Scenario] += run.WallSeconds
			counts[run.Scenario]++
		}
	}
	if len(sums) == 0 {
		return nil
	}
	means := map[string]float64{}
	for name, sum := range sums {
		means[name] = sum / counts[name]
	}
	median := slices.Sorted(maps.Values(means))[len(means)/2]
	return func(j world.Job) float64 {
		if mean, ok := means[j.Scenario.Metadata.Name]; ok {
			return mean
		}
		return median
	}
}
