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
		after, effects, ok := m.follow(s, step)
		if !ok {
			return false
		}
		named := func(p property) bool { return p.name == c.Property }
		if n == len(c.Path)-1 && slices.ContainsFunc(violated(s, step, after, effects), named) {
			return true
		}
		s = after
	}
	return !m.goesOn(s) && stuck(s).name == c.Property
}

// follow makes one step; not ok: it cannot be made in s.
func (m Machine) follow(s State, step Step) (after State, effects phase.Effects, ok bool) {
	m.Successors(s, func(other Step, next State, made phase.Effects) {
		if other == step {
			after, effects, ok = next, made, true
		}
	})
	return after, effects, ok
}

// goesOn reports whether the object has ended, or something that is no fault leads on.
func (m Machine) goesOn(s State) bool {
	on := ended(s.Object)
	m.Successors(s, func(step Step, _ State, _ phase.Effects) {
		on = on || step.Actor.leads()
	})
	return on
}

// Causes are the rules without whose deviation the counterexample, which exploring c in the reading has found, would be none. A cycle
// without an end is no path that could be replayed: all is explored again, and the error says why that was cut off.
func Causes(ctx context.Context, c Config, rules phase.Rules, x Counterexample) ([]phase.Rule, error) {
	if shown, err := c.shows(ctx, rules, x); !shown {
		return nil, err
	}
	var causes []phase.Rule
	for _, rule := range phase.All() {
		if !rule.Deviates(rules) {
			continue
		}
		shown, err := c.shows(ctx, rules.Without(rule), x)
		switch {
		case err != nil:
			return nil, err
		case !shown:
			causes = append(causes, rule)
		}
	}
	return causes, nil
}

// shows reports whether a reading has the counterexample.
func (c Config) shows(ctx context.Context, rules phase.Rules, x Counterexample) (bool, error) {
	c.Spec, c.Progress = rules, nil
	if !strings.HasSuffix(x.Property, inTheEnd) {
		return c.Replay(c.Start(), x), nil
	}
	report, err := Explore(ctx, c)
	return slices.ContainsFunc(report.Counterexamples, func(y Counterexample) bool { return y.Property == x.Property }), err
}
