package verdict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// TestContractExplains: a missing Cancel is explained by the rule with which it is not missing.
func TestContractExplains(t *testing.T) {
	const file = "backups/backup-1/backup-1-itemoperations.json.gz"
	lateFor := func(d time.Duration) *script { // another backup's Progress takes an hour; this one is asked so long after
		return sameIDs().wait(4*time.Hour-time.Minute).on("backup/backup-1").progress(mover1, trace.Progress{}).on("backup/backup-2").calling(progress, mover1).wait(time.Hour).
			returns(trace.Return{Progress: &trace.Progress{}}).on("backup/backup-1").wait(d).progress(mover1, trace.Progress{}).cancel(mover1)
	}
	restarted := func() *script { return waiting().restart(5 * time.Hour) }
	const missing = "Cancel of operation mover-1 of example.io/mover for configmaps/app/settings, which timed out at 4h0m0s"
	for _, test := range []struct {
		name  string
		trace trace.Trace
		rules []string // of the missing Cancel
	}{
		{"its operations file is gone", restarted().access("exists", file, "").phases("Finalizing").ends(""), []string{missingOperations}},
		{
			"its operations file is gone, after it was there", waiting().access("exists", file, "").access("get", file, "").restart(5*time.Hour).
				access("exists", file, "").phases("Finalizing").access("exists", file, "").ends(""), []string{missingOperations},
		},
		{"its operations file was read", restarted().access("exists", file, "").access("get", file, "").phases("Finalizing").ends(""), nil},
		{"its operations file is read later", restarted().access("exists", file, "").phases("Finalizing").access("get", file, "").ends(""), nil},
		{"nobody has looked for the operations file", restarted().phases("Finalizing").ends(""), nil},
		{"another backup's call took an hour", lateFor(0).ends(""), []string{phase.PluginCallWithoutDeadline}},
		{"another backup's call took an hour, and then nobody asked", lateFor(3 * time.Minute).ends(""), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := moving(two)
			var rules [][]string
			for _, f := range fold(s, test.trace).contract(phase.Demanded()) {
				if f.Object == "backup/backup-1" && f.Expected == missing {
					rules = append(rules, f.Rules)
				}
			}
			if diff := cmp.Diff([][]string{test.rules}, rules); diff != "" {
				t.Errorf("rules of the missing Cancel (-want +got):\n%s", diff)
			}
		})
	}
}
