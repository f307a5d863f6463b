package plugintest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/velosim/velosim/sim/plugintest/contract"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// Check returns what is wrong with a run; nil: nothing.
type Check func(Result) error

// NoFinding passes a run that is as users need it. It may be as this release of Velero is known to do, if it ends in the phase that the
// scenario expects: where Velero makes more of what the plugin does than it should, the plugin does it nevertheless.
func NoFinding() Check {
	return func(r Result) error {
		switch want := r.Scenario.Expect.Phase; {
		case r.Verdict.Result == verdict.Pass:
			return nil
		case r.Verdict.Result == verdict.KnownDeviation && r.Verdict.Phase == want:
			return nil
		case r.Verdict.Result == verdict.KnownDeviation:
			return fmt.Errorf("want phase %s, seen phase %s, as Velero %s does by %s (docs/deviations.md)",
				want, r.Verdict.Phase, r.Trace.Header.Velero, strings.Join(r.Verdict.Deviations, ", "))
		}
		errs := []error{fmt.Errorf("the run is %s", r.Verdict.Result)}
		for _, f := range r.Verdict.Findings {
			errs = append(errs, fmt.Errorf("  %s %s: want %s, seen %s", f.Oracle, f.Object, f.Expected, f.Seen))
		}
		return errors.Join(errs...)
	}
}

// Ends passes a run in which the object, backup/NAME or restore/NAME, has the phase at the end.
func Ends(object, phase string) Check {
	return func(r Result) error {
		last := "none"
		for _, e := range r.Trace.Events {
			if e.Object == object && e.Phase != nil {
				last = e.Phase.To
			}
		}
		if last != phase {
			return fmt.Errorf("the last phase of %s is %s, want %s", object, last, phase)
		}
		return nil
	}
}

// Contract passes a run in which the plugin keeps the contract: every check of [contract.Suite] that a run on a server can tell.
func Contract(plugin string) Check {
	var checks []Check
	for _, c := range contract.Suite() {
		checks = append(checks, Keeps(plugin, c.Name))
	}
	return All(checks...)
}

// Keeps passes a run in which the plugin passes the check of the contract, by its name, or gives no occasion for it.
func Keeps(plugin, check string) Check {
	c, ok := contract.Named(check)
	return func(r Result) error {
		if !ok {
			return fmt.Errorf("there is no check %q; contract.Suite has them", check)
		}
		checked := c.Of(plugin, contract.Run{Scenario: r.Scenario, Trace: r.Trace, Verdict: r.Verdict})
		if checked.Outcome != contract.Fail {
			return nil
		}
		return fmt.Errorf("%s: %s\n  %s\n  fix: %s", checked.Name, checked.Demands, strings.Join(checked.Evidence, "\n  "), checked.Fix)
	}
}

// Calls passes a run in which the plugin's method was called so often: at least least, and at most most times.
func Calls(plugin, method string, least, most int) Check {
	return func(r Result) error {
		n := 0
		for _, e := range r.Trace.Events {
			if e.Call != nil && e.Call.Plugin == plugin && e.Call.Method == method {
				n++
			}
		}
		if n < least || n > most {
			return fmt.Errorf("%s of %s was called %d times, want %d to %d", method, plugin, n, least, most)
		}
		return nil
	}
}

// Replies passes a run in which do, given each of the plugin's calls and what came of it, returns no error.
func Replies(plugin string, do func(trace.Call, trace.Return) error) Check {
	return func(r Result) error {
		var errs []error
		open := map[int]trace.Call{}
		for _, e := range r.Trace.Events {
			switch {
			case e.Call != nil && e.Call.Plugin == plugin:
				open[e.Call.ID] = *e.Call
			case e.Return != nil && open[e.Return.ID].Plugin != "":
				if err := do(open[e.Return.ID], *e.Return); err != nil {
					errs = append(errs, fmt.Errorf("%s at %s: %w", open[e.Return.ID].Method, e.At, err))
				}
			}
		}
		return errors.Join(errs...)
	}
}

// All passes a run that all checks pass.
func All(checks ...Check) Check {
	return func(r Result) error {
		var errs []error
		for _, check := range checks {
			errs = append(errs, check(r))
		}
		return errors.Join(errs...)
	}
}
