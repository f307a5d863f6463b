package virtual_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// TestStarts shows what a trace says of processes that do not start.
func TestStarts(t *testing.T) {
	const operation = "operation: {progress: [{at: 0s}, {at: 15s, completed: true}]}"
	for _, test := range []struct {
		name, start, rest string
		reason            string
		want              []string // states of the plugin's processes, and of servers
	}{
		{
			name: "the server's", start: "{exit: true}", rest: "expect: {server: doesNotStart}",
			reason: trace.NotStarted, want: []string{"server started", "failed", "server stopped"},
		},
		{
			name: "those of a run, a poll, another one, and a finalizer", start: "{exit: true, nth: 5, times: 2}", rest: "expect: {phase: Completed}",
			reason: trace.Settled,
			want: []string{
				"server started", "started", "stopped", "started", "stopped", "started", "stopped", "failed", "failed", "started", "stopped", "server stopped",
			},
		},
		{
			name: "they are counted anew for each server", start: "{handshake: none, nth: 3}",
			rest: "faults: [{at: {phase: WaitingForPluginOperations}, do: {kill: {}}}]\n" +
				"expect: {phase: PartiallyFailed, deviation: {rule: finalizer-retried-for-ever, phase: FinalizingPartiallyFailed}}",
			reason: trace.Bound, want: []string{"server started", "started", "stopped", "server killed", "server started", "started", "stopped", "failed"},
		},
		{
			name: "within a run, as often as Velero tries", start: "{protocol: 3, nth: 3}",
			rest: "items: [configmaps/a/a, configmaps/a/b, configmaps/a/c, configmaps/a/d, configmaps/a/e, configmaps/a/f, configmaps/a/g, configmaps/a/h," +
				" configmaps/a/i, configmaps/a/j, configmaps/a/k, configmaps/a/l, configmaps/a/m]\n" +
				"faults: [{at: {call: {plugin: example.io/mover, method: Execute}}, do: {crash: {}}}]\nexpect: {phase: PartiallyFailed}",
			reason: trace.Settled,
			want: []string{
				"server started", "started", "killed", "failed", "failed", "failed", "failed", "failed", "failed", "failed", "failed", "failed", "failed",
				"failed", "server stopped",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := run(t, parse(t, "test.yaml", "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nplugins:\n"+
				"- {name: example.io/mover, start: "+test.start+", "+operation+"}\n"+test.rest+"\n"), 1)
			var got []string
			for _, e := range tr.Events {
				switch p := e.Process; {
				case p == nil:
				case p.Name == "server":
					got = append(got, "server "+p.State)
				default:
					got = append(got, p.State)
				}
			}
			if tr.End.Reason == trace.Bound && len(got) > len(test.want) { // it goes on so
				got = got[:len(test.want)]
			}
			if diff := cmp.Diff(test.want, got); diff != "" || tr.End.Reason != test.reason {
				t.Errorf("ends %s: %s (-want +got):\n%s", tr.End.Reason, tr.End.Detail, diff)
			}
		})
	}
}
