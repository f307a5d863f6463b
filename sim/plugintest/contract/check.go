package contract

import (
	"slices"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Check is a demand of the contract.
type Check struct {
	// Name, Demands, Source, Velero and Fix are as in Checked.
	Name, Demands, Source, Velero, Fix string
	judge                              func(*seen) (Outcome, []string)
}

// Suite is all checks, in their order.
func Suite() []Check {
	return slices.Concat(processChecks(), itemChecks(), operationChecks(), cancelChecks(), serverChecks())
}

// Named is the check of that name; not ok: there is none.
func Named(name string) (c Check, ok bool) {
	all := Suite()
	i := slices.IndexFunc(all, func(c Check) bool { return c.Name == name })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

// Judge is what the suite says of the plugin executable: of all plugins that it registers.
func Judge(plugin string, e Evidence) Card {
	card := Card{Plugin: plugin}
	headers := []trace.Header{e.Direct.Header}
	for _, r := range e.Runs {
		headers = append(headers, r.Trace.Header)
	}
	for _, h := range headers {
		if h.World != "" {
			card.World, card.Velero, card.Build = h.World, h.Velero, h.Build
		}
	}
	s := fold(e, func(name string) bool { return name != "server" })
	for _, p := range s.plugins {
		card.Registers = append(card.Registers, p.Kind+" "+p.Name)
	}
	for _, c := range Suite() {
		card.Checks = append(card.Checks, c.checked(s))
	}
	return card
}

// Of is what the check says of the plugin with that name, in the runs alone.
func (c Check) Of(plugin string, runs ...Run) Checked {
	return c.checked(fold(Evidence{Runs: runs}, func(name string) bool { return name == plugin }))
}

func (c Check) checked(s *seen) Checked {
	outcome, evidence := c.judge(s)
	const most = 4
	if more := len(evidence) - most; more > 0 {
		evidence = append(evidence[:most:most], "and "+plural(more, "other"))
	}
	for i, line := range evidence {
		evidence[i] = shortened(line)
	}
	return Checked{Name: c.Name, Demands: c.Demands, Source: c.Source, Outcome: outcome, Evidence: evidence, Velero: c.Velero, Fix: c.Fix}
}

// failing is Fail, if there are reasons; else Pass for those that were looked at; and of what there was nothing to look at, nothing.
func failing(reasons []string, looked int, what string) (Outcome, []string) {
	switch {
	case len(reasons) > 0:
		return Fail, reasons
	case looked == 0:
		return NotApplicable, []string{"there was no " + what}
	}
	return Pass, []string{plural(looked, what)}
}

// each looks at each of some things, for a reason why it is not as it should be; empty: there is none.
func each[T any](things []T, what string, wrong func(T) string) (Outcome, []string) {
	var reasons []string
	for _, thing := range things {
		if reason := wrong(thing); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return failing(reasons, len(things), what)
}

// acts reports whether the plugin is called for items at all.
func (s *seen) acts() bool {
	return slices.ContainsFunc(s.plugins, func(p trace.Plugin) bool {
		switch scenario.Action(trimV2(p.Kind)) {
		case scenario.BackupItemAction, scenario.RestoreItemAction, scenario.DeleteItemAction:
			return true
		}
		return false
	})
}
