package scenario

import (
	"slices"
	"time"

	"github.com/velosim/velosim/sim/phase"
)

// RealTimeScale is how much shorter what the specification gives a length is in real time: polls, and the deadline of calls.
const RealTimeScale = 0.05

// RealTime returns a copy of the scenario that a world without virtual time can run: as Scaled does, so far apart that a machine
// under load keeps the order, and that a server that was killed is back before the next thing happens. A call that takes longer
// than its deadline still does. Of sums, the order is kept of a kill's delay and its restart; others may change theirs.
func (s *Scenario) RealTime() *Scenario {
	step := 3 * time.Second
	if slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Do.Kill != nil }) {
		step = 15 * time.Second
	}
	slow := slices.ContainsFunc(s.Plugins, func(p Plugin) bool {
		return max(p.Execute.Delay.Duration, p.Progress.Delay.Duration, p.Cancel.Delay.Duration) > phase.CallDeadline
	})
	if !slow {
		return s.Scaled(step, step)
	}
	return s.shorten(step, step, time.Duration(1.2*RealTimeScale*float64(phase.CallDeadline)))
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
		if f.Do.Kill != nil {
			lengths = append(lengths, f.restarted())
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
		if f.Do.Kill != nil {
			copied.Faults[i].Do.Kill.RestartAfter.Duration = short[f.restarted()] - short[f.At.Delay.Duration]
		}
	}
	for _, pair := range [][2]*Duration{{copied.timeout(), s.timeout()}, {copied.restoreTimeout(), s.restoreTimeout()}} {
		if scaled, original := pair[0], pair[1]; scaled != nil {
			scaled.Duration = max(scaled.Duration, min(least, original.Duration))
		}
	}
	return copied
}

// clone is a copy whose durations can be changed.
func (s *Scenario) clone() *Scenario {
	c := *s
	if s.Backup != nil {
		c.Backup = new(*s.Backup)
	}
	if s.Restore != nil {
		c.Restore = new(*s.Restore)
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
	}
	return &c
}

// restarted is when a server that the fault kills starts again, counted from the fault's point.
func (f Fault) restarted() time.Duration {
	return f.At.Delay.Duration + f.Do.Kill.RestartAfter.Duration
}

// durations of what happens in a run, counted from where it begins: not those that are expected of it, nor that of a restart.
func (s *Scenario) durations() []*Duration {
	var all []*Duration
	for _, d := range []*Duration{s.timeout(), s.restoreTimeout()} {
		if d != nil {
			all = append(all, d)
		}
	}
	for i := range s.Plugins {
		p := &s.Plugins[i]
		all = append(all, &p.Execute.Delay, &p.Progress.Delay, &p.Cancel.Delay)
		if p.Operation != nil {
			for j := range p.Operation.Progress {
				all = append(all, &p.Operation.Progress[j].At)
			}
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		all = append(all, &f.At.Delay)
	}
	return all
}

func (s *Scenario) timeout() *Duration {
	if s.Backup == nil {
		return nil
	}
	return &s.Backup.ItemOperationTimeout
}

func (s *Scenario) restoreTimeout() *Duration {
	if s.Restore == nil {
		return nil
	}
	return &s.Restore.ItemOperationTimeout
}
