package model

import (
	"slices"

	"github.com/velosim/velosim/sim/phase"
)

// MaxOperations is how many item operations the model can follow one by one.
const MaxOperations = 6

// State is one object and what surrounds it: the operations in their plugins, the deadlines that have passed, how far the
// server is in what it does, and the faults that may still strike. It is comparable.
type State struct {
	Object phase.State
	// Items that are left to be backed up or restored.
	Items uint8
	// Operations that Execute has started: the first so many of Ops, in the order of their deadlines.
	Started uint8
	Ops     [MaxOperations]Op
	// Expired operations, the oldest ones, are past their deadline.
	Expired uint8
	// Asked is how many of the operations the pass under way has come to; InPass: there is one. Of a finalizer it is how many
	// items it has given up backing up again.
	Asked  uint8
	InPass bool
	// Crash: the server may die now, as something that others see has just happened.
	Crash bool
	// Left are the faults that may still strike.
	Left Budget
}

// Budget is how many faults may strike.
type Budget struct{ Crashes, API, Store uint8 }

// Op is an item operation: what the server's memory has, what the object store has, and what its plugin has said.
type Op struct {
	Memory, Stored, Said Outcome
	// Erred: its last Progress has returned an error, and is retried. How often, the model does not count: once stands for
	// every bound.
	Erred bool
}

// Outcome of an operation. The zero value: it runs.
type Outcome uint8

// The outcomes.
const (
	Running Outcome = iota
	Completed
	Failed
)

// Initial is the state of an object that was just created, with so many items.
func Initial(k phase.Kind, items int, faults Budget) State {
	return State{Object: phase.Initial(k), Items: uint8(items), Left: faults}
}

// ops are the operations that were started.
func (s *State) ops() []Op { return s.Ops[:s.Started] }

// forget is what the operations are to the next server.
func (s *State) forget() {
	for i := range s.ops() {
		s.Ops[i].Memory, s.Ops[i].Erred = s.Ops[i].Stored, false
	}
	s.InPass, s.Asked = false, 0
}

// save is what the end of a pass uploads.
func (s *State) save() {
	for i := range s.ops() {
		s.Ops[i].Stored = s.Ops[i].Memory
	}
}

// canonical is the state that stands for all that differ from s in the order of operations which nothing tells apart: those
// on the same side of the deadlines and of the pass.
func (s State) canonical() State {
	bounds := []int{0, int(s.Expired), int(s.Asked), int(s.Started)}
	if i := s.hung(); i > 0 {
		bounds = append(bounds, int(i)-1)
	}
	slices.Sort(bounds)
	for i := 1; i < len(bounds); i++ {
		slices.SortFunc(s.Ops[bounds[i-1]:bounds[i]], Op.compare)
	}
	return s
}

func (o Op) compare(p Op) int {
	return int(o.rank()) - int(p.rank())
}

func (o Op) rank() uint8 {
	rank := uint8(o.Memory)<<4 | uint8(o.Stored)<<2 | uint8(o.Said)
	if o.Erred {
		rank |= 1 << 6
	}
	return rank
}
