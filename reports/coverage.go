package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// Coverage is which of the legal transitions of one kind the runs on one target have made.
type Coverage struct {
	// Kind is backup or restore, whose transitions are changes of phase; or backup actions or restore actions, whose are also changes of
	// the state of pre- and post-actions, and which is left out where no run has those.
	Kind string `json:"kind"`
	Target
	// Transitions that are legal in some reading of the specification, or were seen, in order.
	Transitions []Transition `json:"transitions"`
}

// Transition is a change of phase, or of the state of an action.
type Transition struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Of is PreBackupAction, PostBackupAction and so on, for changes of an action's state.
	Of     string `json:"of,omitempty"`
	Status Status `json:"status"`
	// Inputs of sim/phase that make it, on this release, in order.
	Inputs []string `json:"inputs,omitempty"`
	// Deviation: the release makes it, and it is not as demanded.
	Deviation bool `json:"deviation,omitempty"`
	// Reason why no run makes it, for Unreachable: it is velosim's, and not observed. For Outside, the rules.
	Reason string `json:"reason,omitempty"`
	// Runs that made it, and the names of their scenarios, in order.
	Runs      int      `json:"runs"`
	Scenarios []string `json:"scenarios,omitempty"`
}

// Name is how a transition is printed, and known in a baseline.
func (t Transition) Name() string {
	return strings.TrimSpace(t.Of + " " + t.From + " → " + t.To)
}

// Status of a transition.
type Status string

// What a transition can be.
const (
	// Covered: runs have made it, and it is legal.
	Covered Status = "covered"
	// Uncovered: it is legal on the release, and no run has made it.
	Uncovered Status = "uncovered"
	// Unreachable: the release does not make it, or no run on this world can, for a stated reason.
	Unreachable Status = "unreachable"
	// Outside: known deviations have made it, such as after a stale read, where the specification follows an object no further.
	Outside Status = "outside"
	// Illegal: other runs have made it, and the release does not allow it.
	Illegal Status = "illegal"
)

// Reachable are the transitions that the runs should cover, and how many of them they do.
func (c Coverage) Reachable() (covered, reachable int) {
	return c.count(func(Transition) bool { return true })
}

// Demanded are those of them that are as demanded, and no deviation.
func (c Coverage) Demanded() (covered, reachable int) {
	return c.count(func(t Transition) bool { return !t.Deviation })
}

// Summary says how much is covered: 27 of 28 transitions, 96 %; of those that a deviation makes 3 of 17.
func (c Coverage) Summary() string {
	covered, reachable := c.Demanded()
	all, of := c.Reachable()
	s := fmt.Sprintf("%d of %d covered, %.0f %%", covered, reachable, percent(covered, reachable))
	if of > reachable {
		s += fmt.Sprintf("; of those that a deviation makes %d of %d", all-covered, of-reachable)
	}
	return s
}

func (c Coverage) count(of func(Transition) bool) (covered, reachable int) {
	for _, t := range c.Transitions {
		switch {
		case !of(t):
		case t.Status == Covered:
			covered++
			reachable++
		case t.Status == Uncovered:
			reachable++
		}
	}
	return covered, reachable
}

// change is a transition without what is known of it.
type change struct{ of, from, to string }

// scope is what a coverage is of.
type scope struct {
	Target
	kind string
}

// coverage is what runs have made.
type coverage map[scope]map[change]*maker

// maker are the runs that have made a change.
type maker struct {
	runs    map[string]int  // by scenario
	rules   map[string]bool // of those that are known deviations
	another bool            // one is none
}

func (c coverage) add(r Result) {
	for _, kind := range []phase.Kind{phase.Backup, phase.Restore} {
		c.scope(r.Target(), kind.String()) // so that what was not seen is told
	}
	for kind, changes := range r.changes {
		made := c.scope(r.Target(), kind)
		for change := range changes {
			if made[change] == nil {
				made[change] = &maker{runs: map[string]int{}, rules: map[string]bool{}}
			}
			made[change].runs[r.Scenario]++
			made[change].another = made[change].another || len(r.Deviations) == 0
			for _, rule := range r.Deviations {
				made[change].rules[rule] = true
			}
		}
	}
}

func (c coverage) scope(target Target, kind string) map[change]*maker {
	s := scope{target, kind}
	if c[s] == nil {
		c[s] = map[change]*maker{}
	}
	return c[s]
}

// all are the coverages of each target and kind, in order.
func (c coverage) all() []Coverage {
	all := []Coverage{}
	for s, made := range c {
		all = append(all, cover(s, legal(s), made))
	}
	slices.SortFunc(all, func(a, b Coverage) int {
		return cmp.Or(a.Target.Compare(b.Target), cmp.Compare(len(a.Kind), len(b.Kind)), strings.Compare(a.Kind, b.Kind))
	})
	return all
}

// cover adds what was made to the transitions that are legal.
func cover(s scope, all map[change]Transition, made map[change]*maker) Coverage {
	for change, by := range made {
		if t, ok := all[change]; ok && t.Status == Uncovered {
			continue
		}
		all[change] = Transition{Status: Illegal}
		if !by.another {
			all[change] = Transition{Status: Outside, Reason: "by " + strings.Join(slices.Sorted(maps.Keys(by.rules)), ", ")}
		}
	}
	c := Coverage{Kind: s.kind, Target: s.Target}
	for _, change := range slices.SortedFunc(maps.Keys(all), compareChanges) {
		t := all[change]
		t.Of, t.From, t.To = change.of, change.from, change.to
		if by := made[change]; by != nil {
			for _, scenario := range slices.Sorted(maps.Keys(by.runs)) {
				t.Runs += by.runs[scenario]
				t.Scenarios = append(t.Scenarios, scenario)
			}
		}
		switch reason := unreachable(s, change); {
		case t.Status != Uncovered:
		case t.Runs > 0:
			t.Status = Covered
		case reason != "":
			t.Status, t.Reason = Unreachable, reason
		}
		c.Transitions = append(c.Transitions, t)
	}
	return c
}

// compareChanges orders by the places of phases and states in a run.
func compareChanges(a, b change) int {
	return cmp.Or(strings.Compare(b.of, a.of), cmp.Compare(rank(a.from), rank(b.from)), cmp.Compare(rank(a.to), rank(b.to)), strings.Compare(a.to, b.to))
}

// rank is the place of a phase, or the state of an action, in a run.
func rank(name string) int {
	if p, err := phase.Parse(name); err == nil {
		return int(p)
	}
	for s := phase.NoAction; s <= phase.ActionFailed; s++ {
		if s.String() == name {
			return int(s)
		}
	}
	return -1
}
