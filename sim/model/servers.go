package model

import (
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// Contested returns the event from which on two servers work on an object of a trace (backup/NAME or restore/NAME) that know nothing of
// each other; not ok: none do.
func Contested(object string, t trace.Trace) (event int, ok bool) {
	s := newServers(object)
	for i, e := range t.Events {
		if event, ok := s.contest(i, e); ok {
			return event, true
		}
	}
	return 0, false
}

// servers follows which servers run, and which of them have acted on an object.
type servers struct {
	object string
	up     map[int]bool // by incarnation
	acted  map[int]int  // the last event of each that has
	phase  string
}

func newServers(object string) *servers {
	return &servers{object: object, up: map[int]bool{}, acted: map[int]int{}}
}

// contest takes an event in, and reports whether two servers are at work on the object, and since which event: one has just acted on it
// while another runs that has; or one has ended in the middle of what it did to it last while another runs, which marks what is InProgress
// when it starts, and never again.
func (s *servers) contest(event int, e trace.Event) (since int, ok bool) {
	by := e.Incarnation
	if p := e.Process; p != nil && p.Name == "server" {
		if p.State == "started" {
			s.up[by] = true
			return 0, false
		}
		delete(s.up, by)
		since, acted := s.acted[by]
		at, err := phase.Parse(s.phase)
		return since, acted && len(s.up) > 0 && err == nil && !at.Final()
	}
	if e.Object != s.object || !s.up[by] || e.Phase == nil && e.Deleted == nil && e.Call == nil && (e.Write == nil || e.Write.Error != "") {
		return 0, false
	}
	if e.Phase != nil {
		s.phase = e.Phase.To
	}
	s.acted[by] = event
	for other := range s.up {
		if _, acted := s.acted[other]; acted && other != by {
			return event, true
		}
	}
	return 0, false
}
