package virtual

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// Seeded tells whether the test is built with a Go runtime whose chance follows a seed.
var Seeded = bubbleSeed != 0

// Player is a test in the user's place. What it reports is an error: a test must not fail inside the bubble.
type Player struct {
	client.Client
	run *run
	ctx context.Context
}

// Play is Run with a user that plays when the location is available; the run then settles.
func (w *World) Play(ctx context.Context, job world.Job, sink func(trace.Event) error, play func(*Player) error) (trace.End, error) {
	return w.run(ctx, job, sink, func(r *run, ctx context.Context) (trace.End, error) {
		p := &Player{r.userClient(), r, ctx}
		if err := p.Until(time.Hour, cluster.LocationObject, "Available"); err != nil {
			return trace.End{}, err
		}
		if err := errors.Join(p.Wait(pause), play(p)); err != nil {
			return trace.End{}, err
		}
		end := r.settle(ctx)
		if end.Reason != trace.Settled {
			return end, fmt.Errorf("the run has not settled; phases are %v", r.phases)
		}
		return end, nil
	})
}

// Until lets the server act until the object has one of the phases.
func (p *Player) Until(within time.Duration, object string, phases ...string) error {
	return p.UntilTrue(within, object+" is "+strings.Join(phases, " or "), func() bool {
		for _, phase := range phases {
			if p.run.phases[object] == phase {
				return true
			}
		}
		return false
	})
}

// UntilTrue lets the server act until done.
func (p *Player) UntilTrue(within time.Duration, what string, done func() bool) error {
	if end, ok := p.run.advance(p.ctx, done, time.Now().Add(within)); !ok {
		return fmt.Errorf("not within %v that %s: %+v; phases are %v", within, what, end, p.run.phases)
	}
	return nil
}

// Completed is how many objects are.
func (p *Player) Completed() (n int) {
	for _, phase := range p.run.phases {
		if phase == "Completed" {
			n++
		}
	}
	return n
}

// Wait lets the server act for a while.
func (p *Player) Wait(d time.Duration) error {
	if end, ok := p.run.wait(p.ctx, d); !ok {
		return fmt.Errorf("the run has ended: %+v", end)
	}
	return nil
}

// Kill kills the server; another one starts later.
func (p *Player) Kill(restartAfter time.Duration) {
	p.run.kill(p.run.current(), restartAfter)
}

// Stored are the keys of the object store that begin so.
func (p *Player) Stored(prefix string) (keys []string) {
	for _, key := range sortedKeys(p.run.objects) {
		if strings.HasPrefix(key, cluster.Bucket+"/"+prefix) {
			keys = append(keys, strings.TrimPrefix(key, cluster.Bucket+"/"))
		}
	}
	return keys
}

// Object is what the object store has at the key.
func (p *Player) Object(key string) []byte { return p.run.objects[cluster.Bucket+"/"+key] }

// BeDear makes the server do without what makes waiting cheap.
func (w *World) BeDear() { w.dear = true }

// Act makes actions that are called once for a backup or restore do this in place of their scripts, with a client of the server that calls
// them: it dies with the server, and faults strike its writes.
func (w *World) Act(do func(ctx context.Context, c client.Client, script scenario.Plugin, object metav1.Object) error) {
	w.act = do
}
