// Package phase is the specification of Velero's backups and restores: which phases there are, what moves an object from
// one to the next, and what is always true on the way. It is a pure state machine: no I/O, no clock, and it imports the
// standard library alone. Everything else that says how a run may go is projected from it: the legal changes of phase, the
// predictions and the exploration of the model, the invariants, the list of deviations.
//
// The smallest use walks an object by what happens to it:
//
//	rules := phase.Demanded()
//	state := phase.Initial(phase.Restore)
//	state, _ = rules.Step(state, phase.Validated)
//	fmt.Println(state.Phase) // InProgress
//
// Step takes the [State] of one object, with what the server holds about it, and one [Input]: something that a controller
// observes or does, or that the environment or the user does. It returns the next state and the [Effects] outside the
// server's memory. Time is not part of it: that an operation has timed out is an input.
//
// Files and functions below are those of Velero 1.18.3; names without a folder are in pkg/controller.
//
// # Phases
//
// A backup is New until it gets into the queue (Queued), and ReadyToStart when its turn has come. A valid one goes
// InProgress: items are backed up, their actions called, and those actions may start operations that go on for long. At the
// end of InProgress comes a first pass over the operations. If one still runs, the backup waits
// (WaitingForPluginOperations), and a pass every 10 seconds asks each running operation for its progress. When none runs any
// more the backup is Finalizing: items that operations changed are backed up again. Then it is Completed. From the first
// error on, Waiting… and Finalizing bear the suffix PartiallyFailed, and the end is PartiallyFailed. A restore goes the same
// way without the queue.
//
// FailedValidation, Completed, PartiallyFailed, Failed and Deleting are final, and what a failed pre-action leads to (below). A Deleting backup leaves its phase only by
// being removed. Deletion is refused for a backup that the tracker has in progress or post progress; since the tracker is
// empty after a restart, a waiting or finalizing backup can be deleted then. [Tracking] tells the sets apart.
//
// # Edges of a backup
//
//	New → Queued                                                            backup_queue_controller.go: Reconcile
//	Queued → ReadyToStart                                                   backup_queue_controller.go: Reconcile
//	ReadyToStart → Queued (demanded)                                        no release
//	ReadyToStart → InProgress                                               backup_controller.go: Reconcile
//	ReadyToStart → FailedValidation                                         backup_controller.go: Reconcile
//	InProgress → WaitingForPluginOperations                                 backup_controller.go: runBackup
//	InProgress → WaitingForPluginOperationsPartiallyFailed                  backup_controller.go: runBackup
//	InProgress → Finalizing                                                 backup_controller.go: runBackup
//	InProgress → FinalizingPartiallyFailed                                  backup_controller.go: runBackup
//	InProgress → Failed                                                     backup_controller.go: Reconcile, runBackup; pkg/cmd/server/server.go: markInProgressBackupsFailed
//	WaitingForPluginOperations → WaitingForPluginOperationsPartiallyFailed  backup_operations_controller.go: Reconcile
//	WaitingForPluginOperations → Finalizing                                 backup_operations_controller.go: Reconcile
//	WaitingForPluginOperations → FinalizingPartiallyFailed                  backup_operations_controller.go: Reconcile
//	WaitingForPluginOperations → PartiallyFailed                            backup_operations_controller.go: Reconcile
//	WaitingForPluginOperationsPartiallyFailed → FinalizingPartiallyFailed   backup_operations_controller.go: Reconcile
//	WaitingForPluginOperationsPartiallyFailed → PartiallyFailed             backup_operations_controller.go: Reconcile
//	Finalizing → Completed                                                  backup_finalizer_controller.go: Reconcile
//	Finalizing → PartiallyFailed (demanded)                                 no release
//	FinalizingPartiallyFailed → PartiallyFailed                             backup_finalizer_controller.go: Reconcile
//	any phase but InProgress and Deleting → Deleting                        backup_deletion_controller.go: Reconcile
//
// The direct way from Waiting… to PartiallyFailed is taken when the storage location is missing, cannot be read or is
// read-only: nothing is finalized, Cancel is not called, there is no completionTimestamp, and (v1.14, v1.18) the tracker keeps the backup.
//
// # Edges of a restore
//
//	New → InProgress                                                        restore_controller.go: Reconcile
//	New → FailedValidation                                                  restore_controller.go: Reconcile
//	InProgress → WaitingForPluginOperations                                 restore_controller.go: runValidatedRestore
//	InProgress → WaitingForPluginOperationsPartiallyFailed                  restore_controller.go: runValidatedRestore
//	InProgress → Finalizing                                                 restore_controller.go: runValidatedRestore
//	InProgress → FinalizingPartiallyFailed                                  restore_controller.go: runValidatedRestore
//	InProgress → Failed                                                     restore_controller.go: Reconcile; pkg/cmd/server/server.go: markInProgressRestoresFailed
//	WaitingForPluginOperations → WaitingForPluginOperationsPartiallyFailed  restore_operations_controller.go: Reconcile
//	WaitingForPluginOperations → Finalizing                                 restore_operations_controller.go: Reconcile
//	WaitingForPluginOperations → FinalizingPartiallyFailed                  restore_operations_controller.go: Reconcile
//	WaitingForPluginOperationsPartiallyFailed → FinalizingPartiallyFailed   restore_operations_controller.go: Reconcile
//	Finalizing → Completed                                                  restore_finalizer_controller.go: finishProcessing
//	Finalizing → PartiallyFailed                                            restore_finalizer_controller.go: finishProcessing
//	FinalizingPartiallyFailed → PartiallyFailed                             restore_finalizer_controller.go: finishProcessing
//
// When the backup or its location cannot be looked up, a waiting restore is FinalizingPartiallyFailed at once, with its
// operations still running: they are abandoned, and the counts do not add up in the end.
//
// # Pre- and post-actions
//
// No release has them: design/new-prepost-backuprestore-plugin-hooks.md in Velero's module proposes them, and velosim runs them on Velero's
// controllers. Plugins have up to four kinds of actions that are called once for a backup or restore, those of a kind one after another, by
// name. Pre-actions come when the object is InProgress, before its items. One that fails, or does not return before its deadline, ends the
// run: neither those after it nor the items follow, and the final phase tells so. Where the proposal is silent, velosim demands:
//
//   - Post-actions follow every final phase of a run, and a deletion, for each plugin whose pre-action has begun, whatever became of it, or
//     that has none: what was quiesced is resumed. Not for one whose pre-action was due and never begun. An error changes neither the phase
//     nor the others.
//   - An action's status says InProgress before it is called. A post-action that was InProgress when the server died is called again by the
//     next server, one that is Completed or Failed never. A pre-action that was is not, as a start has failed its run. A plugin whose process
//     dies in a call is launched anew, and called again, some times: that is one call here.
//   - With the patch to InProgress the object gets a marker and a finalizer: the one so that no post-action is called for an object that this
//     proposal has not run, the other so that it stays until they were called. While a run goes on, over Deleting too, none is.
//
// [State].Actions has as many plugins as [MaxActions]. Two that have both actions show the order, and what becomes of the second when the
// first fails; a third with a post-action alone, that it is called in any case. An action that annotations skip counts as none. One server
// runs: that two do not both call one, no State tells.
//
// Edges with pre-actions, beside those above:
//
//	InProgress → FailedPreBackupActions      proposed, of a backup
//	FailedPreBackupActions → Deleting        backup_deletion_controller.go: Reconcile
//	InProgress → FailedPreRestoreActions     proposed, of a restore
//
// # Passes
//
// A pass asks every running operation. A report of success or failure, an error, or a timeout (Cancel is called, and the
// operation counts as failed whatever Cancel returns) ends an operation in the server's memory. The end of the pass writes:
// errors and the last operation's end go to the object store and the object; a success beside operations that still run
// goes to the object's counts alone. So a server that dies forgets that success ([State].UnsavedCompleted), and the next
// server polls the operation again. A server that dies between the upload and the patch leaves what [PassPatchLost] leaves.
//
// # Restart
//
// A server that starts marks what is InProgress as Failed (pkg/cmd/server/server.go: markInProgressCRsFailed), without
// calling Cancel. Waiting and finalizing objects are taken up again, New and Queued ones too.
//
// # Readings
//
// A reading is a value of [Rules]. [Demanded] says what users need. [ForRelease] says what a release does. They differ in
// the rules that [All] lists, and nowhere else:
//
//   - plugin-call-without-deadline (velero#2922, velero#4863). Demanded, as proposed by velosim: every plugin call is given
//     up after [CallDeadline], and its operation fails. v1.18: no call has a deadline: one that takes long is waited for, and an
//     object whose call hangs stalls.
//   - ready-backup-forgotten-by-restart (unreported). Demanded, as proposed by velosim: a backup that is Queued or ReadyToStart when
//     the server starts is started, or queued again. v1.18: only an informer resync, 10 hours or more later, takes up one that is
//     ReadyToStart before its controller watches.
//   - progress-error-is-final (velero#7356). Demanded, as proposed by velosim: an error of Progress is retried at the
//     following polls, [ProgressRetries] times in a row, before the operation fails. v1.18: the first error is final. An operation
//     ID that the plugin does not know looks like any other error, and fails after the retries where they are demanded.
//   - failure-forgotten-before-patch (unreported). Demanded, as proposed by velosim: a failed operation makes its object
//     PartiallyFailed. v1.18: the upload at the end of a pass forgets the errors; if the patch after it does not land, or the
//     server dies between the two, the object can end Completed with failed > 0.
//   - missing-operations-read-as-none (unreported). Demanded, as proposed by velosim: the operations of a waiting object whose
//     operations file is gone count as failed, and a restore goes on only when its file is uploaded. v1.18: there are none, and
//     the object can end Completed; that a restore could not upload them is only logged.
//   - final-upload-failure-ignored (unreported). Demanded, as proposed by velosim: a backup ends once its stored copy and
//     contents are what its finalizer made of them. v1.18: it ends although the upload has failed.
//   - finalizer-retried-for-ever (unreported). Demanded, as proposed by velosim: a backup whose contents or operations file
//     are gone or damaged ends PartiallyFailed. v1.18: its finalizer fails for ever, and it stays Finalizing.
//   - hook-status-sent-once (unreported). Demanded, as proposed by velosim: a restore's finalizer sends the counts of its hooks until they
//     land. v1.14, v1.18: once; if the patch or its reply is lost, the restore ends PartiallyFailed.
//   - run-patch-given-up (velero#3239, velero#7207). Demanded, as proposed by velosim: the patch that ends InProgress is tried
//     until it lands. v1.18: it is given up after the resource timeout, and the object stays InProgress.
//   - start-marks-once (unreported). Demanded, as proposed by velosim: what is InProgress at a start is marked Failed, however
//     often that takes. v1.18: one try; if the patch is lost, the object stays InProgress.
//   - queue-slot-leaked (velero#10519). Demanded, as proposed by velosim: a backup that waits for its operations, has ended or
//     is gone takes none of the concurrent backups. v1.18: the tracker keeps one as ready that was rejected, or has run, before the queue
//     said so, or that was deleted when it was ready, and backups after it stay Queued, until it is finalized or the server restarts;
//     and it keeps one as in progress that has ended before its run said so, whose deletion is refused.
//   - begun-run-forgotten (unreported). Demanded, as proposed by velosim: a run begins when the patch to InProgress is applied. v1.14, v1.18:
//     if its reply is lost, nobody runs the object, which stays InProgress until the server restarts ([BeginUnseen]).
//   - given-up-backup-stays-tracked (unreported). Demanded, as proposed by velosim: a backup that was given up can be deleted. v1.14, v1.18: it
//     stays in the tracker, so that this is refused.
//   - unfinished-backup-restored (unreported). Demanded, as proposed by velosim: a restore of a backup that is neither Completed nor
//     PartiallyFailed ends FailedValidation. v1.18: validation does not look at the backup's phase.
//   - deletion-overtaken (unreported). Demanded, as proposed by velosim: nothing but its deletion writes the phase of a backup that is
//     Deleting, and one whose run has begun is not deleted. v1.18: reconciles that had begun before write over Deleting, and a deletion
//     comes in between the patch to InProgress and the entry in the tracker.
//   - stale-read-acted-upon (unreported). Demanded, as proposed by velosim: nothing is done to an object by what it was before its last
//     change. v1.18: a restore that is reconciled again from a cache that does not show its first writes yet is run twice, and the operations
//     of the first run are lost ([RunRepeated]). A pass that takes longer than a poll is followed by the next one at once, which can find no
//     operations in memory, load those that have ended from the object store, see no new error, and write Finalizing over what came
//     after ([PassRepeated]): an object whose operation has failed ends Completed. One that finds the errors of before counts its own over
//     them. And a sync that has listed the object store just before a backup ended removes it as an orphan. A restore
//     that has ended may be finalized again, and end otherwise ([FinalizerRepeated]), and a patch that ends a run, sent again after others,
//     takes an object back ([RunPatchRepeated]).
//   - deletion-forgotten-by-restart (unreported). Demanded, as proposed by velosim: a backup that is Deleting at a start is deleted. v1.18:
//     its request is InProgress, and passed over: it stays Deleting.
//
// A release without a queue (1.14) goes from New to InProgress: [Rules].Unqueued.
//
// [Rules.Stalls] tells the states that no step of the server leaves.
//
// # Left out
//
// The machine speaks of one object. It does not have:
//
//   - A start whose list fails, which leaves what is InProgress as it is until the next start.
//
// A backup that backup_sync_controller.go finds in the object store is created in its final phase: no edge leads there.
package phase
