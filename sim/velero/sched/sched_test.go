package sched_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/velosim/velosim/sim/velero/sched"
)

// walkers runs three goroutines that take three steps each, and returns the order in which they took them.
func walkers(t *testing.T, seed int64) []string {
	var order []string
	synctest.Test(t, func(t *testing.T) {
		s := sched.New(seed, new(atomic.Int64))
		p := s.Process()
		var wg sync.WaitGroup
		for _, who := range []string{"a", "b", "c"} {
			wg.Go(func() {
				for i := range 3 {
					p.Step(who, fmt.Sprint("step ", i))
					order = append(order, fmt.Sprint(who, i)) // no lock: one acts at a time
				}
			})
		}
		done, err := s.Run(t.Context(), func() bool { return len(order) == 9 }, time.Now().Add(time.Hour))
		if !done || err != nil {
			t.Errorf("Run = %v, %v after %v", done, err, order)
		}
		wg.Wait()
	})
	return order
}

func TestSeedDecidesTheOrder(t *testing.T) {
	orders := map[string]bool{}
	for seed := range int64(60) {
		first := walkers(t, seed)
		for range 5 {
			if again := walkers(t, seed); !slices.Equal(first, again) {
				t.Fatalf("seed %d: %v, then %v", seed, first, again)
			}
		}
		orders[strings.Join(first, " ")] = true
	}
	if len(orders) < 30 {
		t.Errorf("60 seeds made only %d orders", len(orders))
	}
}

func TestEveryOrderIsReachable(t *testing.T) {
	firsts := map[string]bool{}
	for seed := range int64(60) {
		firsts[strings.Join(walkers(t, seed)[:2], " ")] = true
	}
	for _, want := range []string{"a0 a1", "a0 b0", "a0 c0", "b0 a0", "b0 b1", "b0 c0", "c0 a0", "c0 b0", "c0 c1"} {
		if !firsts[want] {
			t.Errorf("no seed begins with %s", want)
		}
	}
}

// late reports whether a goroutine that is between two steps stays there while another one takes many.
func late(t *testing.T, seed int64) (late bool) {
	synctest.Test(t, func(t *testing.T) {
		s := sched.New(seed, new(atomic.Int64))
		p := s.Process()
		begun, replied, steps := make(chan bool), false, 0
		go func() {
			p.Step("queue", "patch")
			close(begun)
			p.Step("queue", "reply")
			replied = true
		}()
		go func() {
			for <-begun; steps < 40; steps++ {
				p.Step("backup", "step")
			}
			late = !replied
		}()
		if done, err := s.Run(t.Context(), func() bool { return replied && steps == 40 }, time.Now().Add(time.Hour)); !done || err != nil {
			t.Errorf("Run = %v, %v", done, err)
		}
	})
	return late
}

// Chance alone would need 2^40 seeds.
func TestPrioritiesFindDeepRaces(t *testing.T) {
	found := map[int64]int{}
	for seed := range int64(400) {
		if late(t, seed) {
			found[seed%4]++
		}
	}
	t.Logf("found by 100 seeds of each remainder: %v", found)
	if found[1] > 0 || found[3] < 20 || found[0] < 5 {
		t.Errorf("found %v, want none at remainder 1, 20 at 3 and 5 at 0", found)
	}
}

func TestGoroutinesOfOneActorHaveEveryOrder(t *testing.T) {
	for _, policy := range []int64{0, 1, 2, 3} {
		firsts := map[string]bool{}
		for n := range int64(60) {
			synctest.Test(t, func(t *testing.T) {
				s := sched.New(policy+4*n, new(atomic.Int64))
				p := s.Process()
				var order []string
				act := func(what string) {
					p.Step("a", what)
					order = append(order, what)
				}
				first := func() { act("equal") } // told apart by nothing but their stacks
				second := func() { act("equal"); order = append(order, "second") }
				go first()
				go second()
				go act("other")
				if done, err := s.Run(t.Context(), func() bool { return len(order) == 4 }, time.Now().Add(time.Hour)); !done || err != nil {
					t.Errorf("Run = %v, %v", done, err)
				}
				firsts[strings.Join(order[:2], " ")] = true
			})
		}
		for _, want := range []string{"equal second", "other equal", "equal equal", "equal other"} {
			if !firsts[want] {
				t.Errorf("remainder %d: no seed begins with %s", policy, want)
			}
		}
	}
}

func TestVirtualTimePassesWhenNothingIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := sched.New(1, new(atomic.Int64)), time.Now()
		p := s.Process()
		acted := false
		go func() {
			time.Sleep(4 * time.Hour)
			p.Step("a", "act")
			acted = true
		}()
		if done, err := s.Run(t.Context(), func() bool { return acted }, began.Add(5*time.Hour)); !done || err != nil {
			t.Errorf("Run = %v, %v", done, err)
		}
		if d := time.Since(began); d != 4*time.Hour {
			t.Errorf("%v passed, want 4h", d)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		done, err := sched.New(1, new(atomic.Int64)).Run(t.Context(), func() bool { return false }, began.Add(time.Minute))
		if done || err != nil || time.Since(began) != time.Minute {
			t.Errorf("Run = %v, %v after %v", done, err, time.Since(began))
		}
	})
}

func TestTieFailsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sched.New(1, new(atomic.Int64))
		p := s.Process()
		for range 2 {
			go p.Step("a", "act")
		}
		if _, err := s.Run(t.Context(), func() bool { return false }, time.Now().Add(time.Hour)); !errors.Is(err, sched.ErrTie) {
			t.Errorf("Run = %v, want ErrTie", err)
		}
		s.Drain()
	})
}

func TestCancelledContextEndsRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context()) // outside the bubble, as in a world
	cancel()
	synctest.Test(t, func(t *testing.T) {
		if _, err := sched.New(1, new(atomic.Int64)).Run(ctx, func() bool { return false }, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want context.Canceled", err)
		}
	})
}

func TestKilledProcessDoesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sched.New(1, new(atomic.Int64))
		dead, alive := s.Process(), s.Process()
		var did []string
		deferred := 0
		act := func(p *sched.Process, who string) {
			defer func() { deferred++ }()
			for i := range 3 {
				if !p.Step(who, "act") {
					return
				}
				did = append(did, who)
				if who == "dead" && i == 0 {
					p.Kill()
				}
			}
		}
		go act(dead, "dead")
		go func() {
			time.Sleep(time.Minute)
			act(alive, "alive")
		}()
		if done, err := s.Run(t.Context(), func() bool { return deferred == 1 }, time.Now().Add(time.Hour)); !done || err != nil {
			t.Errorf("Run = %v, %v", done, err)
		}
		if want := []string{"dead", "alive", "alive", "alive"}; !slices.Equal(did, want) {
			t.Errorf("did %v, want %v", did, want)
		}
		s.Drain()
		synctest.Wait()
		if deferred != 2 || len(did) != 4 {
			t.Errorf("after Drain: %d deferred, %v", deferred, did)
		}
	})
}

func TestDrainEndsEndlessRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sched.New(1, new(atomic.Int64))
		p := s.Process()
		tries, ended := 0, false
		go func() {
			defer func() { ended = true }()
			for wait := time.Second; ; wait *= 5 {
				p.Step("a", "try")
				tries++
				time.Sleep(wait)
			}
		}()
		synctest.Wait()
		s.Drain()
		time.Sleep(24 * time.Hour)
		if synctest.Wait(); !ended || tries < 2 {
			t.Errorf("after a day: ended %v, %d tries", ended, tries)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	// The benchmark's clock must run outside the bubble. synctest.Test wants a T; nothing is reported to it.
	synctest.Test(new(testing.T), func(*testing.T) {
		s := sched.New(1, new(atomic.Int64))
		p := s.Process()
		for _, who := range []string{"a", "b", "c", "d"} {
			go func() {
				for p.Step(who, "act") {
				}
			}()
		}
		n := 0
		_, _ = s.Run(context.Background(), func() bool { n++; return n > b.N }, time.Now().Add(time.Hour))
		s.Drain()
	})
}

func TestPauseHoldsAProcessAndNotItsChildren(t *testing.T) {
	for seed := range int64(8) {
		synctest.Test(t, func(t *testing.T) {
			s, began := sched.New(seed, new(atomic.Int64)), time.Now()
			paused, other := s.Process(), s.Process()
			at := map[string]time.Duration{}
			act := func(who string, step func(who, what string) bool) {
				step(who, "act")
				at[who] = time.Since(began)
			}
			go act("server", paused.Step)
			go act("plugin", paused.StepApart)
			go act("other", other.Step)
			paused.Pause()
			paused.Pause()
			all := func(n int) func() bool { return func() bool { return len(at) == n } }
			for _, minute := range []int{1, 2} { // one pause ends, then the other
				if done, err := s.Run(t.Context(), all(3), began.Add(time.Duration(minute)*time.Minute)); done || err != nil {
					t.Fatalf("Run = %v, %v with %v", done, err, at)
				}
				paused.Resume()
			}
			if done, err := s.Run(t.Context(), all(3), began.Add(time.Hour)); !done || err != nil {
				t.Fatalf("Run = %v, %v with %v", done, err, at)
			}
			if at["server"] < 2*time.Minute || at["plugin"] >= time.Minute || at["other"] >= time.Minute {
				t.Errorf("seed %d: %v, want the server alone to act after its pauses", seed, at)
			}
		})
	}
}

func TestPausedProcessCanBeKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := sched.New(1, new(atomic.Int64)), time.Now()
		p := s.Process()
		acted := false
		go func() { acted = p.Step("a", "act") }()
		p.Pause()
		p.Kill()
		p.Resume()
		if done, err := s.Run(t.Context(), func() bool { return acted }, began.Add(time.Minute)); done || err != nil {
			t.Errorf("Run = %v, %v", done, err)
		}
		s.Drain()
	})
}
