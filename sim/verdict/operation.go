package verdict

// outcome is what became of an operation, as far as Velero can know.
type outcome int

const (
	running outcome = iota
	completed
	failed // its plugin said so, or Progress returned an error
	cancelled
)

// outcome of the operation by that event: what the last Progress to return has said, or that Cancel was called.
func (o *object) outcome(op *operation, event int) outcome {
	out := running
	for _, c := range o.calls {
		if c.Operation != op.id || c.event > event {
			continue
		}
		switch {
		case c.Method == cancel:
			out = cancelled
		case c.Method == progress && c.reply != nil && c.replied <= event:
			out = c.progressed()
		}
	}
	return out
}

// progressed is the outcome that a reply to Progress tells of.
func (c *call) progressed() outcome {
	p := c.reply.Progress
	switch {
	case c.reply.Error != "" || c.reply.Panic:
		return failed
	case p == nil || !p.Completed:
		return running
	case p.Error != "":
		return failed
	}
	return completed
}
