package scenario

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

// written is a kind of object that the server writes.
type written struct {
	verbs  []string
	phases []string // none: it has no phases
}

// The phases are those of Velero's pkg/apis/velero/v1. What never happens: only schedules and backup sync create backups, and nothing
// of the server creates the other objects of the user; a restore creates items. A plugin may do what it likes with those that something is
// expected of.
func writtenKind(kind string) written {
	all := writeVerbs()
	switch kind {
	case "backup":
		return written{all, phasesOf(phase.Backup)}
	case "restore":
		return written{all[1:], phasesOf(phase.Restore)}
	case "schedule":
		return written{[]string{"patch"}, []string{"New", "Enabled", "FailedValidation"}}
	case "location":
		return written{[]string{"update", "patch"}, []string{"Available", "Unavailable"}}
	case "deletion":
		return written{[]string{"create", "patch", "delete"}, []string{"New", "InProgress", "Processed"}}
	}
	return written{verbs: []string{"create"}}
}

// writtenObjects are the objects that the server of the scenario may write.
func (l *linter) writtenObjects() []string {
	objects := slices.Clone(l.objects)
	for _, x := range l.scenario.Schedules {
		objects = append(objects, "schedule/"+x.Name)
	}
	objects = append(objects, "location/"+defaultStorageLocation)
	for _, object := range l.objects {
		if name, ok := strings.CutPrefix(object, "backup/"); ok {
			objects = append(objects, "deletion/"+name)
		}
	}
	for _, item := range l.scenario.Items {
		objects = append(objects, string(item))
	}
	for _, m := range l.scenario.Expect.Items() {
		if item, ok := m.Item(); ok && !slices.Contains(l.scenario.Items, item) {
			objects = append(objects, string(item))
		}
	}
	return objects
}

// writes is what must have been created for the object to be written.
func (l *linter) writes(object string) needs {
	kind, name, _ := strings.Cut(object, "/")
	switch {
	case kind == "backup" || kind == "restore":
		return needs{all: []string{object}}
	case kind == "deletion":
		return needs{all: []string{"backup/" + name}}
	case object == "" || kind == "location" || kind == "schedule" || l.scenario.Expect.Of(Item(object)):
		return needs{}
	}
	return needs{any: "restore"}
}

// write reports a write that the server never makes.
func (l *linter) write(path string, w *Write) {
	if w == nil {
		return
	}
	l.oneOf(path+".verb", w.Verb, "a verb of a write", writeVerbs())
	if l.has(path+".object") && l.cast() {
		l.oneOf(path+".object", w.Object, "an object that the server may write", l.writtenObjects())
	}
	if w.Object == "" || !l.sound(path) || !l.cast() {
		return
	}
	kind, expected := writtenKind(kindOf(w.Object)), l.scenario.Expect.Of(Item(w.Object))
	if expected {
		kind.verbs = writeVerbs()
	}
	for _, p := range []struct{ field, phase string }{{".from", w.From}, {".phase", w.Phase}} {
		if p.phase != "" && len(kind.phases) == 0 {
			l.complain(path+p.field, "an item has no phases; remove it")
		} else {
			l.oneOf(path+p.field, p.phase, "a phase of "+w.Object, kind.phases)
		}
	}
	if w.Verb != "" && !slices.Contains(kind.verbs, w.Verb) {
		l.complain(path+".verb", "the server never sends a %s of %s, only: %s", w.Verb, w.Object, list(kind.verbs))
	}
	l.edge(path, w)
	switch of, name, _ := strings.Cut(w.Object, "/"); {
	case of == "deletion" && !l.fates.deleted["backup/"+name]:
		l.complain(path+".object", "is never written, as nothing deletes backup/%s; add a fault that does, or a ttl", name)
	case len(kind.phases) == 0 && len(l.scenario.Restores) == 0 && !expected:
		l.complain(path+".object", "is never written, as the server writes items when it restores them; add \"restore: {}\", or expect something of it under expect.manifests if a plugin writes it")
	}
}

