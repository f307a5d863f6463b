// Package virtual is the world in which Velero's own controllers run in one process and in virtual time: a four-hour
// timeout passes in milliseconds, and a seed decides every interleaving.
//
// A run is one testing/synctest bubble. In it an in-memory API server (package apiserver) and an object store outlive the
// incarnations of the Velero server (package server), each of which is a controller-runtime manager with real caches,
// watches, work queues and rate limits. Requests to the API server, reads from the cache, deliveries of events, accesses
// to the object store and calls of plugins are steps of the scheduler (package sched): the seed decides which comes
// next. Between two steps goroutines run on one processor, and what Go itself leaves to chance, such as the order of maps,
// follows the seed too (sim/world/executable/seeded). The plugins are scripted (package fakeplugins), and live in the same
// process. Those of World.Plugins are executables of the user's (own.go): real processes, outside of the bubble, whose time stands still while
// one is called; they run as long as it takes, and each start of one tells it the bubble's time.
//
// What differs from the real server:
//
//   - Plugins: no process of their own, no gRPC and so no copy of what is passed nor its limit of 4 MiB. A panic becomes an
//     error as it does there, and a plugin dies with the server that has started it. Starting and ending a plugin takes no
//     time, so that a controller that is to act again does so sooner than it would: some races are met more often.
//   - API server: no latency but the scheduler's, no throttling of clients, and watches do not time out. The resync period
//     of the informers is fixed at 10 h (controller-runtime adds a jitter of a tenth), and a manager waits for its caches for
//     as long as it takes (2 min).
//   - Start-up: only what touches backups and restores is done: what was in progress is marked failed, and the default
//     location set. Discovery is not refreshed later. No location has credentials.
//   - All of the server's controllers run, but none of the node agent's, which move data. Hooks in pods have no command executor.
//   - Work queues have no heartbeat, and periodic sources list without a copy (manager.go), so that waiting is cheap.
//   - Logs hold warnings and errors only (--log-level warning).
//   - A killed server is a frozen one: what it has in memory stays, but it takes no step any more.
//
// The package imports the root module's scenario, trace, world and fakeplugins. Its smallest use:
//
//	end, err := virtual.New().Run(ctx, world.Job{Scenario: s, Seed: 1, Bound: bound}, func(e trace.Event) error { … })
package virtual
