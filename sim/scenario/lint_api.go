package scenario

import (
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/phase"
)

// severs checks what strikes the server's way to the API server.
func (l *linter) severs(path string, f *Fault) {
	l.positive(path+".do.staleCache", f.Do.StaleCache.Duration == 0)
	l.positive(path+".do.apiOutage", f.Do.APIOutage.Duration == 0)
}

// crds checks the phases that the CRDs lack.
func (l *linter) crds() {
	l.lacks(phase.Backup, l.scenario.CRDs.Backup.Lacks)
	l.lacks(phase.Restore, l.scenario.CRDs.Restore.Lacks)
	if l.scenario.CRDs.Lack() && !slices.Equal(l.scenario.Worlds, []string{"virtual"}) {
		l.complain("crds", "only the world virtual has CRDs of a scenario's own, as others share their cluster; add worlds: [virtual]")
	}
}

func (l *linter) lacks(k phase.Kind, names []string) {
	for i, name := range names {
		path := fmt.Sprintf("crds.%s.lacks[%d]", k, i)
		l.oneOf(path, name, fmt.Sprintf("a phase of a %s", k), phasesOf(k))
		switch {
		case name == phase.New.String():
			l.complain(path, "is never written: an object that was just created has no phase; choose another one")
		case slices.Contains(names[:i], name):
			l.complain(path, "%s is named before; remove it", name)
		}
	}
}

// latency checks what holds a write, or an access to the object store, up.
func (l *linter) latency(path string, f *Fault) {
	do := path + ".do"
	if !l.has(do + ".latency") {
		return
	}
	switch {
	case f.At.Write == nil && f.At.Store == nil && l.sound(path+".at"):
		l.complain(do, "strikes a write to the API server or an access to the object store: at: {write: {object: …, verb: …}}, or at: {store: "+
			"{verb: …, key: …}}; for the method of an item action, write delay: DURATION under the method of the plugin")
	case l.has(path + ".at.delay"):
		l.complain(do, "strikes at the write or access itself: at.delay goes with other actions")
	}
	l.positive(do+".latency", f.Do.Latency.Duration == 0)
}
