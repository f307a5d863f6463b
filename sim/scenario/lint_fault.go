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
	l.repeats(path, f)
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
// no error, an access fails and a reply is lost once, what is gone, or was asked for, is so once, and a server is paused or replaced once.
func excludes(a, b Do) bool {
	stops := func(d Do) bool {
		return d.Kill != nil || d.Fail != "" || d.Refuse != "" || d.LoseReply || d.Tear != nil || d.Hang != nil || d.Crash != nil
	}
	return stops(a) && stops(b) || !stops(a) && reflect.DeepEqual(a, b) || rivals(a, b)
}

func (l *linter) do(path string, f *Fault) {
	if !l.has(path + ".do") {
		return
	}
	named := 0
	for _, name := range deeds() {
		if l.has(path + ".do." + name) {
			named++
		}
	}
	if named != 1 {
		l.complain(path+".do", "names %d actions; write exactly one of: %s", named, list(deeds()))
		return
	}
	l.onServer(path+".do", f.Do)
	l.atWrite(path, f)
	l.latency(path, f)
	l.severs(path, f)
	l.storage(path, f)
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
	if !l.certain() || !l.sound(path) || at.Phase == "" || at.Delay.Duration > 0 || l.fates.removed[at.Object] {
		return
	}
	p, err := phase.Parse(at.Phase)
	if err == nil && !p.Final() && l.createdAfter(object, at.Object) {
		l.complain(do, "%s is created when %s has ended, which is after this point; choose a later point, or a delay", object, at.Object)
	}
}

// fates are what the user and time do to the objects.
type fates struct {
	deleted   map[string]bool // Velero is asked to delete it: by the user, or as it has expired. With a backup go its restores
	removed   map[string]bool // the user removes it from the cluster
	backups   bool            // any backup is deleted
	described bool            // any object is described
}

func (s *Scenario) fates() fates {
	all := fates{deleted: map[string]bool{}, removed: map[string]bool{}}
	for _, f := range s.Faults {
		if f.Do.Delete != "" {
			all.deleted[f.Do.Delete] = true
		}
		if f.Do.Remove != "" {
			all.removed[f.Do.Remove] = true
		}
		all.described = all.described || f.Do.Describe != ""
	}
	for _, b := range s.Backups {
		all.expires("backup/"+b.Name, b.BackupSpec)
	}
	for _, x := range s.Schedules {
		for i := range x.Backups {
			all.expires(fmt.Sprintf("backup/%s-%d", x.Name, i+1), x.Template)
		}
	}
	for _, x := range s.Restores {
		if all.deleted["backup/"+x.Backup] {
			all.deleted["restore/"+x.Name] = true
		}
	}
	return all
}

func (all *fates) expires(backup string, spec BackupSpec) {
	if spec.TTL.Duration < DefaultTTL {
		all.deleted[backup] = true
	}
	all.backups = all.backups || all.deleted[backup]
}
