package scenario

import (
	"maps"
	"slices"
	"time"

	"github.com/velosim/velosim/sim/phase"
)

// RealTimeScale is how much shorter what the specification gives a length is in real time: polls, and the deadline of calls.
const RealTimeScale = 0.05

// patchTries is how long Velero tries the patch that ends a run, with the default resource timeout: an outage of the API server that it
// outlasts, it outlasts in real time, too.
const patchTries = 40 * time.Second

// RealTime returns a copy of the scenario that a world without virtual time can run: as Scaled does, so far apart that a machine
// under load keeps the order, that a server that was killed is back or its successor has started, and that an outage was seen, before the next thing happens. A call
// that takes longer than its deadline still does. How long a fault strikes is scaled as polls and timeouts of the server are. Of sums, the
// order is kept of a fault's delay and how long what it does to the server goes on; others may change theirs.
func (s *Scenario) RealTime() *Scenario {
	step := 3 * time.Second
	if slices.ContainsFunc(s.Faults, func(f Fault) bool {
		return f.Do.Kill != nil || f.Do.Rollout != nil || f.Do.Outage.Duration > 0 || f.Do.APIOutage.Duration > patchTries
	}) {
		step = 15 * time.Second
	}
	step = max(step, time.Duration(len(s.Items))*50*time.Millisecond) // in which each is backed up
	slow := slices.ContainsFunc(s.Plugins, func(p Plugin) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(p.methods())), func(b *Behaviour) bool { return b.Delay.Duration > phase.CallDeadline })
	})
	least := time.Duration(0)
	if slow {
		least = time.Duration(1.2 * RealTimeScale * float64(phase.CallDeadline))
	}
	c := s.shorten(step, step, least)
	x := &c.Server
	x.realTime()
	for i := range c.Faults { // retries go on for a time that the resource timeout gives
		f := &c.Faults[i]
		if f.For.Duration > 0 {
			f.For.Duration = max(500*time.Millisecond, time.Duration(RealTimeScale*float64(f.For.Duration)))
		}
		if d := s.Faults[i].Do.APIOutage.Duration; d > 0 && d <= patchTries {
			f.Do.APIOutage.Duration = max(500*time.Millisecond, time.Duration(RealTimeScale*float64(d)))
		}
	}
	for i, p := range s.Plugins { // a deadline that no call is meant to reach leaves room for the starts of processes
		if p.Action.Once() && !p.Execute.Hang && p.Execute.Delay.Duration < p.Deadline.Duration {
			d := &c.Plugins[i].Deadline
			d.Duration = max(d.Duration, time.Duration(RealTimeScale*float64(p.Deadline.Duration)))
		}
	}
	if _, expires := s.Expires(); !expires { // else it is among the instants that keep their order
		x.GarbageCollectionFrequency.Duration = time.Duration(RealTimeScale * float64(x.GarbageCollectionFrequency.Duration))
	}
	return c
}

// AsWritten returns a copy of the scenario for a world without virtual time, in which what the scenario says takes as long as it says: for
// plugins that have no script. What the server does again and again, it does as often as with RealTime.
func (s *Scenario) AsWritten() *Scenario {
	c := s.clone()
	c.Server.realTime()
	return c
}

// realTime shortens what the server waits for.
func (x *Server) realTime() {
	for _, d := range []*Duration{&x.ItemOperationSyncFrequency, &x.ResourceTimeout, &x.BackupSyncPeriod} {
		d.Duration = max(500*time.Millisecond, time.Duration(RealTimeScale*float64(d.Duration)))
	}
}

// Scaled returns a copy of the scenario with its durations shortened so that it can run in real time: the shortest keep their
// length, and any two that follow one another lie at least step apart, if they did before. Their order stays. Operation timeouts
// come to no less than least, if they were as long. Names, counts and expectations are the same.
func (s *Scenario) Scaled(step, least time.Duration) *Scenario { return s.shorten(step, least, 0) }

