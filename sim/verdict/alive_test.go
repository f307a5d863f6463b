package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// TestNobodyActsAfterDeath doctors worlds: in a faithful one, a server that is not alive does nothing.
func TestNobodyActsAfterDeath(t *testing.T) {
	// ghost lets an incarnation act in the middle of a backup that waits, and the run go on faithfully in another one.
	ghost := func(incarnation int, act func(*script)) trace.Trace {
		s := waiting().wait(time.Minute).restart(time.Minute)
		s.incarnation = incarnation
		act(s)
		s.incarnation = 2
		return s.wait(time.Hour).progress(mover1, trace.Progress{Completed: true}).phases("Finalizing", "Completed").rests(1, 0).settles()
	}
	body := func(b trace.Body) func(*script) { return func(s *script) { s.add("", b) } }
	put := body(trace.Body{Store: &trace.Store{Verb: "put", Key: "bucket/k"}})
	killed := "event %s of incarnation 1, which was killed at 1m10s"
	for _, j := range []struct {
		name  string
		trace trace.Trace
		seen  string // empty: nothing is wrong
	}{
		{"a call", ghost(1, func(s *script) { s.calling(progress, mover1) }), fmt.Sprintf(killed, "13") + ": call 3: example.io/mover Progress mover-1"},
		{
			"a return, and what it led to", func() trace.Trace {
				s := waiting().calling(progress, mover1).server("killed").returns(trace.Return{Progress: &trace.Progress{Completed: true}})
				return s.phases("Finalizing", "Completed").rests(1, 0).settles()
			}(), "event 13 of incarnation 1, which was killed at 10s: call 3 returned: 0 of 0, completed",
		},
		{"a change of phase", ghost(1, func(s *script) { s.phases("Failed") }), fmt.Sprintf(killed, "13") + ": WaitingForPluginOperations → Failed"},
		{
			"a write", ghost(1, body(trace.Body{Write: &trace.Write{Client: "gc", Verb: "patch", Resource: "velero", Name: "backup-1"}})),
			fmt.Sprintf(killed, "13") + ": gc: patch velero backup-1 ",
		},
		{"an access to the store", ghost(1, put), fmt.Sprintf(killed, "13") + ": store put bucket/k "},
		{
			"a reconcile", ghost(1, body(trace.Body{Reconcile: &trace.Reconcile{Controller: "gc", Error: "no"}})),
			fmt.Sprintf(killed, "13") + ": gc failed: no",
		},
		{"a plugin's process starts", ghost(1, func(s *script) { s.process(mover, "started") }), fmt.Sprintf(killed, "13") + ": process example.io/mover started"},
		{"the server starts again as the same", ghost(1, func(s *script) { s.server("started") }), fmt.Sprintf(killed, "13") + ": process server started"},
		{"a server that never started", ghost(3, put), "event 13 of incarnation 3, which never started: store put bucket/k "},
		{"a server before its start", func() trace.Trace {
			s := begin()
			s.incarnation = 2
			put(s)
			return s.server("started").rest(trace.Rest{Copy: "api"}).settles()
		}(), "event 3 of incarnation 2, which never started: store put bucket/k "},
		{"after a graceful stop", healthy().server("stopped").cancel(mover1).rests(1, 0).settles(), "event 18 of incarnation 1, which was stopped at 1h0m10s: call 5: example.io/mover Cancel mover-1"},
		{"every server was killed", func() trace.Trace {
			s := waiting()
			s.incarnation = 0
			s.server("killed")
			s.incarnation = 1
			put(s)
			return s.rest(trace.Rest{Copy: "api"}).settles()
		}(), "event 12 of incarnation 1, which was killed at 10s: store put bucket/k "},
		{"a plugin's process ends after its server", ghost(1, func(s *script) { s.process(mover, "killed") }), ""},
		{"the user and the world are no server", ghost(0, put), ""},
	} {
		want := judged{name: j.name, trace: j.trace, result: Pass}
		if j.seen != "" {
			want.result = Inconclusive
			want.found = []brief{{"completeness", "no event of a server that is dead", j.seen}}
		}
		want.run(t)
	}
}
