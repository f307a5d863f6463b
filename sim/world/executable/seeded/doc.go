// Package seeded makes what Go leaves to chance follow a seed, in an executable that is built with it: the order of maps,
// which ready case a select takes, and what math/rand/v2 draws.
//
// Velero ranges over maps, and what it does depends on their order: which namespace it restores first, for one. Go
// draws that order anew each time, so that a run could not be repeated. [Overlay] writes copies of a few files of the
// Go runtime in which each goroutine of a testing/synctest bubble has a seed of its own, drawn from the one of the
// goroutine that started it, and all that it draws follows from that; the first one's is the variable
// runtime.bubbleSeed. All else stays as it is, and no file of Go or of Velero is touched: go build -overlay reads the
// copies instead.
//
// What goroutines do at the same time stays open; they should have one processor (GOMAXPROCS).
//
//	file, err := seeded.Overlay(goroot, cache)
//	if err != nil { … }
//	exec.Command("go", "build", "-overlay="+file, …)
//
// It imports nothing of ours.
package seeded
