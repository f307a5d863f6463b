package virtual_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// story tells what has become of one write and of the faults at it: the write, its error, and the events that come with it.
func story(tr trace.Trace, of func(trace.Event) bool) []string {
	var told []string
	for _, e := range tr.Events {
		switch {
		case e.Fault != nil:
			told = append(told, "fault: "+e.Fault.What)
		case e.Write != nil && of(e) && e.Write.Error != "":
			told = append(told, e.Write.Client+" "+e.Write.Verb+": "+e.Write.Error)
		case e.Write != nil && of(e):
			told = append(told, e.Write.Client+" "+e.Write.Verb)
		case e.Phase != nil && of(e):
			told = append(told, e.Phase.To)
		case e.Process != nil && e.Process.Name == "server":
			told = append(told, "server "+e.Process.State)
		}
	}
	return told
}

// TestWriteFaults: what strikes before a write comes before it, and what strikes after it finds it applied.
func TestWriteFaults(t *testing.T) {
	const unavailable = ": the server is currently unable to handle the request"
	for name, test := range map[string]struct {
		faults, phase string
		want          []string // what comes later may be a finalizer that reads its cache too early
	}{
		"refused twice": {
			"{at: {write: {phase: Completed}}, do: {refuse: ServiceUnavailable}, times: 2}", "Completed",
			[]string{
				"server started", "fault: the patch of backup/backup-1 is refused: ServiceUnavailable, 2 times", "backup-finalizer patch" + unavailable,
				"backup-finalizer patch" + unavailable, "backup-finalizer patch", "Completed",
			},
		},
		"its reply lost": {
			"{at: {write: {phase: Completed}}, do: {loseReply: true}}", "Completed",
			[]string{
				"server started", "backup-finalizer patch", "Completed", "fault: the patch of backup/backup-1 was applied, and its reply is lost",
				"backup-finalizer patch",
			},
		},
		"the server killed before it": {
			"{at: {write: {phase: Completed}}, do: {kill: {}}}", "Completed",
			[]string{
				"server started", "fault: the server is killed, and restarted after 10s", "server killed", "server started", "backup-finalizer patch", "Completed",
			},
		},
		"the server killed after it": {
			"{at: {write: {phase: Completed}, after: true}, do: {kill: {}}}", "Completed",
			[]string{
				"server started", "backup-finalizer patch", "Completed", "fault: the server is killed, and restarted after 10s", "server killed", "server started",
			},
		},
		"the user before it": {
			"{at: {write: {phase: Completed}}, do: {describe: backup/backup-1}}", "Completed",
			[]string{"server started", "fault: the user describes backup/backup-1", "backup-finalizer patch", "Completed"},
		},
		"the user after it": {
			"{at: {write: {phase: Completed}, after: true}, do: {describe: backup/backup-1}}", "Completed",
			[]string{"server started", "backup-finalizer patch", "Completed", "fault: the user describes backup/backup-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "test.yaml", scenarioOf(t, "\nfaults: ["+test.faults+"]", test.phase))
			last := func(e trace.Event) bool {
				return e.Object == "backup/backup-1" && (e.Write != nil && strings.Contains(e.Write.Change, "Completed") || e.Phase != nil && e.Phase.To == "Completed")
			}
			for seed := int64(1); seed <= 8; seed++ {
				told := story(run(t, s, seed), last)
				if diff := cmp.Diff(test.want, told[:min(len(told), len(test.want))]); diff != "" {
					t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
				}
			}
		})
	}
}

// TestLatency: a request that is held up is applied so much later, and a reply is seen so much later.
func TestLatency(t *testing.T) {
	for name, test := range map[string]struct {
		at     string
		phases []string // the first comes in good time, and the second not before the latency is over
	}{
		"of the request": {"{write: {phase: Finalizing}}", []string{"InProgress", "Finalizing"}},
		"of the reply":   {"{write: {phase: InProgress}, after: true}", []string{"InProgress", "Finalizing"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "test.yaml", scenarioOf(t, "\nfaults: [{at: "+test.at+", do: {latency: 1m}}]", "Completed"))
			tr := run(t, s, 1)
			when := func(phase string) time.Duration {
				i := slices.IndexFunc(tr.Events, func(e trace.Event) bool {
					return e.Phase != nil && e.Object == "backup/backup-1" && e.Phase.To == phase
				})
				return time.Duration(tr.Events[max(i, 0)].At)
			}
			if took := when(test.phases[1]) - when(test.phases[0]); took < time.Minute || took > time.Minute+10*time.Second {
				t.Errorf("it took %v from %s to %s", took, test.phases[0], test.phases[1])
			}
		})
	}
}
