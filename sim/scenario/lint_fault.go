package scenario

import (
	"fmt"
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
	if f.Do.Kill == nil && l.has(path+".do") {
		l.complain(path+".do", "names no action; write exactly one: kill: {}")
	}
}

func (l *linter) point(path string, p *Point) {
	l.positive(path+".nth", p.Nth == 0)
	byPhase, byCall := l.has(path+".phase"), l.has(path+".call")
	if l.has(path) && byPhase == byCall {
		l.complain(path, "a fault strikes at exactly one of phase and call")
		return
	}
	if byPhase {
		l.oneOf(path+".object", p.Object, "an object of the scenario", l.objects())
		l.phase(path+".phase", p.Phase, p.Object)
		if l.has(path + ".after") {
			l.complain(path+".after", "goes with call; a phase strikes after its write")
		}
	}
	if byCall {
		if l.has(path + ".object") {
			l.complain(path+".object", "goes with phase; a call is made for the object that the plugin's action serves")
		}
		l.call(path+".call", p.Call)
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
