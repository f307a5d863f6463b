package verdict

import (
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// attribute names the rules by which the release deviates in the findings that they explain, where the oracles have not. Rules
// explain that an object goes another way, what plugins are called for on that way, and that the invariants break that they break.
// They do not explain that it takes long, nor what came before.
func (r *run) attribute(found []Finding, release phase.Rules) {
	expected := r.expected(r.scenario.Expect.Outcomes)
	departures := map[string][]string{} // by object
	for i, f := range found {
		if len(f.Rules) > 0 || f.Object == "" {
			continue
		}
		departure, ok := departures[f.Object]
		if !ok {
			if departure = r.departure(f.Object, release, found); departure == nil {
				departure = r.unusable(f.Object)
			}
			departures[f.Object] = departure
		}
		switch f.Oracle {
		case "expectation":
			if r.explicable(f, expected[f.Object]) {
				found[i].Rules = departure
			}
		case "liveness":
			switch o := r.find(f.Object); {
			case f.Expected == anEnd: // else it has come, but late
				found[i].Rules = departure
			case f.Expected == itsLeft && r.restartedWhileDeleting(o):
				found[i].Rules = []string{phase.DeletionForgottenByRestart}
			}
		case "prediction":
			found[i].Rules = departure
		case "contract":
			if slices.Equal(departure, []string{phase.PassRetriedForEver}) && strings.HasPrefix(f.Expected, "Cancel of ") {
				found[i].Rules = departure
			}
		default:
			invariant, _, _ := strings.Cut(f.Expected, ":")
			if invariant == "stored-copy-agrees" { // the upload that explains it, accounting has looked for
				continue
			}
			names := slices.Concat(departure, blamed(found, f.Object, "conformance", "accounting"))
			if f.Oracle == "conformance" { // accounting knows better what is stored
				names = slices.Concat(names, r.withoutFile(f.Object), r.needed(f.Object, release))
			}
			if f.Oracle == "accounting" && r.unpatched(f.Object) {
				names = append(names, failureForgotten)
			}
			if f.Seen == notStored { // storedOperations has looked whether it explains that
				names = slices.DeleteFunc(names, func(name string) bool { return name == missingOperations })
			}
			for _, name := range names {
				explains := slices.Contains(phase.Named(name).Breaks, invariant) || f.Expected == nothingStored && name == overtaken
				if explains && !slices.Contains(found[i].Rules, name) {
					found[i].Rules = append(found[i].Rules, name)
				}
			}
		}
	}
	for i, f := range found {
		if f.Oracle == "prediction" && len(f.Rules) == 0 { // the change of phase itself may be the rule's
			found[i].Rules = blamed(found, f.Object, "conformance")
		}
	}
}

// excuse names the rule about stale reads where nothing else explains what followed one, and that about two servers where nothing else
// explains what they did.
func (r *run) excuse(found []Finding) {
	for i, f := range found {
		switch {
		case len(f.Rules) > 0:
		case r.follows(f, r.stale):
			found[i].Rules = []string{phase.StaleReadActedUpon}
		case r.follows(f, r.contested):
			found[i].Rules = []string{phase.ServersNotFenced}
		}
	}
}

// excused reports whether the finding is about what two runs of an object have come to that know nothing of each other.
func (r *run) excused(f Finding) bool { return r.follows(f, r.stale) || r.follows(f, r.contested) }

// contests are the events, by object, from which on two servers work on the object, if the release lets them.
func (r *run) contests(release phase.Rules) map[string]int {
	events := map[string]int{}
	for _, o := range r.objects {
		if event, ok := model.Contested(o.name, r.trace); ok && phase.Named(phase.ServersNotFenced).Deviates(release) {
			events[o.name] = event
		}
	}
	return events
}

// overtaken is the rule by which a run that goes on stores what was deleted.
const overtaken = "deletion-overtaken"

// withoutFile names the rule by which the object was finalized as one without operations, if their file was gone when it was.
func (r *run) withoutFile(object string) []string {
	o := r.find(object)
	if o == nil || o.store != nil && len(o.store.Operations) > 0 {
		return nil
	}
	for _, c := range o.changes {
		if strings.HasPrefix(c.To, finalizes) && r.forgotten(o, c.event) {
			return []string{missingOperations}
		}
	}
	return nil
}

// failureForgotten is the rule by which the errors of a pass whose patch does not land are forgotten.
const failureForgotten = "failure-forgotten-before-patch"

// unpatched reports whether a patch of the operations controller that counts errors of the object did not land.
func (r *run) unpatched(object string) bool {
	return slices.ContainsFunc(r.events, func(e trace.Event) bool {
		if e.Write == nil || e.Object != object || e.Write.Error == "" || !strings.HasSuffix(e.Write.Client, "-operations") {
			return false
		}
		errors, _ := patched(e.Write)
		return errors > 0
	})
}

// blamed are the rules that the findings of some oracles about the object name.
func blamed(found []Finding, object string, oracles ...string) []string {
	var rules []string
	for _, f := range found {
		if f.Object == object && slices.Contains(oracles, f.Oracle) {
			rules = append(rules, f.Rules...)
		}
	}
	return rules
}

// explicable reports whether another way of the object may explain a finding of expectation. When the operations differ that were
// attempted, so does what its plugins have done before.
func (r *run) explicable(f Finding, want scenario.Outcome) bool {
	o := r.find(f.Object)
	if o != nil && o.api != nil && want.Operations != nil && f.Expected == counts(*want.Operations) {
		return o.api.Attempted == want.Operations.Attempted
	}
	return !strings.HasPrefix(f.Expected, inTime)
}

// departure is a set of rules with which the object's path is predicted, and without any of which it is not. Nil: it is as
// is demanded, or as neither the demanded reading nor the release's have it, or nothing can be predicted and conformance blames no rule
// either. An object that was never created goes the way of the one that it waits for; one that a call for another holds departs by
// that call.
func (r *run) departure(name string, release phase.Rules, found []Finding) []string {
	o := r.find(name)
	demanded := r.predictionOf(name, release.Demanded())
	if o == nil {
		if demanded == nil || len(demanded.Paths) == 0 {
			return nil // nor is it demanded
		}
		for _, before := range r.before(name) {
			if r.find(before) == nil {
				continue
			}
			if rules := r.departure(before, release, found); rules != nil {
				return rules
			}
		}
		return nil
	}
	allowed := func(rules phase.Rules) bool {
		p := r.predictionOf(name, rules)
		return p != nil && r.followsPath(o, p)
	}
	switch holder := r.holder(o); {
	case demanded == nil && holder != nil && (holder.object != o || holder.ofStore()) && release.PluginCallWithoutDeadline:
		return []string{phase.PluginCallWithoutDeadline}
	case demanded == nil || allowed(release.Demanded()):
		if rule := r.overlooked(o).Name; rule != "" {
			return []string{rule}
		}
		return blamed(found, name, "conformance") // prediction is no help, but a change of phase may be
	}
	// A plugin is scripted to hang for ever, or not at all: that a call has, the trace must show.
	if !overlong(o, found) {
		release = release.Without(phase.Named(phase.PluginCallWithoutDeadline))
	}
	if !allowed(release) {
		return nil
	}
	rules := least(release, allowed)
	if slices.Equal(rules, []string{phase.PluginCallWithoutDeadline}) && !final(o.phase()) && r.holder(o) == nil {
		return nil // no call holds it any more
	}
	return rules
}

// overlong reports whether contract has found a call that took too long, for the object or for another of its kind, which may have
// waited for it.
func overlong(o *object, found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool {
		kind, known := kindOf(f.Object)
		return f.Oracle == "contract" && (!known || kind == o.kind) && slices.Contains(f.Rules, phase.PluginCallWithoutDeadline)
	})
}

// needed is a set of rules without any of which the model refuses what the trace shows of an object, but for two of which other events show
// whether they are (withoutFile, staleReads).
func (r *run) needed(name string, release phase.Rules) []string {
	release = release.Without(phase.Named(missingOperations)).Without(phase.Named(phase.StaleReadActedUpon))
	o := r.find(name)
	accepted := func(rules phase.Rules) bool {
		m, err := r.check(rules, name)
		return err == nil && r.fits(o, m)
	}
	if !accepted(release) {
		return nil
	}
	return least(release, accepted)
}

// least are the rules of a reading that is accepted without any of which it is not.
func least(release phase.Rules, accepted func(phase.Rules) bool) (rules []string) {
	for _, rule := range phase.All() {
		switch without := release.Without(rule); {
		case !rule.Deviates(release):
		case accepted(without):
			release = without
		default:
			rules = append(rules, rule.Name)
		}
	}
	return rules
}
