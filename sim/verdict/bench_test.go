package verdict

import (
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// BenchmarkJudge judges four hours of polls, 10 s apart.
func BenchmarkJudge(b *testing.B) {
	run := waiting()
	for range 4 * 360 {
		run.wait(10*time.Second).progress(mover1, trace.Progress{Done: 1, Of: 10})
	}
	t := run.wait(10*time.Second).cancel(mover1).phases("FinalizingPartiallyFailed", "PartiallyFailed").rests(0, 1).settles()
	s := expecting(scenario.Outcome{Phase: "PartiallyFailed"})
	if v := Judge(s, t); v.Result != Pass {
		b.Fatal(v)
	}
	for b.Loop() {
		Judge(s, t)
	}
}
