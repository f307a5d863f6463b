package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

func TestDescribe(t *testing.T) {
	for _, tt := range []struct {
		name  string
		trace trace.Trace
		at    time.Duration
	}{
		{"queued", timesOut(), 0},
		{"waiting-for-two", timesOut(), 10 * time.Second},
		{"waiting-for-one", timesOut(), 2*time.Hour + time.Minute},
		{"timed-out", timesOut(), time.Duration(timesOut().Last())},
		{"hung-before-kill", hangs(), time.Minute},
		{"server-down", hangs(), 70 * time.Second},
		{"restarted", hangs(), 75 * time.Second},
		{"hung-at-the-end", hangs(), time.Duration(hangs().Last())},
		{"executing", restores(), 90 * time.Second},
		{"panicked", restores(), time.Hour},
		{"scheduled-and-deleted", deletes(), time.Hour},
		{"brought-back", removes(), time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if _, err := trace.Describe(tt.trace, trace.Time(tt.at)).WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, "describe/"+tt.name+".golden", b.String())
		})
	}
}

// What an object waits for, phase by phase, without a plugin in sight.
func TestDescribeWaiting(t *testing.T) {
	for _, tt := range []struct {
		name  string
		build func(*script)
		want  string // empty: nothing
	}{
		{"server not started", func(s *script) { s.create(backup, 0, "") }, "the server, which has not started, since 0s"},
		{"created", func(s *script) { s.server("started"); s.create(backup, 0, "") }, "the server to take it up, since 0s"},
		{"ready", func(s *script) { s.server("started"); s.phase(backup, "", "ReadyToStart") }, "the server to start it, since 0s"},
		{"in progress", func(s *script) { s.server("started"); s.phase(backup, "", "InProgress") }, "the server to go through the items, since 0s"},
		{"waiting, all ended", func(s *script) { s.server("started"); s.phase(backup, "", "WaitingForPluginOperations") }, "the server's next poll, since 0s"},
		{"finalizing", func(s *script) { s.server("started"); s.phase(backup, "", "Finalizing") }, "the server to finalize it, since 0s"},
		{"one of two servers is killed", func(s *script) {
			s.server("started")
			s.phase(backup, "", "InProgress")
			s.incarnation = 2
			s.server("started")
			s.incarnation = 1
			s.server("killed")
		}, "the server to go through the items, since 0s"},
		{"both are", func(s *script) {
			s.server("started")
			s.phase(backup, "", "InProgress")
			s.incarnation = 2
			s.server("started")
			s.server("killed")
			s.incarnation = 1
			s.server("killed")
		}, "the server, which is down (killed), since 0s"},
		{"a reconcile failed", func(s *script) {
			s.server("started")
			s.phase(backup, "", "InProgress")
			s.add("", trace.Body{Reconcile: &trace.Reconcile{Controller: "backup", Error: "conflict"}})
			s.phase(backup, "InProgress", "Finalizing")
			s.at = time.Second
			s.add("", trace.Body{Reconcile: &trace.Reconcile{Controller: "backup-finalizer", Error: "no such object"}})
		}, "the server to finalize it (last reconcile, at 1s: backup-finalizer: no such object), since 0s"},
		{"a reconcile of the phase before failed", func(s *script) {
			s.server("started")
			s.phase(backup, "", "InProgress")
			s.add("", trace.Body{Reconcile: &trace.Reconcile{Controller: "backup", Error: "conflict"}})
			s.phase(backup, "InProgress", "Finalizing")
		}, "the server to finalize it, since 0s"},
		{"stopped", func(s *script) {
			s.server("started")
			s.phase(backup, "", "Finalizing")
			s.at = time.Hour
			s.server("stopped")
		}, "the server, which is down (stopped), since 1h0m0s"},
		{"completed", func(s *script) { s.server("started"); s.phase(backup, "", "Completed") }, ""},
		{"gone while it waited", func(s *script) {
			s.server("started")
			s.phase(backup, "", "WaitingForPluginOperations")
			s.execute(backup, "configmaps/app/settings", "mover-1")
			s.add(backup, trace.Body{Deleted: &trace.Deleted{}})
		}, ""},
		{"a call for no object, in a phase in which there are such", func(s *script) {
			s.server("started")
			s.phase(backup, "", "InProgress")
			s.call("", trace.Call{Method: "AppliesTo"})
		}, "a reply to example.io/mover AppliesTo, since 0s"},
		{"a call for no object, in another phase", func(s *script) {
			s.server("started")
			s.phase(backup, "", "Queued")
			s.call("", trace.Call{Method: "AppliesTo"})
		}, "its turn in the queue, since 0s"},
		{"failed, server down", func(s *script) { s.phase(backup, "", "Failed") }, ""},
		{"no timeout known", func(s *script) {
			s.server("started")
			s.phase(backup, "", "WaitingForPluginOperations")
			s.execute(backup, "configmaps/app/settings", "mover-1")
		}, "operation mover-1 of example.io/mover on configmaps/app/settings, since 0s"},
		{"progress after a restart undoes the time-out", func(s *script) {
			s.server("started")
			s.create(backup, time.Hour, "")
			s.phase(backup, "", "WaitingForPluginOperations")
			s.execute(backup, "configmaps/app/settings", "mover-1")
			s.cancel(backup, "mover-1")
			s.poll(backup, "mover-1", progress(1, 0))
		}, "operation mover-1 of example.io/mover on configmaps/app/settings, since 0s, until 1h0m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(tt.name)
			tt.build(s)
			var got []string
			for _, w := range trace.Describe(s.Trace, s.Last()).Objects[0].Waiting {
				got = append(got, w.String())
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
