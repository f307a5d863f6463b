package verdict

import (
	"fmt"
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
	if v := unpredicted(s, t); v.Result != Pass {
		b.Fatal(v)
	}
	for b.Loop() {
		unpredicted(s, t)
	}
}

// BenchmarkJudgeOperations judges passes over operations that time out in the end, or that still run when the trace ends. That
// Judge is linear shows in the time per event, which must not grow with the number of operations.
func BenchmarkJudgeOperations(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		ended := many(n, 20, time.Millisecond)
		end := ended.rests(0, n).settles()
		running := end
		running.Events = running.Events[:len(running.Events)/2]
		for _, run := range []struct {
			name   string
			trace  trace.Trace
			result Result
		}{{"ended", end, Pass}, {"running", running, Fail}} {
			b.Run(fmt.Sprintf("%s/%d", run.name, n), func(b *testing.B) {
				s := expecting(scenario.Outcome{Phase: "PartiallyFailed"})
				for b.Loop() {
					if v := unpredicted(s, run.trace); v.Result != run.result {
						b.Fatal(v.Summary())
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(run.trace.Events)), "ns/event")
			})
		}
	}
}
