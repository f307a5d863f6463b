// Package plugintest tests a Velero plugin from Go tests: Velero's real controllers call it, as a process of its own, in a scenario
// that says what is in the cluster, what goes wrong, and what must come of it.
//
// The test binary is the plugin's executable, too. TestMain registers what main does:
//
//	func TestMain(m *testing.M) { plugintest.Main(m, register) }
//
//	func register(s framework.Server) { s.RegisterBackupItemActionV2("example.io/mover", newMover) }
//
//	func TestMover(t *testing.T) {
//		plugintest.Run(t, plugintest.Case{
//			Scenario: `
//	apiVersion: velosim.io/v1alpha1
//	kind: Scenario
//	metadata: {name: server-killed}
//	faults:
//	- {at: {phase: WaitingForPluginOperations, delay: 5m}, do: {kill: {restartAfter: 10s}}}
//	expect: {phase: Completed}`,
//			Checks: []plugintest.Check{plugintest.NoFinding(), plugintest.Contract("example.io/mover")},
//		})
//	}
//
// Time is virtual: the hours that Velero waits take milliseconds, and stand still while the plugin is called. Each poll has a new process, as
// in Velero, which asks [Now] for the time in place of time.Now. With VELOSIM_PLUGINTEST_WORLD=envtest in the environment, the same cases run on
// the unmodified `velero server` with a real API server, in real time.
//
// The world's executable is looked for as `velosim run` does: `velosim setup` in a checkout of velosim builds it, and the archives of a
// release have it. The package imports Velero's plugin framework, and of the project sim/scenario, sim/trace, sim/world, sim/verdict and contract.
package plugintest
