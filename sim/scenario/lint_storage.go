package scenario

import "slices"

// storage checks what strikes the object store as a whole, a plugin's process, or the location.
func (l *linter) storage(path string, f *Fault) {
	do, at := path+".do", f.At
	l.positive(do+".outage", f.Do.Outage.Duration == 0)
	l.location(path, f)
	if f.Do.Lose != nil && l.scenario.Store.Immutable {
		l.complain(do+".lose", "cannot be, as an immutable object store loses nothing; remove this, or store.immutable")
	}
	switch {
	case !l.sound(path+".at") || f.Do.Tear == nil && f.Do.Hang == nil && f.Do.Crash == nil:
	case f.Do.Tear != nil && (at.Store == nil || at.Store.Verb != "put"):
		l.complain(do+".tear", "strikes a put into the object store only: at: {store: {verb: put, key: …}}")
	case f.Do.Hang != nil && at.Store == nil:
		l.complain(do+".hang", "strikes an access to the object store only; for the method of an item action, write hang: true under the method "+
			"of the plugin")
	case f.Do.Crash != nil && at.Store == nil && at.Call == nil:
		l.complain(do+".crash", "strikes a call or an access to the object store: at: {call: {plugin: …, method: …}}, or at: {store: "+
			"{verb: …, key: …}}")
	case l.has(path+".at.delay") || f.Do.Crash == nil && l.has(path+".at.after"):
		l.complain(do, "strikes at the access or call itself: at.delay, and at.after other than with crash, go with other actions")
	}
}

// location checks what the user does with the location, which must be possible.
func (l *linter) location(path string, f *Fault) {
	change := f.Do.Location
	at := path + ".do.location"
	l.oneOf(at, string(change), "what the user can make of the location", locationChanges())
	undoes := map[LocationChange]LocationChange{ReadWrite: ReadOnly, Created: Removed}
	before, ok := undoes[change]
	if ok && !slices.ContainsFunc(l.scenario.Faults, func(g Fault) bool { return g.Do.Location == before }) {
		l.complain(at, "changes nothing, as the location is there from the beginning, and ReadWrite; add a fault that makes it %s before", before)
	}
}
