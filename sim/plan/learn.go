package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Step is something that Velero does in a run, at which a fault can strike: it writes to the API server, accesses the object store, or
// calls a plugin.
type Step struct {
	// At is the point just before it.
	At scenario.Point
	// Object for which it is done, backup/NAME or restore/NAME; empty: none.
	Object string
	// Phase of the object before it; To, if the step writes another one. New is the phase of what has none yet.
	Phase, To string
	// Pruned is why no fault is planned at the step; empty: one is.
	Pruned string

	name  string // what is done, as names of plans have it: patch-finalizing
	tells string // the same in a sentence: patches backup/backup-1 from InProgress to Finalizing
	// nth call of the plugin's method as its script counts them: Progress and Cancel for each operation.
	nth int
}

// Why steps are pruned.
const (
	changesNothing = "it changes nothing"
	progressAlone  = "it is progress, which a ticker writes again"
	ofNoObject     = "it is done for nothing that the scenario expects anything of"
	likeBefore     = "it is a poll like the one before"

	ofEveryOperation = "it is what another plan does: a plugin's script is the same for all its operations"
	misbehaves       = "the plugin misbehaves anyway"
	likeOthers       = "another plan of the sample stands for it"
)

// Learn returns the steps of a run without faults, in their order. The scenario is the run's.
func Learn(s *scenario.Scenario, t trace.Trace) []Step {
	l := &learner{
		scenario: s, phases: map[string]string{}, versions: map[string]string{}, passed: map[string]int{}, last: map[string]string{}, calls: map[int]int{},
		asked: map[string]string{},
	}
	for i, e := range t.Events {
		switch {
		case e.Phase != nil:
			l.phases[e.Object] = e.Phase.To
		case e.Created != nil:
			l.phases[e.Object] = "New"
			l.last[kindOf(e.Object)], l.latest = e.Object, e.Object
		case e.Write != nil:
			l.write(e, t.Events[i+1:])
		case e.Store != nil:
			l.access(*e.Store)
		case e.Call != nil:
			l.call(e)
		case e.Return != nil:
			l.reply(*e.Return)
		}
	}
	return l.steps
}

type learner struct {
	scenario *scenario.Scenario
	steps    []Step
	phases   map[string]string // of objects
	last     map[string]string // the last object of a kind that was created
	latest   string            // the last one of any
	versions map[string]string // resource versions of what was written
	passed   map[string]int    // how often, by point
	calls    map[int]int       // the steps that are calls, by the call's ID
	asked    map[string]string // of operations: who asked for their progress, and what it was
}

// add adds a step, if it is at a point that a scenario can name.
func (l *learner) add(s Step) {
	switch at := s.At; {
	case at.Write != nil:
		s.At.Nth = l.written(*at.Write)
	default:
		s.At.Nth = l.nth(fmt.Sprint(at.Store, at.Call))
	}
	if s.Pruned == "" && !slices.Contains(l.spoken(), s.Object) {
		s.Pruned = ofNoObject
	}
	l.steps = append(l.steps, s)
}

// written is how often a write of this kind was made: a point that names no phase is passed by those too that bring one.
func (l *learner) written(w scenario.Write) int {
	any := w
	if any.Phase = ""; any != w {
		l.nth(fmt.Sprint(any))
	}
	return l.nth(fmt.Sprint(w))
}

func (l *learner) nth(point string) int {
	l.passed[point]++
	return l.passed[point]
}

// spoken are the objects that the scenario expects something of.
func (l *learner) spoken() []string {
	objects := []string{l.scenario.Object()}
	for object := range l.scenario.Expect.Objects {
		objects = append(objects, object)
	}
	return objects
}

// phase of the object; empty: it is none.
func (l *learner) phase(object string) string { return l.phases[object] }

func (l *learner) write(e trace.Event, then []trace.Event) {
	if e.Incarnation == 0 { // the user's
		return
	}
	w := e.Write
	point := &scenario.Write{Object: written(e.Object), Verb: w.Verb}
	s := Step{At: scenario.Point{Write: point}, Object: l.owner(w.Client, e.Object)}
	s.Phase = l.phase(s.Object)
	s.name, s.tells = w.Verb, inflected(w.Verb)+" "+point.Object
	if point.Object != s.Object && !strings.HasPrefix(point.Object, "deletion/") {
		s.name += "-" + base(point.Object)
	}
	switch to := brought(e, then); {
	case to != "" && point.Object == s.Object:
		point.From, point.Phase, s.To = s.Phase, to, to
		s.name += "-" + short(to)
		s.tells += fmt.Sprintf(" from %s to %s", s.Phase, to)
	case to != "":
		point.Phase = to
		s.name += "-" + base(kindOf(point.Object)+"-"+short(to))
		s.tells += " to " + to
	case point.Object == s.Object:
		point.From = s.Phase
		s.name += "-while-" + short(s.Phase)
		s.tells += ", which stays " + s.Phase
	}
	if w.ResourceVersion != "" && w.ResourceVersion == l.versions[e.Object] || w.Change == "{}" {
		s.Pruned = changesNothing
	} else if progress(w.Change) {
		s.Pruned = progressAlone
	}
	l.versions[e.Object] = w.ResourceVersion
	l.add(s)
}

