package cluster

import (
	"slices"
	"sync"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Points counts how often the points of a scenario's faults are passed, and those at which objects are created. It is safe for
// concurrent use.
type Points struct {
	faults []scenario.Fault
	mu     sync.Mutex
	passed map[string]int       // by fault
	until  map[string]time.Time // by fault that strikes for a time
}

// NewPoints has seen none pass.
func NewPoints(s *scenario.Scenario) *Points {
	p := &Points{faults: slices.Clone(s.Faults), passed: map[string]int{}, until: map[string]time.Time{}}
	for i := range p.faults {
		f := &p.faults[i]
		f.At.After = f.At.After || f.Do.LoseReply
	}
	create := func(object string, at *scenario.Point) {
		if at != nil {
			p.faults = append(p.faults, scenario.Fault{ID: object, At: *at, Do: scenario.Do{Create: object}})
		}
	}
	for _, b := range s.Backups {
		create("backup/"+b.Name, b.At)
	}
	for _, x := range s.Restores {
		create("restore/"+x.Name, x.At)
	}
	return p
}

// Phase returns the faults that strike as the object was written with this phase.
func (p *Points) Phase(object, phase string) []scenario.Fault {
	return p.pass(func(at scenario.Point) bool { return at.Phase == phase && at.Object == object })
}

// Call returns the faults that strike at this call, before (after false) or after it has had its effect.
func (p *Points) Call(c trace.Call, after bool) []scenario.Fault {
	return p.pass(func(at scenario.Point) bool {
		return at.Call != nil && at.Call.Plugin == c.Plugin && at.Call.Method == c.Method && (at.Call.Phase == "" || at.Call.Phase == c.Phase) && at.After == after
	})
}

// Access returns the faults that strike at this access to the object at bucket/key, before or after it.
func (p *Points) Access(verb, path string, after bool) []scenario.Fault {
	return p.pass(func(at scenario.Point) bool {
		return at.Store != nil && at.Store.Verb == verb && Bucket+"/"+at.Store.Key == path && at.After == after
	})
}

// Write returns the faults that strike at this write, before (after false) or after it was applied.
func (p *Points) Write(w Write, after bool) []scenario.Fault {
	return p.pass(func(at scenario.Point) bool { return at.Write != nil && w.is(*at.Write) && at.After == after })
}

func (p *Points) pass(is func(scenario.Point) bool) (strike []scenario.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		if !is(f.At) {
			continue
		}
		p.passed[f.ID]++
		if p.strikes(f) {
			strike = append(strike, f)
		}
	}
	return strike
}

// strikes reports whether a fault does at this passage of its point.
func (p *Points) strikes(f scenario.Fault) bool {
	n := p.passed[f.ID] - max(f.At.Nth, 1)
	switch {
	case n < 0:
		return false
	case f.For.Duration == 0:
		return n < max(f.Times, 1)
	case n == 0:
		p.until[f.ID] = time.Now().Add(f.For.Duration)
	}
	return time.Now().Before(p.until[f.ID])
}
