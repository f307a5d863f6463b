// Package plan makes scenarios of all that can go wrong in a scenario's run: it learns from a run without faults which writes, accesses
// to the object store and plugin calls there are, and plans one fault at each.
//
//	steps := plan.Learn(s, t)                                   // t is the trace of a run of s
//	plans, err := plan.Plans(file, s, steps, plan.Families())   // file is the text of s
//
// A [Step] is a point of the run, named by the object, its phase and what is done, and by how often that was done before only where these
// do not tell. A [Plan] is an ordinary scenario file: the scenario with one fault more, which must strike; what else the scenario has strike
// may no longer come. It expects the phase that the model predicts as users need it (phase.Demanded), if it predicts a single one, and
// all else is for the other oracles to say, among them verdict.Compare, with the run that was learned from.
//
// Steps at which a fault tells nothing are pruned, and say why: a write that changes nothing, progress that is written again a second
// later, what belongs to no object that the scenario expects something of, and a poll that is like the one before.
//
// The package imports sim/model, sim/phase, sim/scenario and sim/trace, and nothing else of ours.
package plan
