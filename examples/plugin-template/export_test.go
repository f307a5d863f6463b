package main

import (
	"testing"

	"github.com/velosim/velosim/sim/plugintest"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
)

// TestMain makes the test binary the plugin's executable, where Velero starts it.
func TestMain(m *testing.M) {
	plugintest.Main(m, func(server framework.Server) { register(server, plugintest.Now) })
}

// Each test is a scenario, and what must come of it; all of them keep the contract of such plugins.
func run(t *testing.T, scenario string, checks ...plugintest.Check) {
	t.Helper()
	plugintest.Run(t, plugintest.Case{
		Scenario: "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nplugins: [{name: " + name + ", own: true}]\n" + scenario,
		Seeds:    3,
		Checks:   append(checks, plugintest.NoFinding(), plugintest.Contract(name)),
	})
}

func TestBackup(t *testing.T) {
	run(t, `
metadata: {name: backup}
items: [configmaps/app/one, configmaps/app/two]
expect: {phase: Completed, operations: {attempted: 2, completed: 2, failed: 0}, within: 21m}
`, plugintest.Calls(name, "Cancel", 0, 0))
}

func TestServerKilled(t *testing.T) {
	run(t, `
metadata: {name: server-killed}
faults:
- {at: {phase: WaitingForPluginOperations, delay: 10m}, do: {kill: {restartAfter: 1m}}}
expect: {phase: Completed, operations: {attempted: 1, completed: 1, failed: 0}}
`)
}

func TestTimesOut(t *testing.T) {
	run(t, `
metadata: {name: times-out}
backup: {itemOperationTimeout: 15m}
expect: {phase: PartiallyFailed, operations: {attempted: 1, completed: 0, failed: 1}, cancelled: [`+name+`]}
`, plugintest.Calls(name, "Cancel", 1, 1))
}
