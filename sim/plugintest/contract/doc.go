// Package contract is what Velero demands of an item action plugin, as checks over traces of its calls.
//
// The calls are made by a server, through a pass-through that records them, or directly, to a process that is started as Velero starts it
// (envtest). A check is a pure function of the traces: it says pass, fail, inconclusive or not applicable, with what was seen. [Card] is what
// `velosim plugin test` prints.
//
// The package imports sim/trace, sim/scenario and sim/verdict; no world, and nothing of Velero's.
package contract
