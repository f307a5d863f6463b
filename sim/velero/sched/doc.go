// Package sched makes the goroutines of a testing/synctest bubble take turns, in an order that a seed decides.
//
// A goroutine that is about to do something that others can see (a request to the API server, an access to the object
// store, a call of a plugin, an event delivered) first calls [Process.Step] and is parked there. The [Scheduler], running
// in the bubble's first goroutine, waits until every goroutine is blocked, picks one of those parked and lets it go on to
// its next step. With nothing parked, virtual time moves. So one goroutine at a time acts on the world, every order of
// actions is some seed's, and a seed gives the same order again.
//
// A [Process] is a group of goroutines that die together. [Process.Kill] freezes it: from that instant none of its
// goroutines passes a step, as if the machine under it had lost its power; [Process.Pause] does so for a time. At the end of a run
// [Scheduler.Drain] makes all of them end.
//
// The package knows nothing of Velero or Kubernetes and imports nothing of ours:
//
//	s := sched.New(seed, new(atomic.Int64))
//	p := s.Process()
//	go func() { if p.Step("a", "put") { store.Put("a") } }()
//	go func() { if p.Step("b", "put") { store.Put("b") } }()
//	reached, err := s.Run(ctx, func() bool { return store.Len() == 2 }, time.Now().Add(time.Hour))
package sched
