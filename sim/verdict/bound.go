package verdict

import (
	"math"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// What Velero 1.18.3 waits for at most, unless a flag of the server says otherwise.
const (
	// poll of the operations controllers: defaultBackupOperationsFrequency, pkg/controller/backup_operations_controller.go,
	// and defaultRestoreOperationsFrequency, restore_operations_controller.go.
	poll = 10 * time.Second
	// resourceTimeout bounds the retries of a controller's patches (PatchResourceWithRetriesOnErrors) and the waits of the
	// restore finalizer: defaultResourceTerminatingTimeout, pkg/cmd/server/config/config.go.
	resourceTimeout = 10 * time.Minute
	// recheck of queued backups: defaultQueuedBackupRecheckFrequency, pkg/controller/backup_queue_controller.go.
	recheck = time.Minute
	// slack covers what Velero bounds only in the single digits of minutes: back-off of requeues, start-up, slow items.
	slack = 5 * time.Minute
)

// Bound is the trace time by which every run of the scenario has ended, or never will: for the backup and the restore each
// its item operation timeout, two polls, the resource timeout and two rechecks of the queue; the call deadline for each
// call that hangs; the delays of faults and restarts; the delays of scripted calls; and some slack. All but the timeouts and
// the slack come once more for each kill, as the next server begins them anew. It does not overflow.
func Bound(s *scenario.Scenario) trace.Time {
	total := slack
	add := func(n int, d time.Duration) { total = saturate(total, n, d) }
	servers := 1
	for _, f := range s.Faults {
		add(1, f.At.Delay.Duration)
		if f.Do.Kill != nil {
			add(1, f.Do.Kill.RestartAfter.Duration)
			servers++
		}
	}
	object := func(timeout scenario.Duration) {
		add(1, timeout.Duration)
		add(2*servers, poll)
		add(servers, resourceTimeout)
		add(2*servers, recheck)
	}
	if s.Backup != nil {
		object(s.Backup.ItemOperationTimeout)
	}
	if s.Restore != nil {
		object(s.Restore.ItemOperationTimeout)
	}
	items := max(1, len(s.Items))
	for _, p := range s.Plugins {
		// An item has one Execute, and one more if it is updated. An operation has one Cancel; its Progress can be slow in
		// the pass that ends InProgress, in the last poll before the timeout, and in the first after it. A kill loses the
		// call that it meets, or what came of it, and the next server makes it again.
		for _, m := range []struct {
			scenario.Behaviour
			calls int
		}{{p.Execute.Behaviour, 2 * items}, {p.Progress, 3 * items}, {p.Cancel, items}} {
			add(m.calls*servers, m.Delay.Duration)
			if m.Hang {
				add(items*servers, phase.CallDeadline)
			}
		}
	}
	return trace.Time(total)
}

// In real time a server takes a while to start, and what it bounds by compiled-in constants takes as long as ever.
const (
	realStart = 20 * time.Second
	realSlack = 90 * time.Second
)

// RealBound is the same for a scenario that is run in real time, as it is: its durations are shortened already
// (scenario.Scaled). What a reading gives a call is shortened by the scale, too.
func RealBound(s *scenario.Scenario, scale float64) trace.Time {
	total := realSlack
	add := func(d time.Duration) { total = saturate(total, 1, d) }
	servers := 1
	for _, f := range s.Faults {
		add(f.At.Delay.Duration)
		if k := f.Do.Kill; k != nil {
			add(k.RestartAfter.Duration)
			add(realStart)
			servers++
		}
	}
	if s.Backup != nil {
		add(s.Backup.ItemOperationTimeout.Duration)
	}
	if s.Restore != nil {
		add(s.Restore.ItemOperationTimeout.Duration)
	}
	for _, p := range s.Plugins {
		for _, b := range []scenario.Behaviour{p.Execute.Behaviour, p.Progress, p.Cancel} {
			total = saturate(total, 3*servers*max(1, len(s.Items)), b.Delay.Duration)
			if b.Hang {
				add(time.Duration(float64(phase.CallDeadline) * scale))
			}
		}
	}
	return trace.Time(total)
}

// deadline of a call, in the reading that has one, in the trace's time.
func (r *run) deadline() trace.Time { return r.trace.Header.Scaled(phase.CallDeadline) }

// patience is how long after its timeout an operation may not be cancelled: two polls, and on a real machine what that takes.
func (r *run) patience() time.Duration {
	if s := r.trace.Header.Scale; s != 0 && s != 1 {
		return time.Duration(r.trace.Header.Scaled(2*poll)) + 10*time.Second
	}
	return 2 * poll
}

// saturate returns total + n·d, at most the longest duration there is. None of them is negative.
func saturate(total time.Duration, n int, d time.Duration) time.Duration {
	if d > 0 && time.Duration(n) > (math.MaxInt64-total)/d {
		return math.MaxInt64
	}
	return total + time.Duration(n)*max(d, 0)
}
