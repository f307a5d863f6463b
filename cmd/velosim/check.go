package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func checkCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "check TRACE...",
		Short: "Follow traces through the specification, and show the first event that does not fit",
		Long: `Check follows each backup and restore of a trace ("-" for stdin) through every state that the specification allows: as it is
demanded, and as the trace's release goes. "velosim run --out" writes traces.

Exit codes: 0 each fits one of the two; 1 one fits neither; 3 nothing can be said of one.`,
		Example: "  velosim check out/*.ndjson",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.check(cmd.Context(), args) },
	}
}

func (c *cli) check(ctx context.Context, names []string) error {
	exit := exitOK
	for _, name := range names {
		t, err := await(ctx, func() (trace.Trace, error) { return c.readTrace(name) })
		if err != nil {
			return err
		}
		release, err := phase.ForRelease(t.Header.Velero)
		if err != nil {
			return &exitError{exitInconclusive, fmt.Errorf("%s: %w", name, err)}
		}
		objects := created(t)
		if len(objects) == 0 {
			return &exitError{exitInconclusive, fmt.Errorf("%s: no backup and no restore was created in it", name)}
		}
		for _, o := range objects {
			said, code := c.fit(t, o, release)
			fmt.Fprintf(c.out, "%s: %s: %s\n", name, o, said)
			if exit != exitFailure && code != exitOK {
				exit = code
			}
		}
	}
	if exit != exitOK {
		return &exitError{exit, nil}
	}
	return nil
}

// created are the objects that the trace is about.
func created(t trace.Trace) []string {
	var objects []string
	for _, e := range t.Events {
		if e.Created != nil {
			objects = append(objects, e.Object)
		}
	}
	return objects
}

// called are the pre- and post-actions that the trace shows of an object: its plugins' calls for no item, of which pre-actions' are made in
// InProgress. Of others, such as one that should have been called, it does not tell.
func called(t trace.Trace, object string) []scenario.Plugin {
	pre, post := scenario.PreBackupAction, scenario.PostBackupAction
	if !pre.Serves(object) {
		pre, post = scenario.PreRestoreAction, scenario.PostRestoreAction
	}
	var plugins []scenario.Plugin
	for _, e := range t.Events {
		if e.Object != object || e.Call == nil || e.Call.Method != "Execute" || e.Call.Item != "" {
			continue
		}
		action := post
		if e.Call.Phase == phase.InProgress.String() {
			action = pre
		}
		plugins = append(plugins, scenario.Plugin{Name: e.Call.Plugin, Action: action})
	}
	return plugins
}

// fit says whether an object fits what is demanded, or what the release does.
func (c *cli) fit(t trace.Trace, object string, release phase.Rules) (said string, code int) {
	actions := called(t, object)
	demanded, err := model.Check(release.Demanded(), object, t, actions...)
	switch {
	case err != nil:
		return err.Error(), exitInconclusive
	case demanded == nil:
		return "fits what is demanded", exitOK
	}
	at := func(m *model.Misfit) string {
		e := t.Events[m.Event]
		s := fmt.Sprintf("event %d at %s: %s", e.Seq, e.At, m.Seen)
		if len(m.Allowed) > 0 {
			s += "; allowed: to " + strings.Join(m.Allowed, " or ")
		}
		return s
	}
	released, err := model.Check(release, object, t, actions...)
	switch {
	case err != nil:
		return err.Error(), exitInconclusive
	case released != nil:
		return fmt.Sprintf("fits neither what is demanded nor %s\n  %s", release.Name, at(released)), exitFailure
	}
	var rules []string
	for _, rule := range phase.All() {
		if m, err := model.Check(release.Demanded().With(rule), object, t, actions...); err == nil && m == nil {
			rules = append(rules, rule.Name)
		}
	}
	by := ""
	if len(rules) > 0 {
		by = ", by rule " + strings.Join(rules, " or ")
	}
	return fmt.Sprintf("fits %s%s, and not what is demanded\n  %s", release.Name, by, at(demanded)), exitOK
}
