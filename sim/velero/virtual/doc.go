// Package virtual is the world in which Velero's own controllers run in one process and in virtual time: a four-hour
// timeout passes in milliseconds, and a seed decides every interleaving.
//
// A run is one testing/synctest bubble. In it an in-memory API server (package apiserver) and an object store outlive the
// incarnations of the Velero server (package server), each of which is a controller-runtime manager with real caches,
// watches, work queues and rate limits. Requests to the API server, reads from the cache, deliveries of events, accesses
// to the object store and calls of plugins are steps of the scheduler (package sched). The plugins are scripted
// (package fakeplugins), and live in the same process; everything else about them is as in Velero.
//
// What differs from the real server, and why it may: the resync period of the informers is fixed at 10 h (controller-runtime
// adds a jitter of a tenth); watches do not time out; discovery is refreshed at the start only; hooks in pods have
// no command executor; of the server's controllers, those for deletion, garbage collection, sync, schedules, downloads,
// repositories and status requests do not run.
//
// The package imports the root module's scenario, trace, world and fakeplugins. Its smallest use:
//
//	end, err := virtual.New().Run(ctx, world.Job{Scenario: s, Seed: 1, Bound: bound}, func(e trace.Event) error { … })
package virtual
