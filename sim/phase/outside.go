package phase

// PassRetriedForEver is the name of the rule by which, in a release, an object waits for operations that it cannot read or write.
const PassRetriedForEver = "pass-retried-for-ever"

// ServersNotFenced is the name of the rule by which, in a release, two servers act at once.
const ServersNotFenced = "servers-not-fenced"

// RefusedPhaseRetriedForEver is the name of the rule by which, in a release, an object stays as its next phase is none of its CRD's.
const RefusedPhaseRetriedForEver = "refused-phase-retried-for-ever"

// UnlistedNamespacesPanic is the name of the rule by which, in a release, the run of a backup panics.
const UnlistedNamespacesPanic = "unlisted-namespaces-panic"

// DeletionRequestPassedOver is the name of the rule by which, in a release, a request to delete a backup stays InProgress.
const DeletionRequestPassedOver = "deletion-request-passed-over"

// outside are the rules that make no difference to Step: they are of what comes of a plugin's errors, of order and of time, which a State does
// not have. Scenarios say how they show.
func outside() []Rule {
	return []Rule{
		{
			Name:      "delete-action-error-ignored",
			Statement: "A backup whose DeleteItemAction returned an error is not deleted, so that the next deletion calls it again.",
			Deviation: "The error is logged, no more: the backup goes with all that is stored of it, and what the plugin has stored stays for ever.",
			Seen:      "The backup is gone, and its deletion looks like a success. What the plugin keeps for it stays; the server's log says \"plugin error\", with the item.",
			Remedy:    "Look through the server's log after deletions, and delete what is left by the plugin's own means.",
			Source:    proposed + ", and upstream in a fix after 1.18.3; InvokeDeleteActions in internal/delete/delete_item_action_handler.go",
			Witness:   "backup-delete-action-fails",
			Reports:   []string{"velero#9803"},
			Releases:  []string{"v1.14", "v1.18"},
		},
		{
			Name:      "finalizing-errors-ignored",
			Statement: "A backup of which an item could not be backed up again, when its operations had ended, is PartiallyFailed.",
			Deviation: "The error is logged, no more: the backup is Completed, with the item as it was before.",
			Seen:      "The backup is Completed, with an item as it was before its operation ended. The error is in the server's log, and not in the backup's.",
			Remedy:    "Look through the server's log for errors of the finalizer, and repeat the backup if it has any.",
			Source:    proposed + "; FinalizeBackup and finalizeItem in pkg/backup/backup.go",
			Witness:   "backup-finalizing-execute-fails",
			Reports:   []string{"velero#8116"},
			Releases:  []string{"v1.14", "v1.18"},
		},
		{
			Name:      PassRetriedForEver,
			Statement: "A backup or restore whose operations the object store gives back damaged, or refuses to overwrite, is given up after a number of tries.",
			Deviation: "Each poll tries again, without end: it waits for its operations for ever, beyond their timeout, and calls no Cancel. A restore whose operations have ended stays Finalizing, as its finalizer reads them, too.",
			Seen:      "The object stays WaitingForPluginOperations, beyond its itemOperationTimeout, and the server's log repeats an error at each poll.",
			Remedy:    "Put a whole operations file back, or let the store take overwrites, and the next poll goes on. If that cannot be, delete the restore; of a backup restart the server first, as its deletion is refused until then. The store must take deletions for that, and operations that still run are not cancelled.",
			Source:    proposed + "; Reconcile in pkg/controller/backup_operations_controller.go and restore_operations_controller.go",
			Witness:   "backup-store-immutable-with-operation",
			Releases:  []string{"v1.14", "v1.18"},
		},
		{
			Name:      RefusedPhaseRetriedForEver,
			Statement: "A backup or restore whose next phase the API server refuses as Invalid is Failed, a phase that every release of the CRDs has.",
			Deviation: "The patch is tried again, without end: with CRDs that lack Queued, all backups stay New; with CRDs that lack a phase of the finalizer, an object waits for its operations, which have ended, for ever.",
			Seen:      "After an upgrade of the server alone, backups stay New, or objects WaitingForPluginOperations, beyond their itemOperationTimeout. The server's log repeats \"is invalid: status.phase: Unsupported value\".",
			Remedy:    "Apply the CRDs of the server's release, with `velero install --crds-only --dry-run -o yaml | kubectl apply -f -`: the next try goes on.",
			Source: proposed + "; Reconcile in pkg/controller/backup_queue_controller.go, backup_operations_controller.go and restore_operations_controller.go. " +
				"The patch that ends InProgress is given up instead (run-patch-given-up)",
			Witness:  "backup-crds-lack-queued",
			Reports:  []string{"cozystack/cozystack#3726"},
			Releases: []string{"v1.18"},
		},
		{
			Name:      "queue-order-lost-by-restart",
			Statement: "Backups are queued in the order of their creation.",
			Deviation: "Those that are New when the server starts are queued in the order in which the informer lists them, which is by name.",
			Seen:      "Backups that were created while the server was down run in the order of their names.",
			Remedy:    "Create them when the server is up, or give them names that sort in the order in which they have to run.",
			Source:    proposed + "; Reconcile in pkg/controller/backup_queue_controller.go",
			Witness:   "backup-queued-out-of-order-after-restart",
			Reports:   []string{"velero#8453"},
			Releases:  []string{"v1.18"},
		},
		{
			Name:      "schedule-overlooks-queued",
			Statement: "A schedule makes no backup while its last one waits in the queue.",
			Deviation: "It looks at backups that are New and InProgress alone: while the queue is blocked, it adds one at each of its times.",
			Seen:      "Several backups of one schedule are Queued, and run one after another once the queue moves.",
			Remedy:    "Pause the schedule while a long backup runs, with `velero schedule pause NAME`, and delete the queued backups that are too many. With a higher --concurrent-backups, those of other namespaces do not wait.",
			Source:    "documented in a comment of Reconcile in pkg/controller/schedule_controller.go; checkIfBackupInNewOrProgress there",
			Witness:   "backup-scheduled-behind-another",
			Reports:   []string{"velero#9259"},
			Releases:  []string{"v1.18"},
		},
		{
			Name:      "deletion-granted-after-restart",
			Statement: "The deletion of a backup that waits for its operations, or is finalized, is refused, whenever the server was started.",
			Deviation: "The tracker knows what this server has run: after a restart it is empty, and a backup that waits is deleted, while its operations go on without a Cancel.",
			Seen:      "The backup is gone at once, although it waited for operations, which go on.",
			Remedy:    "Look at the phase before a deletion. To end its operations first, lower the backup's spec.itemOperationTimeout with `kubectl patch`: the next poll cancels those that are older.",
			Source:    proposed + "; pkg/controller/backup_tracker.go, and Reconcile in pkg/controller/backup_deletion_controller.go",
			Witness:   "backup-deleted-while-waiting-after-restart",
			Releases:  []string{"v1.14", "v1.18"},
		},
		{
			Name:      "unstarted-backup-not-deleted",
			Statement: "A backup that was not started yet is deleted as the user asks.",
			Deviation: "A backup gets its storage location when it starts, unless the user has named one: until then its deletion fails, and it runs when its turn comes.",
			Seen:      "The deletion of a queued backup does nothing. Its DeleteBackupRequest, which is gone after a day, says \"backup storage location  not found\".",
			Remedy:    "Delete the Backup with `kubectl delete`: nothing is stored of it yet. Or create backups with `--storage-location`.",
			Source: proposed + "; Reconcile in pkg/controller/backup_deletion_controller.go looks the location up by spec.storageLocation, which " +
				"prepareBackupRequest in backup_controller.go sets",
			Witness:  "backup-deleted-while-queued",
			Releases: []string{"v1.18"},
		},
		{
			Name:      DeletionRequestPassedOver,
			Statement: "A request to delete a backup is Processed in the end, with its errors, or removed.",
			Deviation: "Each of its writes is tried once, and a request that is InProgress is passed over until it expires, after a day, and is removed. When the write of Processed fails, it stays InProgress; when the reply to that of InProgress is lost, the backup is not deleted, either.",
			Seen:      "The request stays InProgress for a day, in `kubectl get deletebackuprequests`, whether the backup is gone or not.",
			Remedy:    "If the backup is gone, remove the request with `kubectl delete`, or leave it. If it is there, request the deletion again, with `velero backup delete NAME`.",
			Source:    proposed + "; Reconcile and patchDeleteBackupRequest in pkg/controller/backup_deletion_controller.go. After a restart it is deletion-forgotten-by-restart",
			Witness:   "backup-deletion-not-marked-processed",
			Reports:   []string{"velero#10169"},
			Releases:  []string{"v1.14", "v1.18"},
		},
		{
			Name:      "deleted-restore-not-cancelled",
			Statement: "The operations of a restore that is deleted are cancelled first.",
			Deviation: "What is stored of it is deleted, and its operations go on with nobody to end them.",
			Seen:      "The restore is gone, and its operations go on.",
			Remedy:    "Before the deletion, lower the restore's spec.itemOperationTimeout with `kubectl patch`: the next poll cancels the operations that are older, and the restore ends. Afterwards, end them by the plugin's own means.",
			Source:    proposed + "; Reconcile and deleteExternalResources in pkg/controller/restore_controller.go",
			Witness:   "restore-deleted-while-waiting",
			Reports:   []string{"velero#9190"},
			Releases:  []string{"v1.14", "v1.18"},
		},
		{
			Name:      "final-patch-backs-off-for-long",
			Statement: "The last patch of a backup, when the API server has refused it, is sent again within ten minutes.",
			Deviation: "The pauses between its tries grow fivefold without a limit: after an hour of refusal the backup is Completed some 23 minutes late.",
			Seen:      "The backup stays Finalizing long after the API server is back, while the stored copy is at its final phase already. Other backups wait to be finalized behind it.",
			Remedy:    "Wait, or restart the server, which finalizes the backup at once.",
			Source:    proposed + "; Reconcile in pkg/controller/backup_finalizer_controller.go, to which its constructor leaves no timeout",
			Witness:   "backup-final-patch-refused-for-long",
			Releases:  []string{"v1.18"},
		},
		{
			Name:      ServersNotFenced,
			Statement: "At most one server acts on an object at a time.",
			Deviation: "There is no leader election: a server that starts while another runs, as in a rolling update of the Deployment, marks what the other runs as Failed, and both poll, cancel, finalize and delete. The run goes on, and takes its object from Failed to its next phase. What the old server begins and does not end, nobody marks: the new one does so once, when it starts.",
			Seen:      "After an update or a restart of the pod, a backup or restore is Failed, and a while later it waits for operations or is Completed, with the failureReason `found a backup with status \"InProgress\" during the server starting`; or it stays InProgress for ever.",
			Remedy:    "Set the Deployment's strategy to Recreate, with one replica, and update Velero when nothing is InProgress. Repeat what has a failureReason, whatever its phase; restart the server once more if an object stays InProgress.",
			Source: proposed + "; pkg/cmd/server/server.go, which makes its manager without leader election, and markInProgressBackupsFailed and " +
				"markInProgressRestoresFailed there; Deployment in pkg/install/deployment.go, which leaves the strategy at RollingUpdate",
			Witness:  "backup-server-replaced-while-in-progress",
			Reports:  []string{"velero#487", "velero#7230", "velero#9036", "velero#9062"},
			Releases: []string{"v1.14", "v1.18"},
		},
		{
			Name:      UnlistedNamespacesPanic,
			Statement: "A backup whose run fails to list the namespaces ends.",
			Deviation: "The run panics, as it reads the list before it looks whether there is one. The server goes on, and nobody runs the backup, which stays InProgress until the server restarts.",
			Seen:      "The backup stays InProgress, with no progress and nothing stored, holds up those behind it, and its deletion is refused. The server's log has \"Observed a panic\", with collectNamespaces in the stack.",
			Remedy:    "Restart the server, which marks the backup Failed; then delete and repeat it.",
			Source:    proposed + "; collectNamespaces in pkg/backup/item_collector.go",
			Witness:   "backup-namespaces-not-listed",
			Releases:  []string{"v1.18"},
		},
		{
			Name:      "left-out-resources-include-all",
			Statement: "A backup that includes only resources which Velero leaves out of every backup backs up nothing else.",
			Deviation: "Velero takes those resources from the ones that are included, and then includes all, as it does where none are named.",
			Seen:      "A backup with --include-resources volumesnapshots.snapshot.storage.k8s.io has every resource of its namespaces, and plugins are called for them.",
			Remedy:    "Include another resource beside it, of which there is nothing to back up; Velero makes the snapshots itself.",
			Source:    proposed + "; modifyResourceIncludeExclude in pkg/controller/backup_controller.go",
			Witness:   "backup-of-snapshots-alone",
			Releases:  []string{"v1.18"},
		},
	}
}
