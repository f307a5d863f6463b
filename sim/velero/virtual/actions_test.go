package virtual_test

import (
	"testing"

	"github.com/velosim/velosim/sim/verdict"
)

// TestActionReturnsAtItsDeadline: a call that returns at the instant at which it would be given up has returned, or was given up, and what becomes
// of the backup is the same as what the trace says of the call.
func TestActionReturnsAtItsDeadline(t *testing.T) {
	s := parse(t, "test.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: test}
plugins: [{name: example.io/quiesce, action: PreBackupAction, deadline: 1m, execute: {delay: 1m}}]
`+"expect: {object: backup/backup-1}\n")
	for seed := int64(1); seed <= 8; seed++ {
		if v := verdict.Judge(s, run(t, s, seed)); v.Result != verdict.Pass {
			t.Errorf("seed %d: %s %+v", seed, v.Result, v.Findings)
		}
	}
}
