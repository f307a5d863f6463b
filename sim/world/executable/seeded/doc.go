// Package seeded makes what Go leaves to chance follow a seed, in an executable that is built with it: the order of maps,
// which ready case a select takes, and what math/rand/v2 draws.
//
// Velero ranges over maps, and what it does depends on their order: which namespace it restores first, for one. Go
// draws that order anew each time, so that a run could not be repeated. [Overlay] writes copies of a few files of Go's
// source in which it follows from the variable runtime.bubbleSeed, in the goroutines of a testing/synctest bubble, and
// nothing else: neither from what was drawn before, nor from the process. The same goes for select, and for math/rand in so
// far as it is not seeded. All else stays as it is, and no file of Go or of Velero is touched: go build -overlay reads the
// copies instead. Maps whose keys are pointers keep an order of their own.
//
// What goroutines do at the same time stays open; they should have one processor (GOMAXPROCS).
//
//	file, err := seeded.Overlay(goroot, cache)
//	if err != nil { … }
//	exec.Command("go", "build", "-overlay="+file, …)
//
// It imports nothing of ours.
package seeded
