// Package exercise names what a plugin is put through when its calls are made directly, without a server: each exercise is about an object of
// its own, backup/NAME or restore/NAME, by which its calls are found in the trace.
//
// It imports nothing.
package exercise

// The exercises, in their order. Each process of the plugin is started as Velero starts it, and every poll has one of its own, as in Velero
// (pkg/controller/backup_operations_controller.go, Reconcile).
const (
	// Processes starts two processes, and asks each AppliesTo.
	Processes = "processes"
	// Fitting calls Execute for the items that the plugin applies to, in one process, and polls the operations to their end.
	Fitting = "fitting"
	// Ended calls Cancel for the first of these operations when it has ended, and Progress after that.
	Ended = "ended"
	// Concurrent calls Execute for the items at the same time, in one process, and polls the operations to their end.
	Concurrent = "concurrent"
	// Cancelled starts an operation, calls Cancel, Progress until it has ended, and Cancel again.
	Cancelled = "cancelled"
	// Unknown calls Progress and Cancel for an operation that nobody has started.
	Unknown = "unknown"
	// Foreign calls Execute for items that the plugin does not apply to, and for one that it does which has metadata and nothing else.
	Foreign = "foreign"
	// Finalizing calls Execute for an item when the backup is Finalizing.
	Finalizing = "finalizing"
	// Large calls Execute for an item of a mebibyte.
	Large = "large"
)

// UnknownOperation is the ID of the operation that nobody has started.
const UnknownOperation = "velosim-has-not-started-this"
