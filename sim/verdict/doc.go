// Package verdict says what a run shows: a pass, a failure, a known deviation of the release, or nothing conclusive.
//
// Judge reads a scenario and the trace of its run; Verdict.Print tells a person what came of it. Bound is how long a run can
// take at most. Everything here is a pure function of its arguments.
//
// A run is judged twice at most. First as users need it: the outcome that the scenario expects, under phase.Demanded. Of what
// that finds, attribution names the rules that explain it: the object's path is predicted with them and not without,
// the trace fits with them, or it shows what breaks them, such as a call that takes an hour. If rules in which the release deviates
// explain everything, the run is a known deviation, whatever the scenario names. Where the release does something to an object by what
// it was before its last change (phase.StaleReadActedUpon), that rule explains all that follows about the object and what depends on it: two
// runs of it go on at once.
//
// If the scenario names a deviation that the trace's release has, and that explains what was found or something is left
// unexplained, the run is judged again as the release does it: the deviation's outcome, under phase.ForRelease. Accepted, it is a
// known deviation; rejected, a failure. So is a witness of a rule (phase.Rule) that no longer shows its deviation, so that the rule gets
// updated; any other scenario that names the rule then passes.
//
// The oracles, one file each, and what they demand:
//
//   - expectation: the outcomes written in the scenario, of its object and others, and the points that must be passed. Only judged on a
//     whole run that shows all that the scenario is about.
//   - prediction: each object takes a path that the model predicts.
//   - conformance: every change of phase is legal, the invariants of sim/phase hold at each, and an object is deleted as somebody asks.
//   - liveness: every object reaches a final phase or is gone, within Bound; else it says what the object waits for, and the call for
//     another object that holds it. A backup that is Deleting goes, unless its deletion had errors.
//   - accounting: at rest, the counts keep the invariants of sim/phase, the resource and its stored copy agree, and so do the
//     stored operations and what their plugins have said; of what Velero has deleted, nothing is stored.
//   - contract: Velero calls Cancel and Progress as plugins may rely on, gives calls up at their deadline where that is demanded,
//     and leaves no plugin process behind.
//   - panic: neither the server nor a controller panics.
//   - differential: what takes the same path as without a fault shows nothing else of it either (Compare).
//
// Two more names appear in findings: deviation, for one that no longer shows, and completeness, for what the trace lacks. A
// run that lacks something is inconclusive, unless it has failed already. One in which a server acts that is dead is
// inconclusive whatever else it shows: its world is broken.
//
// The package imports sim/model, sim/phase, sim/scenario and sim/trace. Its smallest use:
//
//	v := verdict.Judge(s, t)
//	err := v.Print(os.Stdout)
package verdict
