package scenario

// onServer checks what is done to the server.
func (l *linter) onServer(path string, d Do) {
	l.positive(path+".pause", d.Pause.Duration == 0)
	if d.Rollout != nil && d.Rollout.Overlap.Duration == 0 && l.has(path+".rollout.overlap") {
		l.complain(path+".rollout.overlap", "must be greater than zero, as both servers run then; write \"kill: {restartAfter: 0s}\" for one after the other")
	}
}

// rivals tells whether two faults at a point do what only one of them can do to the server: one that is killed is neither paused nor
// replaced, and it is paused, or replaced, once.
func rivals(a, b Do) bool {
	if a.lasting() == nil || b.lasting() == nil {
		return false
	}
	return a.Kill != nil || b.Kill != nil || (a.Rollout == nil) == (b.Rollout == nil)
}
