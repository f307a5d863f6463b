package model

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/velosim/velosim/sim/phase"
)

// Config says what to explore.
type Config struct {
	Machine
	Kind phase.Kind
	// Items of which each may start an operation: 1 to MaxOperations.
	Items  int
	Faults Budget
	// MaxBytes ends the exploration when the states take so much memory, about; 0: no limit.
	MaxBytes int
	// NoSymmetry tells apart states that differ only in the order of operations. Liveness is judged only then.
	NoSymmetry bool
	// Progress is called now and then; nil: not.
	Progress func(Progress)
}

// Progress is how far an exploration has come.
type Progress struct {
	Generated, Distinct, Queue, Depth int
	Elapsed                           time.Duration
	Bytes                             int // of the states and how they were reached, about
}

// String is the progress in a line.
func (p Progress) String() string {
	rate := 0.0
	if s := p.Elapsed.Seconds(); s > 0 {
		rate = float64(p.Generated) / s
	}
	return fmt.Sprintf("%d generated, %d distinct, depth %d, %d to go, %v, %.0f steps/s, %d MiB",
		p.Generated, p.Distinct, p.Depth, p.Queue, p.Elapsed.Round(100*time.Millisecond), rate, p.Bytes>>20)
}

// Report is what an exploration has found.
type Report struct {
	Progress
	// Complete: every reachable state was visited.
	Complete bool
	// Steps counts, for each kind of step, the distinct states that it has led to first, and the steps made.
	Steps map[string]Count
	// Counterexamples are the shortest path to each property's violation, in the order in which they were found.
	Counterexamples []Counterexample
	// Phases that were reached.
	Phases map[phase.Phase]bool
}

// Count is distinct states and steps.
type Count struct{ Distinct, Generated int }

// Counterexample is a path to where a property is violated.
type Counterexample struct {
	Property  string
	Statement string
	Path      []Step
}

// ErrMemory ends an exploration at Config.MaxBytes.
var ErrMemory = errors.New("the limit of memory is reached")

// Explore visits every state that can be reached, breadth first. When ctx ends or the limit is reached, it returns what is
// known, and why.
func Explore(ctx context.Context, c Config) (Report, error) {
	x := newExplorer(c)
	err := x.search(ctx)
	if err == nil && c.NoSymmetry {
		x.liveness()
	}
	x.report.Progress, x.report.Complete = x.progress(), err == nil
	return x.report, err
}

// Start is the state that an exploration begins in.
func (c Config) Start() State { return Initial(c.Kind, c.Items, c.Faults) }

// explorer holds the states visited, by the order in which they were found.
type explorer struct {
	Config
	start  time.Time
	index  map[State]int32
	states []State
	from   []int32 // the state that each was reached from
	by     []Step
	// edges are those without faults. Kept for liveness.
	edges  []edge
	first  []int32 // of each state's edges
	depth  int
	head   int
	levels int // where the current depth ends
	made   int
	broken map[string]bool
	report Report
}

// edge leads to a state without a fault.
type edge struct {
	to   int32
	fair bool
}

func newExplorer(c Config) *explorer {
	x := &explorer{
		Config: c, start: time.Now(), index: map[State]int32{}, broken: map[string]bool{},
		report: Report{Steps: map[string]Count{}, Phases: map[phase.Phase]bool{}},
	}
	x.visit(c.Start(), -1, Step{})
	x.levels = 1
	return x
}

// visit returns the index of the state, and whether it is new.
func (x *explorer) visit(s State, from int32, by Step) (int32, bool) {
	if !x.NoSymmetry {
		s = s.canonical()
	}
	if i, ok := x.index[s]; ok {
		return i, false
	}
	i := int32(len(x.states))
	x.index[s] = i
	x.states = append(x.states, s)
	x.from, x.by = append(x.from, from), append(x.by, by)
	x.report.Phases[s.Object.Phase] = true
	return i, true
}

func (x *explorer) search(ctx context.Context) error {
	for ; x.head < len(x.states); x.head++ {
		if x.head&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if x.Config.Progress != nil {
				x.Config.Progress(x.progress())
			}
			if x.MaxBytes > 0 && x.progress().Bytes >= x.MaxBytes {
				return ErrMemory
			}
		}
		if x.head == x.levels {
			x.depth++
			x.levels = len(x.states)
		}
		x.expand(int32(x.head))
	}
	return nil
}

// expand makes every step that can be made in a state.
func (x *explorer) expand(i int32) {
	before := x.states[i]
	x.first = append(x.first, int32(len(x.edges)))
	goesOn := before.Object.Phase.Final()
	x.Successors(before, func(step Step, after State, effects phase.Effects) {
		goesOn = goesOn || step.Actor != Fault
		x.made++
		j, fresh := x.visit(after, i, step)
		count := x.report.Steps[step.kind()]
		count.Generated++
		if fresh {
			count.Distinct++
		}
		x.report.Steps[step.kind()] = count
		for _, p := range violated(before, step, after, effects) {
			x.found(p, i, &step)
		}
		if x.NoSymmetry && step.Actor != Fault {
			x.edges = append(x.edges, edge{j, step.Actor == Server || step.Actor == Time})
		}
	})
	if !goesOn {
		x.found(stuck(before), i, nil)
	}
}

// found keeps the first, and so the shortest, path to a violation of each property; of a state that is stuck, by each kind of
// step that leads to one.
func (x *explorer) found(p property, at int32, last *Step) {
	key := p.name
	if last == nil {
		key += " " + x.by[at].kind()
	}
	if x.broken[key] {
		return
	}
	x.broken[key] = true
	path := x.path(at)
	if last != nil {
		path = append(path, *last)
	}
	x.report.Counterexamples = append(x.report.Counterexamples, Counterexample{p.name, p.statement, path})
}

// path leads from the first state to i.
func (x *explorer) path(i int32) []Step {
	n := 0
	for j := i; x.from[j] >= 0; j = x.from[j] {
		n++
	}
	path := make([]Step, n)
	for j := i; x.from[j] >= 0; j = x.from[j] {
		n--
		path[n] = x.by[j]
	}
	return path
}

func (x *explorer) progress() Progress {
	const perState = 2*int(unsafe.Sizeof(State{})) + int(unsafe.Sizeof(Step{})) + 12 // in the map and in order
	return Progress{
		Generated: x.made, Distinct: len(x.states), Queue: len(x.states) - x.head, Depth: x.depth,
		Elapsed: time.Since(x.start), Bytes: len(x.states)*perState + len(x.edges)*int(unsafe.Sizeof(edge{})),
	}
}

// kind is what steps are counted by.
func (s Step) kind() string {
	s.Operation = 0
	return s.String()
}