// written is the object as points name what is written.
func written(object string) string {
	kind, name, _ := strings.Cut(object, "/")
	switch kind {
	case "backupstoragelocation":
		return "location/" + name
	case "deletebackuprequest": // velero backup delete has the API server add to the backup's name
		if i := strings.LastIndex(name, "-"); i > 0 {
			name = name[:i]
		}
		return "deletion/" + name
	}
	return object
}

// owner is the object for which a controller does something to another one.
func (l *learner) owner(controller, object string) string {
	kind, name, _ := strings.Cut(written(object), "/")
	switch {
	case kind == "backup" || kind == "restore":
		return object
	case kind == "deletion":
		return "backup/" + name
	case kind == "leases": // its name is that of one run
		return ""
	case strings.HasPrefix(controller, "restore"):
		return l.last["restore"]
	case l.scenario.Expect.Of(scenario.Item(object)): // a plugin
		return l.latest
	}
	return ""
}

// brought is the phase that a write brings: the event says so that follows it.
func brought(e trace.Event, then []trace.Event) string {
	if len(then) > 0 && then[0].Phase != nil && then[0].Object == e.Object {
		return then[0].Phase.To
	}
	return ""
}

// progress reports whether a patch is that of the ticker: of pkg/controller/backup_controller.go's backupper and the restorer's, which
// write the progress every second (pkg/backup/backup.go, pkg/restore/restore.go).
func progress(change string) bool {
	var patch map[string]map[string]json.RawMessage
	if json.Unmarshal([]byte(change), &patch) != nil || len(patch) != 1 {
		return false
	}
	status := patch["status"]
	_, has := status["progress"]
	delete(status, "progress")
	delete(status, "hookStatus")
	return has && len(status) == 0
}

func (l *learner) access(a trace.Store) {
	_, key, _ := strings.Cut(a.Key, "/")
	parts := strings.SplitN(key, "/", 3)
	if len(parts) < 3 || a.Verb == "list" {
		return
	}
	of := strings.TrimSuffix(parts[0], "s") + "/" + parts[1]
	s := Step{At: scenario.Point{Store: &scenario.Access{Verb: a.Verb, Key: key}}, Object: of}
	file, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(parts[2], "restore-"+parts[1]+"-"), parts[1]+"-"), ".")
	if parts[2] == parts[1]+".tar.gz" {
		file = "contents"
	}
	if strings.HasPrefix(a.Controller, "restore") {
		s.Object = l.last["restore"]
	}
	if s.Object != of {
		file = kindOf(of) + "-" + file
	}
	s.Phase = l.phase(s.Object)
	s.name = a.Verb + "-" + file + "-" + short(s.Phase)
	s.tells = inflected(a.Verb) + " " + key + " while " + s.Object + " is " + s.Phase
	if a.Controller == "backup-sync" || a.Controller == "gc" {
		s.Pruned = ofNoObject
	}
	l.add(s)
}

func (l *learner) call(e trace.Event) {
	c := e.Call
	s := Step{At: scenario.Point{Call: &scenario.Call{Plugin: c.Plugin, Method: c.Method, Phase: c.Phase}}, Object: e.Object}
	if s.Object == "" { // AppliesTo is asked for none
		kind, _, _ := strings.Cut(c.Controller, "-")
		s.Object = l.last[kind]
	}
	s.Phase = l.phase(s.Object)
	s.nth = l.nth(fmt.Sprint("script", c.Plugin, c.Method, c.Operation))
	s.name = strings.ToLower(c.Method) + "-" + base(c.Plugin) + "-" + short(s.Phase)
	s.tells = fmt.Sprintf("%s of %s while %s is %s", c.Method, c.Plugin, s.Object, s.Phase)
	l.calls[c.ID] = len(l.steps)
	if c.Method == "Progress" {
		l.asked[fmt.Sprint(c.ID)] = c.Controller + " " + c.Phase + " " + c.Operation
	}
	l.add(s)
}

// reply prunes a poll that was answered as the one before.
func (l *learner) reply(r trace.Return) {
	i, known := l.calls[r.ID]
	asks := l.asked[fmt.Sprint(r.ID)]
	if !known || asks == "" {
		return
	}
	said := fmt.Sprintf("%+v %s", r.Progress, r.Error)
	if r.Progress != nil {
		said = fmt.Sprintf("%+v %s", *r.Progress, r.Error)
	}
	if l.asked[asks] == said && l.steps[i].Pruned == "" {
		l.steps[i].Pruned = likeBefore
	}
	l.asked[asks] = said
}
