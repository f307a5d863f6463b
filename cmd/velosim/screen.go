package main

import (
	"fmt"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/velosim/velosim/sim/verdict"
)

// screen shows results to a person, as they come in.
type screen struct {
	*runner
	bar *progressbar.ProgressBar // nil: none
}

func newScreen(r *runner, jobs int) *screen {
	s := &screen{runner: r}
	switch {
	case r.single && r.format == "text" && !r.quiet:
		fmt.Fprintf(r.out, "%s, seed %d, world %s, Velero %s\n\n",
			r.sources[0].scenario.Metadata.Name, r.seed, r.info.World, r.info.Velero)
	case !r.single && r.terminal:
		s.bar = progressbar.NewOptions(jobs,
			progressbar.OptionSetWriter(r.drawn),
			progressbar.OptionSetDescription("running"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
		)
		s.bar.RenderBlank() //nolint:errcheck // nothing depends on the bar
	}
	return s
}

func (s *screen) show(r *result) {
	if s.bar != nil {
		s.bar.Clear()      //nolint:errcheck // nothing depends on the bar
		defer s.bar.Add(1) //nolint:errcheck
	}
	if r.lost != nil {
		fmt.Fprintf(s.err, "velosim: failed to write the verdict of %s: %v\n", r.Scenario, r.lost)
	}
	if s.format != "text" || s.failuresOnly && r.Green() {
		return
	}
	out := s.out
	if s.single && !s.quiet {
		fmt.Fprintln(out)
	}
	out.Write(r.timeline.Bytes()) //nolint:errcheck // a verdict is worth more than what cannot be shown
	fmt.Fprintf(out, "%s (seed %d): ", r.Scenario, r.Seed)
	if s.quiet || !s.single && r.Verdict == verdict.KnownDeviation {
		fmt.Fprintln(out, r.full.Summary())
		if r.Verdict == verdict.Inconclusive {
			fmt.Fprintln(out, r.reason())
		}
		return
	}
	r.full.Print(out) //nolint:errcheck
	if r.Verdict == verdict.Fail {
		fmt.Fprintf(out, "  replay: %s\n", r.Replay)
	}
}

// quote quotes an argument for a shell, where it needs that.
func quote(arg string) string {
	if strings.ContainsFunc(arg, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./", r)
	}) {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// summary counts the verdicts of several runs.
func (s *screen) summary(results []*result, jobs int) {
	if s.bar != nil {
		s.bar.Clear() //nolint:errcheck // nothing depends on the bar
	}
	if s.single || s.quiet || s.failuresOnly || s.format != "text" {
		return
	}
	counts := map[verdict.Result]int{}
	for _, r := range results {
		counts[r.Verdict]++
	}
	var parts []string
	for _, v := range []verdict.Result{verdict.Pass, verdict.KnownDeviation, verdict.Fail, verdict.Inconclusive} {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if n := jobs - len(results); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", n))
	}
	fmt.Fprintf(s.out, "\n%s: %s\n", count(jobs, "run"), strings.Join(parts, ", "))
}
