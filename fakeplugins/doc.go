// Package fakeplugins interprets the plugin scripts of scenarios: it makes of a [scenario.Plugin] a plugin that Velero
// calls, slow, failing, panicking or hanging as the script says.
//
// A [Process] is one run of a plugin's process. Velero starts new ones for every plugin manager, so for every reconcile and
// every poll (pkg/plugin/clientmgmt); a world makes a new Process wherever Velero would start one. What outlives a
// process, the operations and the count of calls, is in [Operations], of which a run has one:
//
//	operations := fakeplugins.NewOperations(time.Now(), nil)
//	…
//	process := fakeplugins.NewProcess(ctx, script, operations, journal)
//	action := process.BackupItemAction()
//	_, _, id, _, err := action.Execute(item, backup)
//
// In a process of its own, too, a plugin is a Process, but its [Interpreter] stays in the world, as all that must not be lost:
// the executable is cmd/velosim-plugins, the world's end host, what they say wire, and filestore the object store that the
// executable can be as well.
//
// A plugin without a script is an executable of the user's: subprocess starts it, and [Recorded] tells the journal of its calls.
//
// Time is that of package time: virtual inside a testing/synctest bubble, real elsewhere.
//
// The package imports sim/scenario, sim/trace, and Velero's plugin interfaces and API types; never Velero's controllers.
package fakeplugins
