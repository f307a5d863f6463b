package sched

import (
	"math/rand"
	"time"
)

const (
	latencyChance = 0.05
	latencyMax    = 2000 // milliseconds, so that times stay readable
	// redrawChance is how often the goroutine that just went first gets a new, lower priority.
	redrawChance = 0.1
)

// policy is how a seed chooses among the parked steps. The seed's remainder, divided by four, says which policy it is:
//
//	1  every step is as likely as any other
//	2  the same, and one step in twenty is held back for up to two seconds of virtual time
//	3  actors (see [Process.Step]) have random priorities, which change now and then, as in probabilistic concurrency
//	   testing: one runs far ahead of another
//	0  priorities, and steps held back
type policy struct {
	rng        *rand.Rand
	latency    bool
	priorities map[string]float64 // by actor; nil: none
}

func newPolicy(seed int64, rng *rand.Rand) *policy {
	p := &policy{rng: rng, latency: seed&1 == 0}
	if kind := seed & 3; kind == 3 || kind == 0 {
		p.priorities = map[string]float64{}
	}
	return p
}

// announce sees a step that was just parked.
func (p *policy) announce(c *step, now time.Time) {
	if p.latency && p.rng.Float64() < latencyChance {
		c.notBefore = now.Add(time.Duration(1+p.rng.Intn(latencyMax)) * time.Millisecond)
	}
	if p.priorities == nil {
		return
	}
	if _, ok := p.priorities[c.actor]; !ok {
		p.priorities[c.actor] = p.rng.Float64()
	}
}

// pick chooses one of the ready steps, of which there is at least one.
func (p *policy) pick(ready []*step) *step {
	if p.priorities == nil {
		return ready[p.rng.Intn(len(ready))]
	}
	best := ready[0]
	for _, c := range ready[1:] {
		if p.priorities[c.actor] > p.priorities[best.actor] {
			best = c
		}
	}
	if p.rng.Float64() < redrawChance {
		p.priorities[best.actor] *= p.rng.Float64()
	}
	return best
}
