package model

import (
	"context"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// Replay walks a path in another machine and reports whether it leads to a violation of the property there too: the step that
// violates it can be made, or the state at the end is stuck.
func (m Machine) Replay(start State, c Counterexample) bool {
	s := start
	for n, step := range c.Path {
		last, made, violates := n == len(c.Path)-1, false, false
		before, next := s, s
		m.Successors(before, func(other Step, after State, effects phase.Effects) {
			if other != step || made {
				return
			}
			made, next = true, after
			for _, p := range violated(before, step, after, effects) {
				violates = violates || last && p.name == c.Property
			}
		})
		if !made {
			return false
		}
		if violates {
			return true
		}
		s = next
	}
	return !m.goesOn(s) && stuck(s).name == c.Property
}

// goesOn reports whether the object has ended, or something that is no fault leads on.
func (m Machine) goesOn(s State) bool {
	on := s.Object.Phase.Final()
	m.Successors(s, func(step Step, _ State, _ phase.Effects) {
		on = on || step.Actor != Fault && step.Actor != User
	})
	return on
}

// Causes are the rules without whose deviation the counterexample, which exploring c in the reading has found, would be none.
func Causes(ctx context.Context, c Config, rules phase.Rules, x Counterexample) []phase.Rule {
	if !c.shows(ctx, rules, x) {
		return nil
	}
	var causes []phase.Rule
	for _, rule := range phase.All() {
		if rule.Deviates(rules) && !c.shows(ctx, rules.Without(rule), x) {
			causes = append(causes, rule)
		}
	}
	return causes
}

// shows reports whether a reading has the counterexample. A cycle without an end is no path that could be replayed: all is
// explored again.
func (c Config) shows(ctx context.Context, rules phase.Rules, x Counterexample) bool {
	c.Spec, c.Progress = rules, nil
	if !strings.HasSuffix(x.Property, inTheEnd) {
		return c.Replay(c.Start(), x)
	}
	report, err := Explore(ctx, c)
	return err != nil || slices.ContainsFunc(report.Counterexamples, func(y Counterexample) bool { return y.Property == x.Property })
}
