package virtual_test

import (
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/verdict"
)

// What plugins can do, beyond the catalogue.
func TestPlugins(t *testing.T) {
	const slow = "operation: {progress: [{at: 0s, of: 2}, {at: 30m, done: 2, completed: true}]}"
	tests := []struct {
		name, plugins, rest string
		restore             bool
	}{
		{
			"Execute fails", "- {name: example.io/mover, execute: {error: no snapshot}, " + slow + "}",
			"phase: PartiallyFailed, path: [Queued, ReadyToStart, InProgress, FinalizingPartiallyFailed, PartiallyFailed], operations: {attempted: 0, completed: 0, failed: 0}, cancelled: []", false,
		},
		{
			"Execute panics", "- {name: example.io/mover, execute: {panic: nil map}, " + slow + "}",
			"phase: PartiallyFailed, operations: {attempted: 0, completed: 0, failed: 0}, cancelled: []", false,
		},
		{
			"Execute is slow", "- {name: example.io/mover, execute: {delay: 2h}, " + slow + "}",
			"phase: Completed, operations: {attempted: 1, completed: 1, failed: 0}, cancelled: [], within: 2h31m", false,
		},
		{
			"Progress panics, another operation goes on",
			"- {name: example.io/mover, operation: {progress: [{at: 1h, completed: true}]}, progress: {panic: nil map, nth: 3}}\n- {name: example.io/other, " + slow + "}",
			"phase: PartiallyFailed, path: [Queued, ReadyToStart, InProgress, WaitingForPluginOperations, WaitingForPluginOperationsPartiallyFailed, FinalizingPartiallyFailed, PartiallyFailed], operations: {attempted: 2, completed: 1, failed: 1}, cancelled: []", false,
		},
		{
			"Cancel fails and is ignored", "- {name: example.io/mover, operation: {afterCancel: Continues}, cancel: {error: cannot, delay: 1m}}",
			"phase: PartiallyFailed, operations: {attempted: 1, completed: 0, failed: 1}, cancelled: [example.io/mover], within: 4h3m", false,
		},
		{
			"the operation completes after its cancel", "- {name: example.io/mover, operation: {afterCancel: Completes}}",
			"phase: PartiallyFailed, operations: {attempted: 1, completed: 0, failed: 1}, cancelled: [example.io/mover]", false,
		},
		{
			"the plugin forgets", "- {name: example.io/mover, operation: {forgets: true, progress: [{at: 1h, completed: true}]}}",
			"phase: PartiallyFailed, operations: {attempted: 1, completed: 0, failed: 1}, cancelled: [], within: 1m", false,
		},
		{
			"done at once", "- {name: example.io/mover, operation: {progress: [{at: 0s, completed: true}]}}",
			"phase: Completed, path: [Queued, ReadyToStart, InProgress, Finalizing, Completed], operations: {attempted: 1, completed: 1, failed: 0}, cancelled: []", false,
		},
		{
			"additional items", "- {name: example.io/mover, execute: {additionalItems: [secrets/app/token]}, " + slow + "}",
			"phase: Completed, operations: {attempted: 1, completed: 1, failed: 0}", false,
		},
		{
			"a restore's Execute fails", "- {name: example.io/mover, action: RestoreItemAction, execute: {error: no volume}, " + slow + "}",
			"phase: PartiallyFailed, path: [InProgress, FinalizingPartiallyFailed, PartiallyFailed], operations: {attempted: 0, completed: 0, failed: 0}", true,
		},
		{
			"a restore's Cancel panics", "- {name: example.io/mover, action: RestoreItemAction, operation: {}, cancel: {panic: nil map}}",
			"phase: PartiallyFailed, operations: {attempted: 1, completed: 0, failed: 1}, cancelled: [example.io/mover]", true,
		},
		{
			"a backup's and a restore's operations", "- {name: example.io/mover, " + slow + "}\n- {name: example.io/mover, action: RestoreItemAction, " + slow + "}",
			"phase: Completed, operations: {attempted: 1, completed: 1, failed: 0}", true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nitems: [configmaps/app/settings, secrets/app/token]\n")
			if tt.restore {
				b.WriteString("restore: {}\n")
			}
			b.WriteString("plugins:\n" + tt.plugins + "\nexpect: {" + tt.rest + "}\n")
			s := parse(t, "test.yaml", b.String())
			for seed := int64(1); seed <= 4; seed++ {
				if v := verdict.Judge(s, run(t, s, seed)); v.Result != verdict.Pass && v.Result != verdict.KnownDeviation {
					var why strings.Builder
					_ = v.Print(&why) // to a Builder: cannot fail
					t.Errorf("seed %d: %s", seed, &why)
				}
			}
		})
	}
}
