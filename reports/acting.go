package reports

import (
	"strings"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// acting are the pre- and post-actions that a run has called.
type acting map[action]*acted

type action struct {
	object, plugin string
	pre            bool
}

// acted is what is known of an action: its last call, and the states that it has had before.
type acted struct {
	call        int
	incarnation int
	replied     bool
	failed      bool
	seen        []phase.ActionState
}

// call takes the call of an action. Repeated by the same server, as the plugin's process died, it is one with that before; by
// another server, what was before was interrupted, though its reply may have come.
func (all acting) call(e trace.Event) {
	c := *e.Call
	if c.Method != "Execute" || c.Item != "" {
		return
	}
	a := action{e.Object, c.Plugin, c.Phase == phase.InProgress.String()}
	was := all[a]
	switch {
	case was == nil:
		was = &acted{seen: []phase.ActionState{phase.ActionDue, phase.ActionRunning}}
		all[a] = was
	case was.incarnation != e.Incarnation:
		was.interrupt()
		was.seen = append(was.seen, phase.ActionRunning)
	}
	was.call, was.incarnation, was.replied = c.ID, e.Incarnation, false
}

func (all acting) reply(r trace.Return) {
	for _, a := range all {
		if a.call == r.ID {
			a.replied, a.failed = true, r.Error != ""
		}
	}
}

// interrupt takes the end of a server.
func (all acting) interrupt(incarnation int) {
	for _, a := range all {
		if a.incarnation == incarnation && !a.replied {
			a.interrupt()
		}
	}
}

func (a *acted) interrupt() {
	if a.seen[len(a.seen)-1] == phase.ActionRunning {
		a.seen = append(a.seen, phase.ActionInterrupted)
	}
}

// changes are those of all actions, by kind.
func (all acting) changes() map[string]map[change]bool {
	made := map[string]map[change]bool{}
	for a, is := range all {
		kind, _ := kindOf(a.object)
		if is.replied && is.seen[len(is.seen)-1] == phase.ActionRunning {
			end := phase.ActionCompleted
			if is.failed {
				end = phase.ActionFailed
			}
			is.seen = append(is.seen, end)
		}
		name := actionKind(kind)
		if made[name] == nil {
			made[name] = map[change]bool{}
		}
		for i, to := range is.seen[1:] {
			made[name][change{string(actionOf(kind, a.pre)), is.seen[i].String(), to.String()}] = true
		}
	}
	return made
}

// kindOf is the kind of an object, by its name in traces; not ok: it is neither a backup nor a restore.
func kindOf(object string) (k phase.Kind, ok bool) {
	switch kind, _, _ := strings.Cut(object, "/"); kind {
	case phase.Backup.String():
		return phase.Backup, true
	case phase.Restore.String():
		return phase.Restore, true
	}
	return 0, false
}
