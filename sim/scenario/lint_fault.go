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
		l.complain(path+".id", "%s is the id of an earlier fault; ids are unique", quote(f.ID))
	}
	l.point(path+".at", &f.At)
	l.do(path, f)
	l.alone(i)
}

// alone reports a fault at the very point of an earlier one, if only one of them can have an effect: a server that was killed there
// is not killed again and sees no error, and an access fails once. An object can be lost all the same.
func (l *linter) alone(i int) {
	f, path := &l.scenario.Faults[i], fmt.Sprintf("faults[%d]", i)
	for j, other := range l.scenario.Faults[:i] {
		earlier := fmt.Sprintf("faults[%d]", j)
		if reflect.DeepEqual(f.At, other.At) && (f.Do.Lose == nil) == (other.Do.Lose == nil) && l.sound(earlier) && l.sound(path) {
			l.complain(path+".at", "%s strikes there too, and only one of them can have an effect; change nth, or remove one", quote(other.ID))
		}
	}
}

func (l *linter) do(path string, f *Fault) {
	if !l.has(path + ".do") {
		return
	}
	named := 0
	for _, name := range []string{"kill", "fail", "lose"} {
		if l.has(path + ".do." + name) {
			named++
		}
	}
	if named != 1 {
		l.complain(path+".do", "names %d actions; write exactly one of kill: {}, fail: ERROR and lose: {}", named)
		return
	}
	if f.Do.Kill != nil {
		return
	}
	switch {
	case f.At.Store == nil && l.sound(path+".at"):
		l.complain(path+".do", "strikes an access to the object store only: at: {store: {verb: …, key: …}}")
	case l.has(path+".at.delay") || l.has(path+".at.after"):
		l.complain(path+".do", "strikes at the access itself: at.delay and at.after go with kill")
	case f.Do.Lose == nil && f.Do.Fail == "" && l.sound(path+".do"):
		l.complain(path+".do.fail", "is empty; write the error")
	case f.Do.Lose != nil:
		l.lose(path, f.At.Store)
	}
}

func (l *linter) point(path string, p *Point) {
	l.positive(path+".nth", p.Nth == 0)
	byPhase, byCall, byStore := l.has(path+".phase"), l.has(path+".call"), l.has(path+".store")
	if l.has(path) && (byPhase && byCall || byPhase && byStore || byCall && byStore || !byPhase && !byCall && !byStore) {
		l.complain(path, "a fault strikes at exactly one of phase, call and store")
		return
	}
	if byPhase {
		l.oneOf(path+".object", p.Object, "an object of the scenario", l.objects())
		l.phase(path+".phase", p.Phase, p.Object)
		l.written(path, p)
		if l.has(path + ".after") {
			l.complain(path+".after", "goes with call and store; a phase strikes after its write")
		}
	}
	if byCall {
		if l.has(path + ".object") {
			l.complain(path+".object", "goes with phase; a call is made for the object that the plugin's action serves")
		}
		l.call(path+".call", p.Call)
	}
	if byStore {
		if l.has(path + ".object") {
			l.complain(path+".object", "goes with phase; the key says whose object it is")
		}
		l.access(path+".store", p.Store)
	}
}

// written reports a phase that the object is never written with.
func (l *linter) written(path string, p *Point) {
	if !l.sound(path + ".object") {
		return
	}
	switch p.Phase {
	case phase.New.String(), phase.Deleting.String():
		l.complain(path+".phase", "no scenario comes to a write of this phase; choose another")
	case phase.WaitingForPluginOperations.String(), phase.WaitingForPluginOperationsPartiallyFailed.String():
		action := BackupItemAction
		if strings.HasPrefix(p.Object, "restore/") {
			action = RestoreItemAction
		}
		if l.certain() && !l.starts(action) {
			l.complain(path+".phase", "is never written, as no %s starts an operation", action)
		}
	}
}

func (l *linter) call(path string, c *Call) {
	if c == nil {
		return
	}
	l.oneOf(path+".method", c.Method, "a method of a plugin", []string{"Execute", "Progress", "Cancel"})
	l.scripted(path+".plugin", c.Plugin)
	starts := func(p Plugin) bool { return p.Name == c.Plugin && p.Operation != nil }
	if c.Method != "Execute" && l.sound(path) && l.decoded("plugins") && !slices.ContainsFunc(l.scenario.Plugins, starts) {
		l.complain(path+".method", "is never called, as the plugin starts no operation")
	}
	called := func(p Plugin) bool { return p.Name == c.Plugin && l.serves(p) }
	if l.certain() && !slices.ContainsFunc(l.scenario.Plugins, called) {
		l.complain(path+".plugin", "is never called, as the scenario has no item of its resources")
	}
}

// certain tells whether all that says what Velero does in the scenario is right, so that a check can rest on it.
func (l *linter) certain() bool {
	return len(l.decodeErrors) == 0 && l.sound("backup") && l.sound("restore") && l.sound("items") && l.sound("plugins")
}

// serves tells whether there is an item that Velero calls the plugin for.
func (l *linter) serves(p Plugin) bool {
	return slices.ContainsFunc(l.scenario.Items, func(item Item) bool {
		resource, _, _ := strings.Cut(string(item), "/")
		return slices.Contains(p.Resources, resource)
	})
}

// starts tells whether a plugin with the action starts an operation.
func (l *linter) starts(action Action) bool {
	return slices.ContainsFunc(l.scenario.Plugins, func(p Plugin) bool {
		return p.Action == action && p.Operation != nil && l.serves(p)
	})
}

// scripted reports a name that no plugin of the scenario has.
func (l *linter) scripted(path, name string) {
	if !l.decoded("plugins") {
		return
	}
	if len(l.scenario.Plugins) == 0 && name != "" {
		l.complain(path, "%s is not a plugin of the scenario, which has none", quote(name))
		return
	}
	names := make([]string, len(l.scenario.Plugins))
	for i, p := range l.scenario.Plugins {
		names[i] = p.Name
	}
	l.oneOf(path, name, "a plugin of the scenario", names)
}

// objects of the scenario, as faults name them.
func (l *linter) objects() []string {
	objects := []string{"backup/" + l.scenario.Backup.Name}
	if l.scenario.Restore != nil {
		objects = append(objects, "restore/"+l.scenario.Restore.Name)
	}
	return objects
}

// phase reports a phase that the kind of the object does not have.
func (l *linter) phase(path, name, object string) {
	switch kind, _, _ := strings.Cut(object, "/"); kind {
	case "backup":
		l.oneOf(path, name, "a phase of a backup", phasesOf(phase.Backup))
	case "restore":
		l.oneOf(path, name, "a phase of a restore", phasesOf(phase.Restore))
	}
}
