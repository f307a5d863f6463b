package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// pluginTester has a plugin called, directly and by servers.
type pluginTester struct {
	*cli
	options pluginOptions
	items   contract.Items
	path    string // absolute
}

// evidence is what the plugin is seen to do. The runs on a server are those that fit what it registers.
func (t *pluginTester) evidence(ctx context.Context) (e contract.Evidence, err error) {
	o := t.options
	e.Within, e.Call, e.CancelWithin = o.within, o.call, o.cancelWithin
	path, flags, err := t.findWorld(ctx, "envtest", o.velero, false)
	if err != nil {
		return e, err
	}
	crds, remove, err := definitions(t.items.Definitions)
	if err != nil {
		return e, &exitError{exitInconclusive, err}
	}
	defer remove()
	flags = append(flags, "--plugin", t.path)
	if crds != "" {
		flags = append(flags, "--crds", crds)
	}
	pool, err := world.OpenPool(ctx, path, atOnce, world.Options{Args: flags})
	if err != nil {
		return e, interrupted(ctx, err)
	}
	defer pool.Close()
	if e.Direct, err = t.direct(ctx, pool); err != nil {
		return e, err
	}
	e.Runs, err = t.runs(ctx, pool, e.Direct)
	return e, err
}

// atOnce is how many servers run at a time.
const atOnce = 4

// direct has the plugin called without a server.
func (t *pluginTester) direct(ctx context.Context, pool *world.Pool) (trace.Trace, error) {
	s, err := contract.Direct(t.items)
	if err != nil {
		return trace.Trace{}, err
	}
	fmt.Fprintf(t.err, "velosim: calling %s directly, on a cluster of its own\n", t.path)
	job := world.Job{ID: 1, Scenario: s.AsWritten(), Seed: 1, Direct: &world.Direct{
		Plugin: t.path, Within: t.options.within, Call: t.options.call, CancelWithin: t.options.cancelWithin,
	}}
	results := t.run(ctx, pool, []*scenario.Scenario{s}, []world.Job{job}, func(*scenario.Scenario, trace.Trace) verdict.Verdict {
		return verdict.Verdict{Result: verdict.Pass, Findings: []verdict.Finding{}} // the card judges
	})
	if len(results) == 0 {
		return trace.Trace{}, interrupted(ctx, errors.New("interrupted"))
	}
	if t.options.dir != "" { // it is no run that is judged: reports are to leave it out
		os.Remove(filepath.Join(t.options.dir, s.Metadata.Name+".verdict.json")) //nolint:errcheck // it was just written, or could not be
	}
	direct := results[0].trace
	if end := direct.End; end.Reason != trace.Settled && end.Reason != trace.NotStarted {
		return direct, interrupted(ctx, fmt.Errorf("failed to call the plugin: %s", cmp.Or(end.Detail, end.Reason)))
	}
	return direct, nil
}

// runs are those on a server; none, if the plugin does not start: no server would.
func (t *pluginTester) runs(ctx context.Context, pool *world.Pool, direct trace.Trace) ([]contract.Run, error) {
	if direct.End.Reason == trace.NotStarted {
		return nil, nil
	}
	var plugins []trace.Plugin
	for _, e := range direct.Events {
		if e.Plugin != nil {
			plugins = append(plugins, *e.Plugin)
		}
	}
	scenarios, err := contract.Scenarios(t.items, plugins, t.options.within)
	if err != nil || len(scenarios) == 0 {
		return nil, err
	}
	fmt.Fprintf(t.err, "velosim: running %s with it on velero server %s\n", count(len(scenarios), "scenario"), pool.Info().Velero)
	var jobs []world.Job
	for i, s := range scenarios {
		job := world.Job{ID: i + 1, Scenario: s.AsWritten(), Seed: 1}
		job.Bound = verdict.RealBound(job.Scenario, pool.Info().Scale)
		jobs = append(jobs, job)
	}
	results := t.run(ctx, pool, scenarios, jobs, verdict.Judge)
	if len(results) < len(jobs) {
		return nil, interrupted(ctx, errors.New("interrupted"))
	}
	var runs []contract.Run
	for i, r := range results {
		runs = append(runs, contract.Run{Scenario: scenarios[i], Trace: r.trace, Verdict: r.full})
	}
	return runs, nil
}

// run runs the jobs, one for each scenario, and keeps what --out wants.
func (t *pluginTester) run(ctx context.Context, pool *world.Pool, scenarios []*scenario.Scenario, jobs []world.Job,
	judge func(*scenario.Scenario, trace.Trace) verdict.Verdict,
) []*result {
	silent := *t.cli
	silent.out = io.Discard
	r := &runner{
		cli: &silent, info: pool.Info(), judge: judge, remembers: true,
		runOptions: runOptions{world: "envtest", velero: t.options.velero, plugins: []string{t.path}, seeds: 1, dir: t.options.dir, format: "text"},
	}
	for _, s := range scenarios {
		r.sources = append(r.sources, source{arg: s.Metadata.Name, scenario: s})
	}
	results, err := r.all(ctx, pool, jobs)
	if err != nil {
		fmt.Fprintf(t.err, "velosim: %v\n", err)
	}
	return results
}
