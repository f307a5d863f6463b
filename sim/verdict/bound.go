package verdict

import (
	"math"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// What Velero 1.18.3 waits for at most, whatever the flags of the server say.
const (
	// recheck of queued backups: defaultQueuedBackupRecheckFrequency, pkg/controller/backup_queue_controller.go; of schedules:
	// scheduleSyncPeriod, schedule_controller.go; and of what may have to be synced: backupSyncReconcilePeriod, backup_sync_controller.go.
	recheck = time.Minute
	// leaving is how long the deletion of a backup waits for its restores to go: Reconcile, pkg/controller/backup_deletion_controller.go.
	leaving = time.Minute
	// backOff of a reconcile that fails, which is as long as all that has failed before (controller-runtime's default rate limiter).
	backOff = 1000 * time.Second
	// rewatch is the longest pause before informers watch again what they could not (client-go's tools/cache/reflector.go), with its jitter.
	rewatch = time.Minute
	// slack covers what Velero bounds only in the single digits of minutes: back-off of requeues, start-up, slow items.
	slack = 5 * time.Minute
)

// Bound is the trace time by which every run of the scenario has ended, or never will: for each object its item operation timeout, two
// polls, the resource timeout and two rechecks of the queue, as each may wait for all before it; the time until schedules have made
// their backups, until what expires or is removed has gone or come back, and until what is deleted has gone; the call deadline for each
// call that hangs; the delays of points, faults and restarts, pauses, and the overlaps of servers; the delays of scripted calls; and some slack. All but the timeouts and
// the slack come once more for each kill and rollout, as the next server begins them anew. It does not overflow.
func Bound(s *scenario.Scenario) trace.Time {
	b := bound{Scenario: s, servers: 1, total: slack}
	b.happenings(0, phase.CallDeadline)
	for _, timeout := range b.timeouts() {
		b.add(1, timeout)
		b.add(2*b.servers, s.Server.ItemOperationSyncFrequency.Duration)
		b.add(b.servers, s.Server.ResourceTimeout.Duration)
		b.add(2*b.servers, recheck)
	}
	for _, p := range s.Plugins {
		b.plugin(p)
	}
	return trace.Time(b.total)
}

// bound sums up.
type bound struct {
	*scenario.Scenario
	servers int
	total   time.Duration
}

func (b *bound) add(n int, d time.Duration) { b.total = saturate(b.total, n, d) }

// happenings adds what the scenario waits for from outside, and counts the servers, each of which takes so long to start. A call has this deadline.
func (b *bound) happenings(start, deadline time.Duration) {
	for _, f := range b.Faults {
		b.add(1, f.At.Delay.Duration)
		b.repeats(f)
		switch {
		case f.Do.Kill != nil:
			b.add(1, f.Do.Kill.RestartAfter.Duration)
			b.add(1, start)
			b.servers++
		case f.Do.Rollout != nil:
			b.add(1, f.Do.Rollout.Overlap.Duration)
			b.add(1, start)
			b.servers++
		case f.Do.Pause.Duration > 0:
			b.add(1, f.Do.Pause.Duration)
		case f.Do.Outage.Duration > 0:
			b.add(1, f.Do.Outage.Duration)
			b.add(1, min(f.Do.Outage.Duration, backOff))
		case f.Do.Severs():
			b.add(1, f.Do.StaleCache.Duration)
			b.add(6, f.Do.APIOutage.Duration) // see repeats
			b.add(1, min(max(f.Do.StaleCache.Duration, f.Do.APIOutage.Duration), backOff))
			b.add(1, rewatch)
		case f.Do.Hang != nil:
			b.add(1, deadline)
		case f.Do.Delete != "":
			b.add(1, leaving)
		case f.Do.Remove != "":
			b.add(1, b.Server.BackupSyncPeriod.Duration)
			b.add(1, recheck)
		}
	}
	created := func(at *scenario.Point) {
		if at != nil {
			b.add(1, at.Delay.Duration)
		}
	}
	for _, x := range b.Backups {
		created(x.At)
	}
	for _, x := range b.Restores {
		created(x.At)
	}
	for _, x := range b.Schedules {
		b.add(x.Backups, x.Every.Duration)
		b.add(x.Backups, recheck)
	}
	if ttl, expires := b.Expires(); expires {
		b.add(1, ttl)
		b.add(2, b.Server.GarbageCollectionFrequency.Duration)
		b.add(1, leaving)
	}
}

// repeats adds what a fault holds up that strikes for a time, or several times. What Velero tries again comes after a pause that is five
// times as long as the one before, and has no bound where a backup's finalizer patches: RetryOnErrorMaxBackOff, pkg/client/retry.go.
func (b *bound) repeats(f scenario.Fault) {
	b.add(6, f.For.Duration)
	b.add(max(f.Times, 1), f.Do.Latency.Duration)
	if f.Times > 1 && f.Do.Latency.Duration == 0 {
		for i, pause := 0, 11*time.Millisecond; i < f.Times; i, pause = i+1, saturate(0, 5, pause) {
			b.add(1, pause)
		}
	}
}

// timeouts are the item operation timeouts of all objects.
func (b *bound) timeouts() (all []time.Duration) {
	for _, x := range b.Backups {
		all = append(all, x.ItemOperationTimeout.Duration)
	}
	for _, x := range b.Schedules {
		for range x.Backups {
			all = append(all, x.Template.ItemOperationTimeout.Duration)
		}
	}
	for _, x := range b.Restores {
		all = append(all, x.ItemOperationTimeout.Duration)
	}
	return all
}

// plugin adds what its calls can take. For each object an item has one Execute, and one more if it is updated, and AppliesTo is called as
// often for all; for a backup once more for each of its errors, as its finalizer is then called again. An operation has one Cancel; its Progress can be slow in the pass that ends InProgress, in the last poll before the
// timeout, and in the first after it, and each of them may wait for as many calls for each other object. A kill loses the call that it
// meets, or what came of it, and the next server makes it again.
func (b *bound) plugin(p scenario.Plugin) {
	objects, items := b.served(p.Action), max(1, len(b.Items))
	if p.Action.Once() { // a call that dies with the server is made again
		takes := p.Execute.Delay.Duration
		if p.Execute.Hang {
			takes = p.Deadline.Duration
		}
		b.add(objects*b.servers, min(takes, p.Deadline.Duration))
		b.add(b.servers*(1+objects), p.Start.Takes())
		return
	}
	add := func(calls int, m scenario.Behaviour) {
		b.add(calls*objects*b.servers, m.Delay.Duration)
		if m.Hang {
			b.add(items*objects*b.servers, phase.CallDeadline)
		}
	}
	b.starts(p, objects, items)
	add(2, p.AppliesTo)
	if p.Action == scenario.BackupItemAction {
		b.refinalizes(saturate(0, objects*b.servers, p.AppliesTo.Delay.Duration))
	}
	if _, expires := b.Expires(); expires && p.Action == scenario.DeleteItemAction {
		if p.AppliesTo.Error != "" || p.AppliesTo.Panic != "" { // its deletion has errors, and is requested again
			b.add(p.AppliesTo.Times, b.Server.GarbageCollectionFrequency.Duration)
		}
		if p.Start.Fails() {
			b.add(p.Start.Times, b.Server.GarbageCollectionFrequency.Duration)
		}
	}
	add(2*items, p.Execute.Behaviour)
	add(3*items*objects, p.Progress)
	add(items*objects, p.Cancel)
	if p.Execute.WaitForAdditionalItems {
		add(items, p.AreAdditionalItemsReady.Behaviour)
		wait := p.AreAdditionalItemsReady.After.Duration
		if p.AreAdditionalItemsReady.Never {
			wait = b.Server.ResourceTimeout.Duration
		}
		b.add(items*objects*b.servers, wait)
	}
}

// starts adds what starts of the plugin's process take: the server's, for each object that of its run, of a deletion, and of the passes
// that end InProgress, come last before the timeout, and come first after it, where each operation may have one of its own. A finalizer
// whose start fails is called again after a pause that grows to backOff.
func (b *bound) starts(p scenario.Plugin, objects, items int) {
	b.add(b.servers*(1+objects*(3+3*items)), p.Start.Takes())
	if !p.Start.Fails() || p.Action != scenario.BackupItemAction {
		return
	}
	for i, pause := 0, 5*time.Millisecond; i < p.Start.Times && b.total < math.MaxInt64; i, pause = i+1, min(2*pause, backOff) {
		b.add(b.servers, pause)
		b.add(b.servers, p.Start.Takes())
	}
}

// refinalizes adds what AppliesTo of one plugin takes when errors of AppliesTo have the finalizer called again, which calls it of every
// plugin: Reconcile, pkg/controller/backup_finalizer_controller.go. An error for ever has no bound.
func (b *bound) refinalizes(takes time.Duration) {
	for _, p := range b.Plugins {
		if m := p.AppliesTo; p.Action == scenario.BackupItemAction && (m.Error != "" || m.Panic != "") {
			b.add(m.Times, takes)
		}
	}
}

// served is for how many objects a plugin of the action can be called.
func (b *bound) served(a scenario.Action) int {
	restores := len(b.Restores)
	if a.Serves("restore/") {
		return max(1, restores)
	}
	return max(1, len(b.Objects())-restores)
}

// In real time a server takes a while to start, and what it bounds by compiled-in constants takes as long as ever.
const (
	realStart = 20 * time.Second
	realSlack = 90 * time.Second
	// realLease is how long the lease of a server that has died keeps the next one from post-actions.
	realLease = 20 * time.Second
)

// RealBound is the same for a scenario that is run in real time, as it is: its durations are shortened already
// (scenario.RealTime). What a reading gives a call is shortened by the scale, too.
func RealBound(s *scenario.Scenario, scale float64) trace.Time {
	b := bound{Scenario: s, servers: 1, total: realSlack}
	b.happenings(realStart, time.Duration(float64(phase.CallDeadline)*scale))
	timeouts := b.timeouts()
	for _, timeout := range timeouts {
		b.add(1, timeout)
	}
	b.add(len(timeouts)-1, recheck) // one waits for the other in the queue
	for _, p := range s.Plugins {
		if p.Action.Once() {
			b.plugin(p)
			b.add(b.servers-1, realLease)
			continue
		}
		calls := 3 * b.servers * max(1, len(s.Items)) * b.served(p.Action)
		b.add(calls+b.servers, p.Start.Takes())
		for _, m := range []scenario.Behaviour{p.AppliesTo, p.Execute.Behaviour, p.Progress, p.Cancel, p.AreAdditionalItemsReady.Behaviour} {
			b.add(calls, m.Delay.Duration)
			if m.Hang {
				b.add(1, time.Duration(float64(phase.CallDeadline)*scale))
			}
		}
		if r := p.AreAdditionalItemsReady; r.Never {
			b.add(calls, s.Server.ResourceTimeout.Duration)
		} else {
			b.add(calls, r.After.Duration)
		}
	}
	return trace.Time(b.total)
}

// deadline of a call, in the reading that has one, in the trace's time.
func (r *run) deadline() trace.Time { return r.trace.Header.Scaled(phase.CallDeadline) }

// poll is how often Velero asks for the progress of operations, in the trace's time.
func (r *run) poll() time.Duration {
	return time.Duration(r.trace.Header.Scaled(r.scenario.Server.ItemOperationSyncFrequency.Duration))
}

// patience is how long after its timeout an operation may not be cancelled: two polls, what starts of
// plugins' processes take, and on a real machine what that takes.
func (r *run) patience() time.Duration {
	patience := 2 * r.poll()
	if s := r.trace.Header.Scale; s != 0 && s != 1 {
		patience += 10 * time.Second
	}
	for _, p := range r.scenario.Plugins { // in which no call is open, and nothing else is done
		patience = saturate(patience, 2*max(1, len(r.scenario.Items))*len(r.scenario.Objects()), p.Start.Takes())
	}
	return patience
}

// saturate returns total + n·d, at most the longest duration there is. Neither n nor total is negative.
func saturate(total time.Duration, n int, d time.Duration) time.Duration {
	if d > 0 && n > 0 && time.Duration(n) > (math.MaxInt64-total)/d {
		return math.MaxInt64
	}
	return total + time.Duration(max(n, 0))*max(d, 0)
}
