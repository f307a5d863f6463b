package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	as, emit            string
	restore, safety     bool
	actions             bool
	operations          int
	crashes, api, store uint8
	memory              int // MiB
	format              string
}

func exploreCommand(c *cli) *cobra.Command {
	var o exploreOptions
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Explore every run that the specification allows, and look for one that ends badly",
		Long: `Explore visits every state that a backup, or a restore, can come to: whatever its plugins answer, whenever the server dies, and
whichever write fails. It shows that every run ends in a final phase and that nothing is wrong with it, or the shortest
way to one where that is not so, and the rule by which the release allows it. No controllers run: it is the specification
(sim/phase, sim/model) that is explored.

Exit codes: 0 no counterexample, or only such as the release's rules explain; 1 other counterexamples; 2 the command line is
wrong; 3 the exploration was cut off, or a file could not be written.`,
		Example: `  velosim explore --operations 3 --crashes 2 --api-faults 1 --store-faults 1
  velosim explore --as v1.18 --restore
  velosim explore --actions --operations 1 --crashes 2
  velosim explore --as v1.18 --api-faults 0 --emit found && velosim run found`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.explore(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.as, "as", "demanded", "explore the `READING`: demanded, or what a release does: v1.18")
	f.BoolVar(&o.restore, "restore", false, "explore a restore; else it is a backup")
	f.BoolVar(&o.actions, "actions", false, "have two plugins with pre- and post-actions, and one with a post-action alone")
	f.IntVar(&o.operations, "operations", 2, fmt.Sprintf("up to `N` item operations, at most %d", model.MaxOperations))
	f.Uint8Var(&o.crashes, "crashes", 1, "the server may die `N` times")
	f.Uint8Var(&o.api, "api-faults", 1, "`N` writes to the API server may be lost")
	f.Uint8Var(&o.store, "store-faults", 1, "`N` accesses to the object store may fail")
	f.BoolVar(&o.safety, "safety", false, "judge safety alone, which takes states for one that differ in the order of operations")
	f.IntVar(&o.memory, "memory", 4096, "stop when the states take `N` MiB")
	f.StringVar(&o.emit, "emit", "", "write each counterexample that a scenario can replay into the folder `DIR`, as a scenario")
	f.StringVar(&o.format, "format", "text", "text or json")
	return cmd
}

func (o exploreOptions) config() (model.Config, phase.Rules, error) {
	rules := phase.Demanded()
	if o.as != rules.Name {
		var err error
		if rules, err = phase.ForRelease(o.as); err != nil {
			return model.Config{}, rules, fmt.Errorf("--as: %w, or demanded", err)
		}
	}
	switch {
	case o.operations < 0 || o.operations > model.MaxOperations:
		return model.Config{}, rules, fmt.Errorf("--operations %d: 0 to %d are possible", o.operations, model.MaxOperations)
	case o.memory < 1:
		return model.Config{}, rules, fmt.Errorf("--memory %d: at least 1 MiB is needed", o.memory)
	}
	kind := phase.Backup
	if o.restore {
		kind = phase.Restore
	}
	return model.Config{
		Machine: model.Machine{Spec: rules}, Kind: kind, Items: o.operations, NoSymmetry: !o.safety, MaxBytes: uint64(o.memory) << 20, Actions: o.actions,
		Faults: model.Budget{Crashes: o.crashes, API: o.api, Store: o.store},
	}, rules, oneOf("format", o.format, formats())
}

func (c *cli) explore(ctx context.Context, o exploreOptions) error {
	config, rules, err := o.config()
	if err != nil {
		return err
	}
	line := newLine(c.drawn, c.terminal, c.now)
	config.Progress = func(p model.Progress) { line.show(p.String()) }
	report, cut := model.Explore(ctx, config)
	line.clear()
	found, err := explained(ctx, config, rules, report)
	cut = cmp.Or(cut, err, ctx.Err())
	if cut != nil {
		cut = fmt.Errorf("the exploration was cut off, and what is above is not all: %w", cut)
	}
	if o.format == "json" {
		err = printJSON(c.out, exploration(config, rules, report, found))
	} else {
		err = printExploration(c.out, config, rules, report, found)
	}
	err = errors.Join(cut, err)
	if o.emit != "" {
		err = errors.Join(err, c.emit(o.emit, config, rules, found))
	}
	if err != nil {
		return &exitError{exitInconclusive, err}
	}
	for _, x := range found {
		if len(x.causes) == 0 {
			return &exitError{exitFailure, nil}
		}
	}
	return nil
}

