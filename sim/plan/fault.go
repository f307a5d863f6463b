package plan

import (
	"fmt"

	"github.com/velosim/velosim/sim/scenario"
)

// fault is one that may strike at a step.
type fault struct {
	family Family
	action string
	what   string // happens, in a sentence
	at     scenario.Point
	do     scenario.Do
	script *scenario.Behaviour // of the plugin's method, instead
}

// refusal is the reason for which a write is refused: every verb knows it, and no client tries again by itself.
const refusal = "InternalError"

// faults are those that may strike at a step.
func faults(s Step) []fault {
	after := s.At
	after.After = true
	kills := []fault{
		{family: Kill, action: "kill-before", what: "the server is killed just before it " + s.tells, at: s.At, do: scenario.Do{Kill: &scenario.Kill{}}},
		{family: Kill, action: "kill-after", what: "the server is killed just after it " + s.tells, at: after, do: scenario.Do{Kill: &scenario.Kill{}}},
	}
	switch {
	case s.At.Write != nil:
		return append(kills,
			fault{family: Refuse, action: "refuse", what: "the API server refuses once that Velero " + s.tells, at: s.At, do: scenario.Do{Refuse: refusal}},
			fault{family: LoseReply, action: "lose-reply-of", what: "the reply is lost as Velero " + s.tells, at: s.At, do: scenario.Do{LoseReply: true}},
		)
	case s.At.Store != nil:
		fails := fault{family: Store, action: "fail", what: "the object store fails once as Velero " + s.tells, at: s.At, do: scenario.Do{Fail: "service unavailable"}}
		if verb := s.At.Store.Verb; verb == "put" || verb == "delete" {
			return append(kills, fails)
		}
		return []fault{fails}
	}
	var all []fault
	for _, b := range []struct {
		action, what string
		scenario.Behaviour
	}{
		{"fail", "fails", scenario.Behaviour{Error: "it failed"}},
		{"hang", "hangs", scenario.Behaviour{Hang: true}},
		{"panic", "panics", scenario.Behaviour{Panic: "it panicked"}},
	} {
		if b.Times = 1; s.nth > 1 { // else it is the default
			b.Nth = s.nth
		}
		all = append(all, fault{family: Plugin, action: b.action, what: fmt.Sprintf("%s %s", s.tells, b.what), script: &b.Behaviour})
	}
	return append(all, fault{family: Plugin, action: "crash", what: "the plugin's process ends at " + s.tells, at: s.At, do: scenario.Do{Crash: &scenario.Crash{}}})
}
