package verdict

import (
	"testing"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestServerDoesNotStart: that is judged by how the run ends, and by what is created.
func TestServerDoesNotStart(t *testing.T) {
	unstarted := func(s *scenario.Scenario) {
		s.Plugins[0].Start.Exit = true
		s.Expect = scenario.Expect{Server: scenario.DoesNotStart, Object: "backup/backup-1"}
	}
	down := func(reason string) trace.Trace {
		s := &script{incarnation: 1, t: trace.Trace{Header: begin().t.Header}}
		return s.server("started").server("stopped").ends(reason)
	}
	started := func(seen string) []brief {
		return []brief{{"expectation", "the server does not start", "it did, and the run is " + seen}}
	}
	created := brief{"expectation", "the server does not start, and nothing is created", "it was created"}
	for _, j := range []judged{
		{name: "it does not", change: unstarted, trace: down(trace.NotStarted), result: Pass},
		{name: "it does, and nothing comes of it", change: unstarted, trace: down(trace.Settled), result: Fail, found: started("settled")},
		{name: "it does for long", change: unstarted, trace: down(trace.Bound), result: Fail, found: started("bound")},
		{
			name: "it does, and makes a backup", change: unstarted, trace: healthy().rests(1, 0).settles(), result: Fail,
			found: append(started("settled"), created),
		},
		{name: "it has made one", change: unstarted, trace: begin().ends(trace.NotStarted), result: Fail, found: []brief{created}},
		{
			name: "it ends for another reason", change: unstarted, trace: down(trace.Environment), result: Inconclusive,
			found: []brief{{"completeness", "a run that ends by itself or at its bound", "environment"}},
		},
		{
			name: "it does not, and that is not expected", trace: down(trace.NotStarted), result: Inconclusive,
			found: []brief{{"completeness", "a server that starts", "not started"}},
		},
	} {
		j.run(t)
	}
}