// emit writes scenarios into the folder, and says of which counterexamples there can be none. A file that is there is left alone.
func (c *cli) emit(dir string, config model.Config, rules phase.Rules, found []finding) error {
	for _, x := range found {
		name, text, err := x.Scenario(config.Start(), rules, x.causes)
		if err != nil {
			fmt.Fprintf(c.err, "velosim: no scenario for the counterexample to %q: %v\n", x.Property, err)
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		path := filepath.Join(dir, name+".yaml")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			fmt.Fprintf(c.err, "velosim: %s is there already; it was left alone\n", path)
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintln(c.err, path)
	}
	return nil
}

// finding is a counterexample and the rules that it is due to.
type finding struct {
	model.Counterexample
	causes []phase.Rule
}

// explained looks for the rules; the error is that of the last search that was cut off.
func explained(ctx context.Context, config model.Config, rules phase.Rules, r model.Report) (found []finding, cut error) {
	for _, x := range r.Counterexamples {
		causes, err := model.Causes(ctx, config, rules, x)
		if err != nil {
			cut = err
		}
		found = append(found, finding{x, causes})
	}
	return found, cut
}

func (f finding) rules() string {
	var names []string
	for _, rule := range f.causes {
		names = append(names, rule.Name)
	}
	return strings.Join(names, ", ")
}

func printExploration(w io.Writer, config model.Config, rules phase.Rules, r model.Report, found []finding) error {
	fmt.Fprintf(w, "%s, %s: up to %s, %s, %s, %s\n", rules.Name, config.Kind, count(config.Items, "operation"),
		plural(config.Faults.Crashes, "crash", "crashes"), count(int(config.Faults.API), "API fault"), count(int(config.Faults.Store), "store fault"))
	fmt.Fprintf(w, "%s\n\n", r.Progress)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "step\tdistinct\tgenerated\n")
	for _, kind := range slices.Sorted(maps.Keys(r.Steps)) {
		fmt.Fprintf(t, "%s\t%d\t%d\n", kind, r.Steps[kind].Distinct, r.Steps[kind].Generated)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, edge := range unmade(config, rules, r) {
		if i == 0 {
			fmt.Fprintf(w, "\nnever made, so that nothing is shown of\n")
		}
		fmt.Fprintf(w, "  %s\n", edge)
	}
	for _, x := range found {
		fmt.Fprintf(w, "\ncounterexample: %s\n", x.Statement)
		if len(x.causes) > 0 {
			fmt.Fprintf(w, "  by rule %s\n", x.rules())
		}
		for i, s := range x.Path {
			fmt.Fprintf(w, "  %3d  %s\n", i+1, s)
		}
	}
	verdict := "no counterexample"
	if len(found) > 0 {
		verdict = count(len(found), "counterexample")
	}
	if !r.Complete {
		verdict += " so far"
	} else if len(found) == 0 {
		verdict += ": every run ends in a final phase"
		if config.Actions {
			verdict += ", and its post-actions are called"
		}
		if !config.NoSymmetry {
			verdict = "no counterexample to safety; whether every run ends was not judged"
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", verdict)
	return err
}

// unmade are the changes of phase that the reading allows an object that has not ended, and that the exploration has not made: it
// had too few operations or faults for them.
func unmade(config model.Config, rules phase.Rules, r model.Report) []string {
	edges, legal := []string{}, rules.Legal
	if config.Actions {
		legal = rules.LegalWithActions
	}
	for edge := range legal(config.Kind) {
		if !r.Edges[edge] && !edge.From.Final() {
			edges = append(edges, edge.String())
		}
	}
	slices.Sort(edges)
	return edges
}

func plural(n uint8, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// exploration is the report for a program.
func exploration(config model.Config, rules phase.Rules, r model.Report, found []finding) any {
	type counterexample struct {
		Property  string   `json:"property"`
		Statement string   `json:"statement"`
		Rules     []string `json:"rules"`
		Path      []string `json:"path"`
	}
	list := []counterexample{}
	for _, x := range found {
		y := counterexample{Property: x.Property, Statement: x.Statement, Rules: []string{}, Path: []string{}}
		for _, rule := range x.causes {
			y.Rules = append(y.Rules, rule.Name)
		}
		for _, s := range x.Path {
			y.Path = append(y.Path, s.String())
		}
		list = append(list, y)
	}
	return map[string]any{
		"reading": rules.Name, "kind": config.Kind.String(), "complete": r.Complete, "generated": r.Generated, "distinct": r.Distinct,
		"depth": r.Depth, "bytes": r.Bytes, "seconds": r.Elapsed.Seconds(), "neverMade": unmade(config, rules, r), "counterexamples": list,
	}
}
