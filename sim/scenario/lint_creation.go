package scenario

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// creation is when the user creates an object.
type creation struct {
	path   string // of its point in the file
	at     *Point // nil: when what comes before has ended
	backup string // that it restores; empty: none
	before string // it in the order of those without a point; empty: nothing
	turn   int    // in that order, from 1; 0: it has a point, or a schedule makes it
}

// creations are those of all objects, by their names.
func (l *linter) creations() map[string]creation {
	all := map[string]creation{}
	for i := range l.scenario.Backups {
		b := &l.scenario.Backups[i]
		all["backup/"+b.Name] = creation{path: listed(l.has, "backup", i) + ".at", at: b.At}
	}
	for i := range l.scenario.Restores {
		x := &l.scenario.Restores[i]
		all["restore/"+x.Name] = creation{path: listed(l.has, "restore", i) + ".at", at: x.At, backup: "backup/" + x.Backup}
	}
	before := ""
	for i, object := range l.scenario.Order() {
		c := all[object]
		c.before, c.turn = before, i+1
		all[object], before = c, object
	}
	return all
}

// needs is what must have been created for an object to be: all of some objects, and any of a kind.
type needs struct {
	all []string
	any string // backup or restore; empty: nothing
}

func (l *linter) needs(c creation) needs {
	switch {
	case c.turn > 0:
		return needs{all: []string{c.before, c.backup}}
	case c.at == nil:
		return needs{}
	case c.at.Phase != "":
		return needs{all: []string{c.at.Object}}
	case c.at.Store != nil:
		return needs{all: []string{ofKey(c.at.Store.Key)}}
	case c.at.Write != nil:
		return l.writes(c.at.Write.Object)
	default:
		return needs{any: l.callers(c.at.Call.Plugin)}
	}
}

// callers are the kind of objects in whose runs the plugin is called; empty: of both.
func (l *linter) callers(plugin string) string {
	var backup, restore bool
	for _, p := range l.scenario.Plugins {
		if p.Name == plugin {
			restore = restore || p.Action.object() == "restore/"
			backup = backup || p.Action.object() == "backup/"
		}
	}
	switch {
	case backup && restore:
		return ""
	case restore:
		return "restore"
	default:
		return "backup"
	}
}

// points checks the points of creation.
func (l *linter) points() {
	for _, object := range l.objects {
		if c := l.created[object]; c.at != nil {
			l.point(c.path, c.at)
		}
	}
	l.circles()
}

// circles reports points of creation that can never come, as each of some objects is created at a point of the next.
func (l *linter) circles() {
	if !l.certain() {
		return
	}
	w := waiting{objects: l.objects, stuck: map[string]needs{}, made: map[string]bool{}}
	for _, object := range l.objects {
		w.stuck[object] = l.needs(l.created[object])
	}
	for again := true; again; {
		again = false
		for _, object := range l.objects {
			if _, waits := w.stuck[object]; waits && w.next(object) == "" {
				delete(w.stuck, object)
				w.made[kindOf(object)], again = true, true
			}
		}
	}
	for _, object := range l.objects {
		path := l.created[object].path
		if _, waits := w.stuck[object]; !waits || path == "" || !l.has(path) {
			continue
		}
		circle := w.circle(object)
		reported := func(other string) bool { p := l.created[other].path; return p != "" && !l.sound(p) }
		switch {
		case len(circle) == 0 || slices.ContainsFunc(circle, reported):
		case len(circle) == 1:
			l.complain(path, "%s would be created when it is there already; choose a point of another object", object)
		default:
			l.complain(path, "can never come, as %s waits for %s; choose a point of another object", object,
				strings.Join(append(circle[1:], object), ", which waits for "))
		}
	}
}

func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, "/")
	return kind
}

// waiting is who waits for whom to be created.
type waiting struct {
	objects []string
	stuck   map[string]needs
	made    map[string]bool // by kind
}

// next is what the object still waits for; empty: nothing.
func (w waiting) next(object string) string {
	n := w.stuck[object]
	for _, other := range n.all {
		if _, waits := w.stuck[other]; waits {
			return other
		}
	}
	if n.any == "" || w.made[n.any] {
		return ""
	}
	for _, other := range w.objects { // none of the kind is made, so any tells why
		if kindOf(other) == n.any && other != object {
			return other
		}
	}
	return object
}

// circle is what the object waits for up to what waits for it, the object first; none: others are in a circle that it waits for.
func (w waiting) circle(object string) []string {
	circle, seen := []string{object}, map[string]bool{}
	for next := w.next(object); next != object; next = w.next(next) {
		if seen[next] {
			return nil
		}
		seen[next] = true
		circle = append(circle, next)
	}
	return circle
}

// createdAfter tells whether an object is surely not there before the other one has ended.
func (l *linter) createdAfter(object, other string) bool {
	turn := l.created[other].turn
	for range l.objects { // it takes no more steps than that, even in a circle
		c := l.created[object]
		switch {
		case c.turn > 0:
			return turn > 0 && turn < c.turn || c.backup == other
		case c.at == nil || c.at.Phase == "":
			return false
		case c.at.Object == other:
			p, err := phase.Parse(c.at.Phase)
			return err == nil && p.Final() && p != phase.Deleting
		}
		object = c.at.Object
	}
	return false
}