// shorten is Scaled. What is longer than the deadline of calls comes to no less than slow.
func (s *Scenario) shorten(step, least, slow time.Duration) *Scenario {
	copied := s.clone()
	all := copied.durations()
	var lengths []time.Duration
	for _, d := range all {
		lengths = append(lengths, d.Duration)
	}
	for _, f := range s.Faults {
		if f.Do.lasting() != nil {
			lengths = append(lengths, f.until())
		}
	}
	slices.Sort(lengths)
	short := map[time.Duration]time.Duration{}
	last := time.Duration(0)
	for _, d := range slices.Compact(lengths) {
		last = min(d, last+step)
		if d > phase.CallDeadline {
			last = max(last, slow)
		}
		short[d] = last
	}
	for _, d := range all {
		d.Duration = short[d.Duration]
	}
	for i, f := range s.Faults {
		if lasts := copied.Faults[i].Do.lasting(); lasts != nil {
			lasts.Duration = short[f.until()] - short[f.At.Delay.Duration]
		}
	}
	originals := s.timeouts()
	for i, scaled := range copied.timeouts() {
		scaled.Duration = max(scaled.Duration, min(least, originals[i].Duration))
	}
	return copied
}

// clone is a copy whose durations can be changed.
func (s *Scenario) clone() *Scenario {
	c := *s
	c.Backups, c.Restores, c.Schedules = slices.Clone(s.Backups), slices.Clone(s.Restores), slices.Clone(s.Schedules)
	for i := range c.Backups {
		if at := c.Backups[i].At; at != nil {
			c.Backups[i].At = new(*at)
		}
	}
	for i := range c.Restores {
		if at := c.Restores[i].At; at != nil {
			c.Restores[i].At = new(*at)
		}
	}
	c.Plugins, c.Faults = slices.Clone(s.Plugins), slices.Clone(s.Faults)
	for i := range c.Plugins {
		if o := c.Plugins[i].Operation; o != nil {
			o := *o
			o.Progress = slices.Clone(o.Progress)
			c.Plugins[i].Operation = &o
		}
	}
	for i := range c.Faults {
		if k := c.Faults[i].Do.Kill; k != nil {
			c.Faults[i].Do.Kill = new(*k)
		}
		if x := c.Faults[i].Do.Rollout; x != nil {
			c.Faults[i].Do.Rollout = new(*x)
		}
	}
	return &c
}

// until is when what the fault does to the server is over, counted from the fault's point.
func (f Fault) until() time.Duration {
	return f.At.Delay.Duration + f.Do.lasting().Duration
}

// durations of what happens in a run, counted from where it begins: not those that are expected of it, nor those that are counted from a
// fault's delay.
func (s *Scenario) durations() []*Duration {
	all := s.timeouts()
	for i := range s.Backups {
		b := &s.Backups[i]
		if b.TTL.Duration < DefaultTTL {
			all = append(all, &b.TTL)
		}
		if b.At != nil {
			all = append(all, &b.At.Delay)
		}
	}
	for i := range s.Restores {
		if at := s.Restores[i].At; at != nil {
			all = append(all, &at.Delay)
		}
	}
	for i := range s.Schedules {
		x := &s.Schedules[i]
		all = append(all, &x.Every)
		if x.Template.TTL.Duration < DefaultTTL {
			all = append(all, &x.Template.TTL)
		}
	}
	if _, expires := s.Expires(); expires {
		all = append(all, &s.Server.GarbageCollectionFrequency)
	}
	for i := range s.Plugins {
		p := &s.Plugins[i]
		for _, b := range p.methods() {
			all = append(all, &b.Delay)
		}
		all = append(all, &p.Start.Delay, &p.Deadline)
		all = append(all, &p.AreAdditionalItemsReady.After)
		if p.Operation != nil {
			for j := range p.Operation.Progress {
				all = append(all, &p.Operation.Progress[j].At)
			}
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		all = append(all, &f.At.Delay, &f.Do.Latency)
		for _, lasts := range []*Duration{&f.Do.Outage, &f.Do.StaleCache, &f.Do.APIOutage} {
			if lasts.Duration > 0 {
				all = append(all, lasts)
			}
		}
	}
	return all
}

// timeouts of the operations.
func (s *Scenario) timeouts() []*Duration {
	var all []*Duration
	for i := range s.Backups {
		all = append(all, &s.Backups[i].ItemOperationTimeout)
	}
	for i := range s.Restores {
		all = append(all, &s.Restores[i].ItemOperationTimeout)
	}
	for i := range s.Schedules {
		all = append(all, &s.Schedules[i].Template.ItemOperationTimeout)
	}
	return all
}
