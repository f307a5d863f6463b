package verdict

import (
	"math"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestRealBound: on a real machine a server takes its time to start, and to look at its queue.
func TestRealBound(t *testing.T) {
	s := expecting(scenario.Outcome{})
	two(s)
	s.Backups[0].ItemOperationTimeout.Duration, s.Backups[1].ItemOperationTimeout.Duration = 15*time.Second, 3*time.Second
	s.Plugins[0].Execute.Hang = true
	faulty(scenario.Do{Kill: &scenario.Kill{RestartAfter: scenario.Duration{Duration: 15 * time.Second}}})(s)
	const want = 90*time.Second + 18*time.Second + time.Minute + 15*time.Second + 20*time.Second + 30*time.Second
	if got := RealBound(s, 0.05); got != trace.Time(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBound(t *testing.T) {
	d := func(d time.Duration) scenario.Duration { return scenario.Duration{Duration: d} }
	const idle = 4*time.Hour + 20*time.Second + 10*time.Minute + 2*time.Minute + 5*time.Minute
	const again = 20*time.Second + 10*time.Minute + 2*time.Minute
	for _, c := range []struct {
		name   string
		change func(*scenario.Scenario)
		want   time.Duration
	}{
		{"a backup", func(*scenario.Scenario) {}, idle},
		{"and a restore", func(s *scenario.Scenario) {
			s.Restores = []scenario.Restore{{ItemOperationTimeout: d(time.Hour)}}
		}, idle + time.Hour + 20*time.Second + 12*time.Minute},
		{"a second backup, which is created later", func(s *scenario.Scenario) {
			two(s)
			s.Backups[1].At = &scenario.Point{Delay: d(time.Minute)}
		}, idle + 4*time.Hour + again + time.Minute},
		{"a schedule", daily, idle + 4*time.Hour + again + 2*(time.Hour+time.Minute)},
		{"a backup that expires", func(s *scenario.Scenario) { s.Backups[0].TTL = d(time.Hour) }, idle + time.Hour + 2*time.Hour + time.Minute},
		{"and whose deletion has two errors", func(s *scenario.Scenario) {
			s.Backups[0].TTL = d(time.Hour)
			s.Plugins = append(s.Plugins, scenario.Plugin{Action: scenario.DeleteItemAction, AppliesTo: scenario.Behaviour{Error: "no", Times: 2}})
		}, idle + time.Hour + 4*time.Hour + time.Minute},
		{"what is deleted and removed", func(s *scenario.Scenario) {
			faulty(scenario.Do{Delete: "backup/backup-1"})(s)
			faulty(scenario.Do{Remove: "backup/backup-1"})(s)
		}, idle + time.Minute + 2*time.Minute},
		{"an outage of the object store, after which Velero tries again late", func(s *scenario.Scenario) {
			faulty(scenario.Do{Outage: d(time.Hour)})(s)
		}, idle + time.Hour + 1000*time.Second},
		{"watches that end, and caches that are stale", func(s *scenario.Scenario) {
			faulty(scenario.Do{BreakWatches: &scenario.BreakWatches{}})(s)
			faulty(scenario.Do{StaleCache: d(time.Hour)})(s)
		}, idle + time.Minute + time.Hour + 1000*time.Second + time.Minute},
		{"an outage of the API server", func(s *scenario.Scenario) {
			faulty(scenario.Do{APIOutage: d(10 * time.Minute)})(s)
		}, idle + 60*time.Minute + 10*time.Minute + time.Minute},
		{"a short one", func(s *scenario.Scenario) { faulty(scenario.Do{Outage: d(time.Minute)})(s) }, idle + 2*time.Minute},
		{"an action that hangs until its deadline, and one that takes as long, killed once", func(s *scenario.Scenario) {
			s.Plugins = append(s.Plugins, scenario.Plugin{Action: scenario.PreBackupAction, Deadline: d(time.Hour)}, scenario.Plugin{Action: scenario.PostBackupAction, Deadline: d(time.Minute)})
			s.Plugins[len(s.Plugins)-2].Execute.Hang, s.Plugins[len(s.Plugins)-1].Execute.Delay = true, d(time.Hour)
			faulty(scenario.Do{Kill: &scenario.Kill{RestartAfter: d(time.Second)}})(s)
		}, idle + again + time.Second + 2*(time.Hour+time.Minute)},
		{"a server that is paused", func(s *scenario.Scenario) { faulty(scenario.Do{Pause: d(time.Hour)})(s) }, idle + time.Hour},
		{"one that is replaced", func(s *scenario.Scenario) {
			faulty(scenario.Do{Rollout: &scenario.Rollout{Overlap: d(time.Hour)}})(s)
		}, idle + again + time.Hour},
		{"an access that hangs", func(s *scenario.Scenario) { faulty(scenario.Do{Hang: &scenario.Hang{}})(s) }, idle + 10*time.Minute},
		{"writes that are refused for a while", func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{For: d(10 * time.Minute), Do: scenario.Do{Refuse: "Timeout"}}}
		}, idle + time.Hour},
		{"and three times", func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Times: 3, Do: scenario.Do{Refuse: "Timeout"}}}
		}, idle + (11+55+275)*time.Millisecond},
		{"two replies that are late", func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Times: 2, Do: scenario.Do{Latency: d(time.Minute)}}}
		}, idle + 2*time.Minute},
		{"a server that asks seldom, and gives up soon", func(s *scenario.Scenario) {
			s.Server.ItemOperationSyncFrequency, s.Server.ResourceTimeout = d(time.Minute), d(time.Minute)
		}, 4*time.Hour + 2*time.Minute + time.Minute + 2*time.Minute + 5*time.Minute},
		{"slow calls for two backups, one of which waits for the other's", func(s *scenario.Scenario) {
			two(s)
			s.Plugins[0].AppliesTo.Delay = d(time.Minute)
			s.Plugins[0].Execute.Delay = d(time.Minute)
			s.Plugins[0].Progress.Delay = d(time.Minute)
		}, idle + 4*time.Hour + again + (2*2+2*2+3*2*2)*time.Minute},
		{"additional items that are never ready", func(s *scenario.Scenario) {
			withRestore(s)
			s.Plugins[0].Action = scenario.RestoreItemAction
			s.Plugins[0].Execute.WaitForAdditionalItems, s.Plugins[0].AreAdditionalItemsReady.Never = true, true
		}, idle + 4*time.Hour + again + 10*time.Minute},
		{"a call that hangs for each item", func(s *scenario.Scenario) {
			s.Items = []scenario.Item{"configmaps/app/a", "configmaps/app/b"}
			s.Plugins[0].Progress.Hang = true
		}, idle + 20*time.Minute},
		{"calls that a restarted server makes again", func(s *scenario.Scenario) {
			s.Plugins[0].Execute.Delay = d(time.Minute)
			s.Plugins[0].Progress.Delay = d(time.Minute)
			s.Plugins[0].Progress.Hang = true
			s.Faults = []scenario.Fault{{Do: scenario.Do{Kill: &scenario.Kill{}}}, {Do: scenario.Do{Kill: &scenario.Kill{}}}}
		}, idle + 2*again + 3*(2+3+10)*time.Minute},
		{"a fault and a restart", func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{
				At: scenario.Point{Delay: d(time.Minute)}, Do: scenario.Do{Kill: &scenario.Kill{RestartAfter: d(2 * time.Minute)}},
			}}
		}, idle + again + 3*time.Minute},
		{"slow calls", func(s *scenario.Scenario) {
			s.Plugins[0].Execute.Delay = d(time.Minute)
			s.Plugins[0].Progress.Delay = d(time.Minute)
			s.Plugins[0].Cancel.Delay = d(time.Minute)
		}, idle + 6*time.Minute},
		{"AppliesTo that is slow, and two errors after which the finalizer calls it again", func(s *scenario.Scenario) {
			s.Plugins[0].AppliesTo.Delay = d(time.Minute)
			s.Plugins = append(s.Plugins, scenario.Plugin{
				Action: scenario.BackupItemAction, AppliesTo: scenario.Behaviour{Error: "no answer", Nth: 2, Times: 2},
			})
		}, idle + (2+2)*time.Minute},
		{"AppliesTo of restores that is slow, and errors of a backup's", func(s *scenario.Scenario) {
			withRestore(s)
			s.Plugins[0].AppliesTo = scenario.Behaviour{Error: "no answer", Nth: 2, Times: 2}
			s.Plugins = append(s.Plugins, scenario.Plugin{
				Action: scenario.RestoreItemAction, AppliesTo: scenario.Behaviour{Delay: d(time.Minute)},
			})
		}, idle + 4*time.Hour + again + 2*time.Minute},
		{"more than fits", func(s *scenario.Scenario) {
			s.Plugins[0].Execute.Delay = d(math.MaxInt64 / 2)
		}, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := expecting(scenario.Outcome{})
			c.change(s)
			if got := Bound(s); got != trace.Time(c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
