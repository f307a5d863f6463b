package virtual_test

import (
	"context"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// BenchmarkFourHourWait is a whole run that waits four hours for one operation. simulated/real is trace time by wall time,
// simulated/cpu by the time that the process had a processor: what simulated/real is when nobody else wants one.
func BenchmarkFourHourWait(b *testing.B) {
	s := load(b, "backup-operation-times-out")
	w := virtual.New()
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as the executable does
	var simulated time.Duration
	began := cpu(b)
	for b.Loop() {
		end, err := w.Run(context.Background(), world.Job{Scenario: s, Seed: 1, Bound: verdict.Bound(s)}, func(trace.Event) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		if end.Reason != trace.Settled {
			b.Fatalf("the run ended %+v", end)
		}
		simulated += time.Duration(end.At)
	}
	b.ReportMetric(simulated.Seconds()/b.Elapsed().Seconds(), "simulated/real")
	b.ReportMetric(simulated.Seconds()/(cpu(b)-began).Seconds(), "simulated/cpu")
}

// cpu is how long this process has had a processor.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
