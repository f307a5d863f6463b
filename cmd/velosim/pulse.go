package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/velosim/velosim/sim/trace"
)

// pulse says on stderr what goes on while nothing else is printed: a run may wait for minutes.
type pulse struct {
	now   func() time.Time
	start time.Time
	jobs  int
	bar   *progressbar.ProgressBar // takes the place of the line; nil: none

	mu      sync.Mutex // guards what follows
	line    *line
	ended   int
	running []*recorder
}

func newPulse(c *cli, jobs int) *pulse {
	p := &pulse{now: c.now, start: c.now(), jobs: jobs, line: newLine(c.drawn, c.terminal, c.now)}
	if f, ok := c.drawn.(*os.File); ok && c.terminal {
		p.line.columns, _, _ = term.GetSize(int(f.Fd())) // 0: not known
	}
	return p
}

// beats looks every second, until stop.
func (p *pulse) beats() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.beat()
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.line.clear()
	}
}

// beat shows what goes on, if it is time to.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := p.now().Sub(p.start).Round(time.Second)
	switch {
	case p.bar != nil:
		p.bar.Describe(fmt.Sprintf("running, %v", elapsed))
	case len(p.running) == 0:
	case p.jobs == 1:
		p.line.show(string(escape([]byte(p.running[0].waits(p.now())))))
	default:
		var names []string
		for _, r := range p.running {
			names = append(names, r.header.Scenario)
		}
		p.line.show(fmt.Sprintf("%v: %d of %s ended; running: %s", elapsed, p.ended, count(p.jobs, "run"), strings.Join(names, ", ")))
	}
}

// follow takes a run in, until its end.
func (p *pulse) follow(r *recorder) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, r)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended++
		p.running = slices.DeleteFunc(p.running, func(other *recorder) bool { return other == r })
	}
}

// between is a writer to the same terminal: what it prints takes the line's place.
func (p *pulse) between(w io.Writer) io.Writer { return interruption{p, w} }

type interruption struct {
	*pulse
	w io.Writer
}

// Write implements io.Writer.
func (i interruption) Write(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.line.clear()
	i.line.last = i.now()
	return i.w.Write(b)
}

// waits says what the run waits for, how long it has gone on for, and until when it can.
func (r *recorder) waits(now time.Time) string {
	r.mu.Lock()
	t, elapsed := trace.Trace{Header: r.header, Events: r.events}, now.Sub(r.began).Round(time.Second)
	r.mu.Unlock()
	if len(t.Events) == 0 && r.bound != 0 {
		return fmt.Sprintf("%v: the control plane starts", elapsed)
	}
	what := "the server starts"
	if last := t.Events[max(0, len(t.Events)-1):]; len(last) > 0 && last[0].Incarnation == 0 && last[0].Object != "" { // no server is there to start
		what = last[0].Object + " is under way"
	}
	for _, o := range trace.Describe(t, t.Last()).Objects {
		if o.Created < 0 { // no user waits for it
			continue
		}
		what = o.Name + " has ended"
		if len(o.Waiting) > 0 {
			what = o.Name + " waits for " + o.Waiting[0].String()
			break
		}
	}
	if r.bound != 0 {
		what += fmt.Sprintf("; the run ends at %v at the latest", r.bound)
	}
	return fmt.Sprintf("%v: %s", elapsed, what)
}
