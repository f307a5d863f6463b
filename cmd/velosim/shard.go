package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
		recorded, err := c.recorded(ctx, o.durations)
		if err != nil {
			return nil, fmt.Errorf("--durations: %w", err)
		}
		weight = durationsOf(recorded, reports.Target{World: info.World, Release: info.Velero})
		slices.SortStableFunc(jobs, func(a, b world.Job) int { return cmp.Compare(weight(b), weight(a)) })
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
		return report.Runs, nil
	}
	report, err := c.readReport(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	return report.Runs, nil
}

// durationsOf is how long the jobs' scenarios took on the target: the mean of their runs, and what was not run the median of all.
func durationsOf(runs []reports.Run, target reports.Target) func(world.Job) float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, run := range runs {
		if run.Target() == target {
			sums[run.Scenario] += run.WallSeconds
			counts[run.Scenario]++
		}
	}
	var means []float64
	for name := range sums {
		sums[name] /= counts[name]
		means = append(means, sums[name])
	}
	slices.Sort(means)
	median := 1.0
	if len(means) > 0 {
		median = means[len(means)/2]
	}
	return func(j world.Job) float64 {
		if mean, ok := sums[j.Scenario.Metadata.Name]; ok {
			return mean
		}
		return median
	}
}
