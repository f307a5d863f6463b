package verdict

import (
	"testing"

	"github.com/velosim/velosim/sim/trace"
)

func TestPanics(t *testing.T) {
	for _, j := range []judged{
		{
			name: "of a controller",
			trace: healthy().add("backup/backup-1", trace.Body{Reconcile: &trace.Reconcile{
				Controller: "backup-finalizer", Error: "nil map", Panic: true,
			}}).rests(1, 0).settles(),
			found: []brief{{"panic", "no panic in controller backup-finalizer", "nil map"}},
		},
		{
			name: "of the server",
			trace: func() trace.Trace {
				cut := waiting().ends(trace.Panicked)
				cut.End.Detail = "panic: assignment to entry in nil map"
				return cut
			}(),
			found: []brief{{"panic", "no panic", "panic: assignment to entry in nil map"}},
		},
	} {
		j.result = Fail
		j.run(t)
	}
}
