package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/velosim/velosim/sim/phase"
)

func (l *linter) fault(i int) {
	f, path := &l.scenario.Faults[i], fmt.Sprintf("faults[%d]", i)
	l.valid(path+".id", f.ID, "a DNS label", validation.IsDNS1123Label(f.ID))
	if slices.ContainsFunc(l.scenario.Faults[:i], func(other Fault) bool { return other.ID == f.ID }) {
		l.complain(path+".id", "%s is the id of an earlier fault; choose another", quote(f.ID))
	}
	l.point(path+".at", &f.At)
	l.do(path, f)
	l.alone(i)
}

// alone reports a fault at the very point of an earlier one, if only one of them can have an effect.
func (l *linter) alone(i int) {
	f, path := &l.scenario.Faults[i], fmt.Sprintf("faults[%d]", i)
	for j, other := range l.scenario.Faults[:i] {
		earlier := fmt.Sprintf("faults[%d]", j)
		if reflect.DeepEqual(f.At, other.At) && excludes(f.Do, other.Do) && l.sound(earlier) && l.sound(path) {
			l.complain(path+".at", "%s strikes there too, and only one of them can have an effect; change nth, or remove one", quote(other.ID))
		}
	}
}

// excludes tells whether only one of two faults at a point can have an effect: a server that was killed is not killed again and sees
// no error, an access fails once, and what is gone, or was asked for, is so once.
func excludes(a, b Do) bool {
	stops := func(d Do) bool { return d.Kill != nil || d.Fail != "" }
	return stops(a) && stops(b) || !stops(a) && reflect.DeepEqual(a, b)
}

func (l *linter) do(path string, f *Fault) {
	if !l.has(path + ".do") {
		return
	}
	named := 0
	for _, name := range []string{"kill", "fail", "lose", "delete", "remove", "describe"} {
		if l.has(path + ".do." + name) {
			named++
		}
	}
	if named != 1 {
		l.complain(path+".do", "names %d actions; write exactly one of kill: {}, fail: ERROR, lose: {}, delete: OBJECT, remove: OBJECT and describe: OBJECT", named)
		return
	}
	l.user(path, f, "delete", f.Do.Delete)
	l.user(path, f, "remove", f.Do.Remove)
	l.user(path, f, "describe", f.Do.Describe)
	if f.Do.Fail == "" && f.Do.Lose == nil && !l.has(path+".do.fail") {
		return
	}
	switch {
	case f.At.Store == nil && l.sound(path+".at"):
		l.complain(path+".do", "strikes an access to the object store only: at: {store: {verb: …, key: …}}")
	case l.has(path+".at.delay") || l.has(path+".at.after"):
		l.complain(path+".do", "strikes at the access itself: at.delay and at.after go with other actions")
	case f.Do.Lose == nil && f.Do.Fail == "" && l.sound(path+".do"):
		l.complain(path+".do.fail", "is empty; write the error")
	case f.Do.Lose != nil:
		l.lose(path, f.At.Store)
	}
}

// user checks what the user does with an object, which must be there.
func (l *linter) user(path string, f *Fault, verb, object string) {
	if object == "" {
		return
	}
	do := path + ".do." + verb
	if verb == "remove" && strings.HasPrefix(object, "restore/") {
		l.complain(do, "only a backup is kept elsewhere too; write delete: %s", object)
	}
	l.object(do, object)
	at := f.At
	if !l.certain() || !l.sound(path) || at.Phase == "" || at.Delay.Duration > 0 || l.removed(at.Object) {
		return
	}
	p, err := phase.Parse(at.Phase)
	if err == nil && !p.Final() && l.createdAfter(object, at.Object) {
		l.complain(do, "%s is created when %s has ended, which is after this point; choose a later point, or a delay", object, at.Object)
	}
}

// deletes tells whether Velero is asked to delete the object: by the user, or as a backup has expired. With a backup go its restores.
func (l *linter) deletes(object string) bool {
	kind, name, _ := strings.Cut(object, "/")
	if l.does(func(d Do) bool { return d.Delete == object }) {
		return true
	}
	if kind == "restore" {
		x := l.scenario.RestoreNamed(name)
		return x != nil && l.deletes("backup/"+x.Backup)
	}
	spec := l.scenario.BackupNamed(name)
	return spec != nil && spec.TTL.Duration < defaultTTL
}

// removed tells whether the user removes the object from the cluster.
func (l *linter) removed(object string) bool {
	return l.does(func(d Do) bool { return d.Remove == object })
}

// deletesBackups tells whether Velero is asked to delete any backup.
func (l *linter) deletesBackups() bool {
	return slices.ContainsFunc(l.objects, func(object string) bool { return kindOf(object) == "backup" && l.deletes(object) })
}

// does tells whether a fault does it.
func (l *linter) does(it func(Do) bool) bool {
	return slices.ContainsFunc(l.scenario.Faults, func(f Fault) bool { return it(f.Do) })
}
