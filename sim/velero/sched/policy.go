package sched

import (
	"math/rand"
	"time"
)

const latencyMax = 2000 // milliseconds, so that times stay readable

// policy is how a seed chooses among the parked steps. The seed's remainder, divided by four, says which policy it is:
//
//	1  every step is as likely as any other
//	2  the same, and now and then a step is held back for up to two seconds of virtual time: one in 20 to one in 160, as the
//	   seed chooses
//	3  priorities, as in probabilistic concurrency testing (Burckhardt et al., "A Randomized Scheduler with Probabilistic
//	   Guarantees of Finding Bugs", ASPLOS 2010): an actor (see [Process.Step]) gets a random priority, and the highest one
//	   goes first. At change points the one that goes becomes the lowest of all, so that it stays far behind the others. The
//	   number of steps is not known beforehand, as it is there: change points come by chance, and how often is the seed's
//	   choice, from one step in 8 to one in 1,024
//	0  priorities, and steps held back
type policy struct {
	rng        *rand.Rand
	latencies  int               // one step in so many is held back; 0: none
	priorities map[actor]float64 // nil: none
	changes    int               // one step in so many is a change point
	lowest     float64
}

// actor is who acts in a process. Another process with the same controllers has priorities of its own.
type actor struct {
	proc *Process
	name string
}

func newPolicy(seed int64) *policy {
	p := &policy{rng: rand.New(rand.NewSource(seed))}
	if seed&1 == 0 {
		p.latencies = 20 << p.rng.Intn(4)
	}
	if kind := seed & 3; kind == 3 || kind == 0 {
		p.priorities = map[actor]float64{}
		p.changes = 8 << p.rng.Intn(8)
	}
	return p
}

// announce sees a step that was just parked.
func (p *policy) announce(c *step, now time.Time) {
	if p.latencies > 0 && p.rng.Intn(p.latencies) == 0 {
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
		return p.any(ready)
	}
	highest := ready[:1:1]
	for _, c := range ready[1:] {
		switch mine, best := p.priorities[c.actor], p.priorities[highest[0].actor]; {
		case mine > best:
			highest = []*step{c}
		case mine == best: // goroutines of one actor
			highest = append(highest, c)
		}
	}
	c := p.any(highest)
	if p.rng.Intn(p.changes) == 0 {
		p.lowest--
		p.priorities[c.actor] = p.lowest
	}
	return c
}

func (p *policy) any(steps []*step) *step {
	if len(steps) == 1 {
		return steps[0]
	}
	return steps[p.rng.Intn(len(steps))]
}
