// Package model is the world around the machine of sim/phase: the operations in their plugins, what the object store has of
// them, servers that die, and writes that fail. [Explore] visits all that can follow, for the reading of a release or for the
// one that is demanded, and so shows that every run ends in a final phase, or the shortest way to one that does not.
// [Predict] does the same within what the plugins and faults of a scenario do, for each of its objects: what others do to it is a
// matter of which of their calls come before its own, which points of faults are theirs, and what they may hold for ever. [Check]
// follows an object of a trace through the machine, and names the first event that does not fit.
//
// Time has no clock: only how many of the operations, the oldest first, are past their deadline, which changes between polls.
// What a plugin says is chosen when it is asked, and holds from then on. A poll is one operation after another; in between,
// the server dies only where others could tell ([Machine.Unreduced] shows that nothing is lost by that).
//
// Safety is the invariants of sim/phase and a few properties of the model's own. A state that nothing but users and faults
// lead on from is stuck. Liveness asks that no cycle goes on without end: deadlines pass in the end, and all else, such as
// what plugins answer, and which of its steps the server makes, is up to an adversary.
//
// A deletion of what has ended is left out, and so are the informers' resyncs: a backup that nothing but a resync after ten
// hours takes up counts as forgotten. What is done to an object by what it was before its last change ([phase.RunRepeated] and the like),
// only [Check] knows, and follows the object no further: it can happen at any time, and everything after.
//
//	report, err := model.Explore(ctx, model.Config{
//		Machine: model.Machine{Spec: phase.Demanded()}, Kind: phase.Backup, Items: 3,
//		Faults: model.Budget{Crashes: 2, API: 1, Store: 1}, NoSymmetry: true,
//	})
//
// It imports sim/phase, sim/scenario and sim/trace, and nothing else of ours.
package model
