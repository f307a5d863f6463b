package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/plan"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// planOptions are the flags of plan and sweep.
type planOptions struct {
	runOptions
	families []string
	sample   bool
}

func planCommand(c *cli) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan NAME|FILE|FOLDER|-...",
		Short: "Plan a fault at each write, store access and plugin call of a scenario",
		Long: `Plan runs scenarios as they are, to learn what Velero does in them, and plans scenarios with one fault more: the server killed
before and after each write, each write refused, or applied with its reply lost, each access to the object store and each plugin
call failing. It lists the plans, and counts those that are left out, with the reasons; --out writes them as files, to be run and
changed as any scenario.

` + whereWorldsAre,
		Example: `  velosim plan backup-operation-completes
  velosim plan my-scenario.yaml --families kill,store --out plans && velosim run plans`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withPlans(cmd, &o, args, func(s *sweep) error { return s.list() })
		},
	}
	planFlags(cmd, &o)
	cmd.Flags().StringVar(&o.dir, "out", "", "write the plans into the folder `DIR`, as NAME.yaml")
	return cmd
}

func planFlags(cmd *cobra.Command, o *planOptions) {
	f := cmd.Flags()
	worldFlag(cmd, &o.world)
	veleroFlag(cmd, &o.velero)
	pluginFlag(cmd, &o.plugins)
	f.StringSliceVar(&o.families, "families", nil, "plan these `FAMILIES` of faults only: "+strings.Join(familyNames(), ", "))
	f.BoolVar(&o.sample, "sample", false, "plan one fault of each kind for each change of an object's phase (default on envtest)")
	f.Int64Var(&o.seed, "seed", 1, "the seed `N` of the runs")
	f.IntVar(&o.parallel, "parallel", 0, "run up to `N` at a time (default the number of CPUs, of envtest twelve times as many and no more than 24)")
}

func familyNames() (names []string) {
	for _, f := range plan.Families() {
		names = append(names, string(f))
	}
	return names
}

func (o *planOptions) check(cmd *cobra.Command) error {
	o.seeds, o.format = 1, "text"
	if !cmd.Flags().Changed("sample") {
		o.sample = o.world == "envtest"
	}
	for _, name := range o.families {
		if err := oneOf("families", name, familyNames()); err != nil {
			return err
		}
	}
	if len(o.families) == 0 {
		o.families = familyNames()
	}
	return o.runOptions.check()
}

// withPlans calls do with the plans for the scenarios.
func (c *cli) withPlans(cmd *cobra.Command, o *planOptions, args []string, do func(*sweep) error) error {
	ctx := cmd.Context()
	if err := o.check(cmd); err != nil {
		return err
	}
	sources, err := c.load(ctx, args)
	if err != nil {
		return wrongScenarios(c, err)
	}
	pool, err := c.openPool(ctx, o.runOptions, sources, o.atATime())
	if err != nil {
		return err
	}
	defer pool.Close()
	if sources, err = c.able(pool.Info(), sources, false); err != nil {
		return &exitError{exitInconclusive, err}
	}
	s := &sweep{cli: c, planOptions: *o, pool: pool}
	if err := s.learn(ctx, sources); err != nil {
		return err
	}
	return do(s)
}

// base is a scenario that plans are made of, and its run without faults.
type base struct {
	source
	trace trace.Trace
	plans []plan.Plan
}

// learn runs the scenarios, and makes the plans.
func (s *sweep) learn(ctx context.Context, sources []source) error {
	results, err := s.run(ctx, sources, verdict.Judge)
	if err != nil {
		return err
	}
	if len(results) < len(sources) {
		return interrupted(ctx, errors.New("not every scenario was run: there is nothing to plan with"))
	}
	for i, r := range results {
		if r.Verdict != verdict.Pass && r.Verdict != verdict.KnownDeviation {
			return &exitError{exitInconclusive, fmt.Errorf("%s comes to %s without another fault: plan with a scenario that passes", r.Scenario, r.Verdict)}
		}
		b := base{source: sources[i], trace: r.trace}
		families := make([]plan.Family, len(s.families))
		for i, name := range s.families {
			families[i] = plan.Family(name)
		}
		if b.plans, err = plan.Plans(b.file, b.scenario, plan.Learn(b.scenario, b.trace), families); err != nil {
			return fmt.Errorf("%s: %w", b.arg, err)
		}
		for i := range b.plans {
			p := &b.plans[i]
			if p.Pruned != "" {
				continue
			}
			if why := s.pool.Info().Unable(p.Scenario); why != "" {
				p.Pruned = why
			}
		}
		if s.sample {
			plan.Sample(b.plans)
		}
		s.bases = append(s.bases, b)
	}
	return nil
}

// toRun are the plans that are to be run.
func (b base) toRun() []plan.Plan {
	return slices.DeleteFunc(slices.Clone(b.plans), func(p plan.Plan) bool { return p.Pruned != "" })
}

// list prints the plans, or writes their files.
func (s *sweep) list() error {
	for _, b := range s.bases {
		for _, p := range b.toRun() {
			fmt.Fprintln(s.out, p.Name)
			if s.dir == "" {
				continue
			}
			if err := s.write(p.Name, p.File); err != nil {
				return &exitError{exitInconclusive, err}
			}
		}
		fmt.Fprintln(s.out)
		b.count(s.cli)
	}
	return nil
}

// count prints how many plans there are, and why some are left out.
func (b base) count(c *cli) {
	why := map[string]int{}
	for _, p := range b.plans {
		if p.Pruned != "" {
			why[p.Pruned]++
		}
	}
	left := len(b.toRun())
	fmt.Fprintf(c.out, "%s: %s, %d pruned, %d to run\n", b.scenario.Metadata.Name, count(len(b.plans), "plan"), len(b.plans)-left, left)
	reasons := slices.SortedFunc(maps.Keys(why), func(x, y string) int {
		if why[x] != why[y] {
			return why[y] - why[x]
		}
		return strings.Compare(x, y)
	})
	for _, reason := range reasons {
		fmt.Fprintf(c.out, "  %4d pruned: %s\n", why[reason], reason)
	}
}

// write writes a scenario's file into --out.
func (s *sweep) write(name string, file []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("failed to make --out: %w", err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, name+".yaml"), file, 0o600); err != nil {
		return fmt.Errorf("failed to write a plan: %w", err)
	}
	return nil
}