// edge reports a change of the phase that the object never makes.
func (l *linter) edge(path string, w *Write) {
	k := phase.Backup
	switch kindOf(w.Object) {
	case "backup":
	case "restore":
		k = phase.Restore
	default:
		return
	}
	if !l.sound(path) {
		return
	}
	to, _ := phase.Parse(w.Phase) // both are phases of the object, or empty
	from, _ := phase.Parse(w.From)
	switch {
	case w.Phase == "":
	case to == phase.New && w.Verb != "create":
		l.complain(path+".phase", "the server writes New only as it creates a backup: verb: create")
	case l.certain() && l.never(w.Object, w.Phase) != "":
		l.complain(path+".phase", "is never written, as %s", l.never(w.Object, w.Phase))
	case w.From == "":
	case from == to:
		l.complain(path+".from", "is the phase that the write brings; name the one before it")
	case !legal(k, from, to):
		l.complain(path+".from", "%s never goes from %s to %s; correct one, or leave it out", w.Object, w.From, w.Phase)
	}
}

// legal tells whether a release, or the demanded reading, has the change of the phase.
func legal(k phase.Kind, from, to phase.Phase) bool {
	readings := []phase.Rules{phase.Demanded()}
	for _, release := range []string{"1.14", "1.18"} {
		if r, err := phase.ForRelease(release); err == nil {
			readings = append(readings, r)
		}
	}
	return slices.ContainsFunc(readings, func(r phase.Rules) bool {
		_, ok := r.LegalWithActions(k)[phase.Edge{From: from, To: to}]
		return ok
	})
}

// atWrite checks what strikes a write only.
func (l *linter) atWrite(path string, f *Fault) {
	do := path + ".do"
	refuses, loses := l.has(do+".refuse"), l.has(do+".loseReply")
	if !refuses && !loses {
		return
	}
	w := f.At.Write
	switch {
	case w == nil && l.sound(path+".at"):
		l.complain(do, "strikes a write to the API server only: at: {write: {object: …, verb: …}}")
		return
	case w == nil:
		return
	case l.has(path + ".at.delay"):
		l.complain(do, "strikes at the write itself: at.delay goes with other actions")
	case refuses && l.has(path+".at.after"):
		l.complain(do, "a write that was applied is not refused any more; remove at.after, or write loseReply: true")
	case loses && l.has(path+".at.after"):
		l.complain(do, "a reply is always lost after the write; remove at.after")
	}
	if refuses {
		l.reason(do+".refuse", f.Do.Refuse, w.Verb)
	}
	if loses && !f.Do.LoseReply {
		l.complain(do+".loseReply", "does nothing; write true")
	}
}

// reason checks a reason for which the API server refuses a write.
func (l *linter) reason(path, reason, verb string) {
	of := "a reason for which the API server refuses every write"
	if verb != "" {
		of = "a reason for which the API server refuses a " + verb
	} else if slices.ContainsFunc(writeVerbs(), func(v string) bool { return slices.Contains(reasons(v), reason) }) && !slices.Contains(reasons(""), reason) {
		l.complain(path, "%s is not a reason for every verb; name one in at.write.verb: %s", quote(reason), list(verbsOf(reason)))
		return
	}
	l.oneOf(path, reason, of, reasons(verb))
}

// verbsOf are those of the writes that can be refused for the reason.
func verbsOf(reason string) []string {
	return slices.DeleteFunc(writeVerbs(), func(v string) bool { return !slices.Contains(reasons(v), reason) })
}

// maxTimes bounds how often a fault strikes: the tenth pause of Velero's finalizer, after which it tries to patch again, takes 5 hours.
const maxTimes = 10

// repeats checks how often a fault strikes.
func (l *linter) repeats(path string, f *Fault) {
	times, window := l.has(path+".times"), l.has(path+".for")
	switch {
	case !times && !window || !l.sound(path):
		return
	case !f.Do.repeats():
		l.complain(path, "strikes once; times and for go with fail, crash, refuse, loseReply and latency")
	case times && window:
		l.complain(path+".for", "is another way to say how often it strikes; remove it, or times")
	}
	if f.Times > maxTimes {
		l.complain(path+".times", "must be at most %d, as the pauses between Velero's tries grow; write for: DURATION instead", maxTimes)
	}
	l.positive(path+".times", f.Times == 0)
	l.positive(path+".for", f.For.Duration == 0)
}
