package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/phase"
)

func (l *linter) expect() {
	e := &l.scenario.Expect
	if l.unstarted() {
		return
	}
	if l.has("expect.object") {
		l.object("expect.object", e.Object)
	}
	l.outcomes("expect", &e.Outcomes, l.demanded)
	l.strikes()
	if e.Deviation == nil {
		return
	}
	d := e.Deviation
	l.oneOf("expect.deviation.rule", d.Rule, "a deviation that velosim knows", ruleNames())
	if !l.has("expect.deviation.phase") {
		l.complain("expect.deviation.phase", "is missing")
	}
	l.outcomes("expect.deviation", &d.Outcomes, l.deviates)
	breaks := len(phase.Named(d.Rule).Breaks) > 0
	if reflect.DeepEqual(d.Outcomes, e.Outcomes) && l.sound("expect") && !breaks { // else it differs in more than the outcome
		l.complain("expect.deviation", "is what is expected anyway; say how it differs, or remove it")
	}
}

// strikes checks the faults that must strike.
func (l *linter) strikes() {
	if l.scenario.Expect.Strikes == nil || !l.decoded("faults") {
		return
	}
	ids := make([]string, len(l.scenario.Faults))
	for i, f := range l.scenario.Faults {
		ids[i] = f.ID
	}
	distinct(l, "expect.strikes", *l.scenario.Expect.Strikes)
	for i, id := range *l.scenario.Expect.Strikes {
		l.oneOf(fmt.Sprintf("expect.strikes[%d]", i), id, "the id of a fault", ids)
	}
}

// outcomes checks what is said of each object, and the rest as the last function does.
func (l *linter) outcomes(path string, o *Outcomes, rest func(path string, o *Outcome)) {
	subject := l.scenario.Expect.Object
	l.outcome(path, &o.Outcome, subject)
	rest(path, &o.Outcome)
	for _, object := range slices.Sorted(maps.Keys(o.Objects)) {
		at := entry(path+".objects", object)
		l.object(at, object)
		if object == subject {
			l.complain(at, "is what %s.phase speaks of already; say it there", path)
		}
		outcome := o.Objects[object]
		l.outcome(at, &outcome, object)
		rest(at, &outcome)
	}
	l.filled(path+".objects", len(o.Objects), "an object")
	l.expected(path+".manifests", o.Manifests)
	l.filled(path+".must", len(o.Must), "a point")
	for i := range o.Must {
		at := fmt.Sprintf("%s.must[%d]", path, i)
		l.point(at, &o.Must[i])
		if l.has(at + ".write") {
			l.complain(at+".write", "cannot be asked for; name the phase that it brings, or what comes of it")
		}
		for _, name := range []string{"delay", "after"} {
			if l.has(at + "." + name) {
				l.complain(at+"."+name, "means nothing here: the point is passed or not; remove it")
			}
		}
		same := func(other Point) bool { return reflect.DeepEqual(other, o.Must[i]) }
		if slices.ContainsFunc(o.Must[:i], same) && l.sound(at) {
			l.complain(at, "is there twice; remove one, or change nth")
		}
	}
}

// demanded checks that what is expected may be: it is what every release must do.
func (l *linter) demanded(path string, o *Outcome) {
	if o.Phase != "" && !ends(o.Phase) && l.sound(path+".phase") {
		l.complain(path+".phase", "%s is not final; a run must end in one of %s, or %s (a deviation may stay in it)", o.Phase, strings.Join(finalPhases(), ", "), Deleted)
	}
	var failed int
	if n := o.Operations; n != nil {
		failed = n.Failed
		switch {
		case o.Phase == "Completed" && n.Failed > 0:
			l.complain(path+".operations.failed", "a run with failed operations must not end Completed; expect PartiallyFailed, or say under deviation what a release does")
		case o.Phase == "Completed" && n.Attempted > n.Completed:
			l.complain(path+".operations.attempted", "a run must not end Completed before all its operations have: attempted is %d, completed %d; correct one, or say under deviation what a release does", n.Attempted, n.Completed)
		case o.Phase == "FailedValidation" && n.Attempted > 0:
			l.complain(path+".operations.attempted", "what fails validation starts no operation; it must be 0")
		}
	}
	switch {
	case o.Errors == nil:
	case o.Phase == "Completed" && *o.Errors > 0:
		l.complain(path+".errors", "a run with errors must not end Completed; expect PartiallyFailed, or say under deviation what a release does")
	case *o.Errors < failed:
		l.complain(path+".errors", "each of the failed operations, %d, counts as an error; raise it", failed)
	}
}

// deviates checks what a release does instead: it may be anything that can be told.
func (l *linter) deviates(path string, o *Outcome) {
	if l.has(path+".within") && o.Phase != "" && !ends(o.Phase) {
		l.complain(path+".within", "is the time to the last phase, and %s is not final; remove it", o.Phase)
	}
}

// ends reports whether a run can end in the phase, or with an object that is gone.
func ends(phase string) bool { return phase == Deleted || slices.Contains(finalPhases(), phase) }
