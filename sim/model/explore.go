package model

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/velosim/velosim/sim/phase"
)

// Config says what to explore.
type Config struct {
	Machine
	Kind phase.Kind
	// Items of which each may start an operation: 1 to MaxOperations.
	Items  int
	Faults Budget
	// Actions: three plugins have pre- and post-actions, two of them both, and the third a post-action alone.
	Actions bool
	// MaxBytes ends the exploration when the process takes so much memory; 0: no limit.
	MaxBytes uint64
	// NoSymmetry tells apart states that differ only in the order of operations. Liveness is judged only then.
	NoSymmetry bool
	// Progress is called now and then; nil: not.
	Progress func(Progress)
}

// Progress is how far an exploration has come.
type Progress struct {
	Generated, Distinct, Queue, Depth int
	Elapsed                           time.Duration
	// Bytes of memory that the process takes.
	Bytes uint64
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
	// Edges are the changes of phase that were made. Where a legal one is missing, nothing was shown of it.
	Edges map[phase.Edge]bool
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
		err = x.liveness(ctx)
	}
	x.report.Progress, x.report.Complete = x.progress(), err == nil
	return x.report, err
}

// Start is the state that an exploration begins in.
func (c Config) Start() State {
	s := Initial(c.Kind, c.Items, c.Faults)
	if c.Actions {
		s.Object.Actions = explored()
	}
	return s
}

// explorer holds the states visited, by the order in which they were found.
type explorer struct {
	Config
	start  time.Time
	index  map[State]int32
	states []State
	from   []int32 // the state that each was reached from
	by     []Step
	// edges lead on without faults from the states in which no deadline passes. Kept for liveness.
	edges  []int32
	first  []int32 // of each state's edges
	depth  int
	head   int
	levels int // where the current depth ends
	made   int
	broken map[string]bool
	report Report
}

func newExplorer(c Config) *explorer {
	x := &explorer{
		Config: c, start: time.Now(), index: map[State]int32{}, broken: map[string]bool{},
		report: Report{Steps: map[string]Count{}, Edges: map[phase.Edge]bool{}},
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
	goesOn, timed := ended(before.Object), false
	x.Successors(before, func(step Step, after State, effects phase.Effects) {
		goesOn = goesOn || step.Actor.leads()
		x.made++
		if edge := (phase.Edge{From: before.Object.Phase, To: after.Object.Phase}); edge.From != edge.To {
			x.report.Edges[edge] = true
		}
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
		if x.NoSymmetry && step.Actor.leads() {
			x.edges = append(x.edges, j)
			timed = timed || step.Actor == Time
		}
	})
	if timed {
		x.edges = x.edges[:x.first[i]] // nobody stays where a deadline passes
	}
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
	return Progress{
		Generated: x.made, Distinct: len(x.states), Queue: len(x.states) - x.head, Depth: x.depth,
		Elapsed: time.Since(x.start), Bytes: memory(),
	}
}

// memory is how many bytes the process has from the system.
func memory() uint64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return m[0].Value.Uint64() - m[1].Value.Uint64()
}

// kind is what steps are counted by.
func (s Step) kind() string {
	s.Operation = 0
	return s.String()
}
