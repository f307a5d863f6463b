package verdict

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// poller is the operations controller of a kind, which asks one object after the other. While it is in a call for one, it can ask none.
type poller struct {
	*watch
	open []*call // for objects that wait
	// free is how long it was in no call, up to counted.
	free    time.Duration
	counted trace.Time
}

// idle is how long the controller has been in no call. One that should have been given up keeps it no longer.
func (p *poller) idle() time.Duration {
	from := p.counted
	for _, c := range p.open {
		if !p.deadline {
			from = p.at
		}
		from = max(from, c.at+p.run.deadline())
	}
	p.free += time.Duration(max(0, p.at-from))
	p.counted = p.at
	return p.free
}

func (p *poller) begin(c *call) {
	p.idle()
	p.open = append(p.open, c)
}

func (p *poller) end(is func(*call) bool) {
	p.idle()
	p.open = slices.DeleteFunc(p.open, is)
}
