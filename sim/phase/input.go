package phase

import "fmt"

// Input is one thing that happens to an object: what a controller observes or does, what the environment does to the
// server and its plugins, or what the user does.
type Input uint8

// What the server does and observes.
const (
	// Enqueued: the queue controller takes a new backup into the queue.
	Enqueued Input = iota
	// Dequeued: a queued backup's turn has come.
	Dequeued
	// DequeuedUnwatched: a queued backup's turn has come when the server has just started, and its controller does not watch yet.
	DequeuedUnwatched
	// Requeued: a backup that was ready when the server went down goes back into the queue. No release does so.
	Requeued
	// Validated: the object is valid, and its run begins.
	Validated
	// Rejected: the object is not valid.
	Rejected
	// BackupUnfinished: a restore is valid, but for its backup, which is neither Completed nor PartiallyFailed.
	BackupUnfinished
	// OperationStarted: Execute returned an operation ID.
	OperationStarted
	// ExecuteFailed: Execute returned an error, or an item failed otherwise.
	ExecuteFailed
	// RunFailed: the run as a whole returned an error, such as a store that cannot be reached, or of a pre-action.
	RunFailed
	// ProgressCompleted: Progress reports that a running operation has completed.
	ProgressCompleted
	// ProgressFailed: Progress reports that a running operation has failed.
	ProgressFailed
	// ProgressErrored: Progress returned an error, or its plugin could not be started.
	ProgressErrored
	// RetriesExhausted: Progress returned an error for one operation ProgressRetries times in a row after the first.
	RetriesExhausted
	// OperationTimedOut: an operation still runs after itemOperationTimeout, and Cancel was called.
	OperationTimedOut
	// PassEnded: every running operation was asked for its progress, and the outcome is written.
	PassEnded
	// LookupFailed: the location could not be read or is read-only (of a restore: it or the backup could not be read) when a
	// pass was to begin.
	LookupFailed
	// FinalizerSucceeded: the finalizer did its work. A backup's finalizer only logs the errors of single items.
	FinalizerSucceeded
	// FinalizerFailed: a restore's finalizer met errors. A backup's fails only where its contents are lost, and no release ends
	// it then.
	FinalizerFailed
	// BackupNotFound: a restore's finalizer finds no backup, or no location of it.
	BackupNotFound
	// CallTimedOut: the call that hangs has reached CallDeadline. No release has a deadline.
	CallTimedOut
	// PreActionStarted: the status of the next pre-action says InProgress, and it is called.
	PreActionStarted
	// PreActionSucceeded: the pre-action has returned, and its status says Completed.
	PreActionSucceeded
	// PreActionFailed: the pre-action has returned an error, or not before its deadline, or its plugin could not be started again. Its
	// status says Failed; what follows is RunFailed.
	PreActionFailed
	// PostActionStarted: the status of the next post-action says InProgress, and it is called.
	PostActionStarted
	// PostActionSucceeded: the post-action has returned, and its status says Completed.
	PostActionSucceeded
	// PostActionFailed is to a post-action what PreActionFailed is to a pre-action. The next one follows.
	PostActionFailed

	serverInputs // those before are the server's
)

// What the environment and the user do.
const (
	// ExecuteHung: a call of Execute does not return.
	ExecuteHung = serverInputs + iota
	// ProgressHung: a call of Progress does not return.
	ProgressHung
	// CancelHung: an operation timed out, and the call of Cancel does not return.
	CancelHung
	// FinalPatchLost: the patch to the final phase does not land, whether the server is killed before it or the API server
	// refuses it.
	FinalPatchLost
	// RunPatchLost: the patch that ends InProgress does not land for as long as the server tries.
	RunPatchLost
	// RunUploadFailed: a restore's InProgress ends, and the object store refuses its operations.
	RunUploadFailed
	// PassUploadFailed: the object store refuses what a pass is to write at its end.
	PassUploadFailed
	// PassPatchLost: a pass has written to the object store, and its patch does not land.
	PassPatchLost
	// OperationsMissing: the operations of a waiting object are to be read, and their file is gone.
	OperationsMissing
	// FinalUploadFailed: the object store refuses what a backup's finalizer uploads last: the metadata or the contents.
	FinalUploadFailed
	// HookStatusLost: the patch of a restore's counts of hooks does not land, or its reply is lost.
	HookStatusLost
	// ContentsDisappeared: the object store loses the items that were backed up, which the finalizer of a backup with operations
	// needs.
	ContentsDisappeared
	// MarkLost: a server starts, and its patch that marks the object Failed does not land.
	MarkLost
	// BeginUnseen: the patch to InProgress is applied, and its reply lost.
	BeginUnseen
	// SlotLeaked: the tracker counts a backup that has ended, or is gone, so that the queue stays full.
	SlotLeaked
	// ServerKilled: the server ends, and all that it only had in memory is gone.
	ServerKilled
	// ServerStarted: a server starts.
	ServerStarted
	// InformerResynced: the informers hand every object to the controllers again, 10 h or more after the start. Any other
	// write to the object does the same.
	InformerResynced
	// DeletionRequested: the user creates a DeleteBackupRequest, or the object has expired, and Velero accepts it.
	DeletionRequested
	// DeletionOvertaken: deletion is granted while another controller's reconcile is under way, which still writes the phase; a run that
	// has just begun is not in the tracker yet.
	DeletionOvertaken
	// RunRepeated: a restore that has run is taken for a new one, as the cache that is read does not show its first change yet.
	RunRepeated
	// PassRepeated: an object whose operations have ended is taken for one in WaitingForPluginOperations, as in RunRepeated.
	PassRepeated
	// FailedPassRepeated: it is taken for one in WaitingForPluginOperationsPartiallyFailed.
	FailedPassRepeated
	// FinalizerRepeated: a restore that has ended is taken for one in Finalizing, and there are no errors this time, or its backup or the
	// location is not there any more.
	FinalizerRepeated
	// RunPatchRepeated: the patch that ends InProgress is sent again, as its reply was lost, and has been followed by others.
	RunPatchRepeated
	// Described: the user asks for the operations, and the server uploads what it knows of them. The errors that a pass could not
	// write are forgotten as in PassPatchLost.
	Described

	inputs // how many there are
)

// inputInfo is an input's text and the function of Velero that it stands for.
type inputInfo struct{ text, source string }

func (i Input) info() inputInfo {
	switch i {
	case Enqueued:
		return inputInfo{"enqueued", "pkg/controller/backup_queue_controller.go: Reconcile"}
	case Dequeued:
		return inputInfo{"dequeued", "pkg/controller/backup_queue_controller.go: Reconcile"}
	case DequeuedUnwatched:
		return inputInfo{"dequeued before backups are watched", "pkg/controller/backup_queue_controller.go: Reconcile; pkg/controller/backup_controller.go: SetupWithManager"}
	case Requeued:
		return inputInfo{"requeued after a restart", proposed}
	case Validated:
		return inputInfo{"validated", "pkg/controller/backup_controller.go: Reconcile; pkg/controller/restore_controller.go: Reconcile"}
	case Rejected:
		return inputInfo{"rejected", "pkg/controller/backup_controller.go: Reconcile; pkg/controller/restore_controller.go: Reconcile"}
	case BackupUnfinished:
		return inputInfo{"the backup has not ended", "pkg/controller/restore_controller.go: validateAndComplete"}
	case OperationStarted:
		return inputInfo{"Execute started an operation", "pkg/backup/item_backupper.go: executeActions; pkg/restore/restore.go: restoreItem"}
	case ExecuteFailed:
		return inputInfo{"Execute failed", "pkg/backup/item_backupper.go: executeActions; pkg/restore/restore.go: restoreItem"}
	case RunFailed:
		return inputInfo{"the run failed", "pkg/controller/backup_controller.go: runBackup; pkg/controller/restore_controller.go: runValidatedRestore"}
	case ProgressCompleted:
		return inputInfo{"Progress reported completion", progressSource}
	case ProgressFailed:
		return inputInfo{"Progress reported failure", progressSource}
	case ProgressErrored:
		return inputInfo{"Progress returned an error", progressSource}
	case RetriesExhausted:
		return inputInfo{"Progress kept returning errors", proposed}
	case OperationTimedOut:
		return inputInfo{"an operation timed out", progressSource}
	case PassEnded:
		return inputInfo{
			"a pass over the operations ended",
			"pkg/controller/backup_controller.go: runBackup; pkg/controller/restore_controller.go: runValidatedRestore; " + passSource,
		}
	case LookupFailed:
		return inputInfo{"the location or backup could not be looked up", "pkg/controller/backup_operations_controller.go: Reconcile; pkg/controller/restore_operations_controller.go: Reconcile"}
	case FinalizerSucceeded:
		return inputInfo{"the finalizer succeeded", "pkg/controller/backup_finalizer_controller.go: Reconcile; pkg/controller/restore_finalizer_controller.go: finishProcessing"}
	case FinalizerFailed:
		return inputInfo{"the finalizer met errors", "pkg/controller/restore_finalizer_controller.go: execute; pkg/controller/backup_finalizer_controller.go: Reconcile"}
	case BackupNotFound:
		return inputInfo{"the backup was not found", "pkg/controller/restore_finalizer_controller.go: Reconcile"}
	case CallTimedOut:
		return inputInfo{"the hung call was given up", proposed}
	case PreActionStarted:
		return inputInfo{"a pre-action was called", preActions}
	case PreActionSucceeded:
		return inputInfo{"the pre-action succeeded", preActions}
	case PreActionFailed:
		return inputInfo{"the pre-action failed", preActions}
	case PostActionStarted:
		return inputInfo{"a post-action was called", postActions}
	case PostActionSucceeded:
		return inputInfo{"the post-action succeeded", postActions}
	case PostActionFailed:
		return inputInfo{"the post-action failed", postActions}
	case ExecuteHung:
		return inputInfo{"Execute hung", "pkg/plugin/framework/backupitemaction/v2/backup_item_action_client.go: Execute; pkg/plugin/framework/restoreitemaction/v2/restore_item_action_client.go: Execute"}
	case ProgressHung:
		return inputInfo{"Progress hung", "pkg/plugin/framework/backupitemaction/v2/backup_item_action_client.go: Progress; pkg/plugin/framework/restoreitemaction/v2/restore_item_action_client.go: Progress"}
	case CancelHung:
		return inputInfo{"Cancel hung", "pkg/plugin/framework/backupitemaction/v2/backup_item_action_client.go: Cancel; pkg/plugin/framework/restoreitemaction/v2/restore_item_action_client.go: Cancel"}
	case FinalPatchLost:
		return inputInfo{"the patch to the final phase was lost", "pkg/client/retry.go: RetryOnErrorMaxBackOff; pkg/controller/restore_finalizer_controller.go: finishProcessing"}
	case RunPatchLost:
		return inputInfo{"the patch at the end of the run was lost", "pkg/controller/backup_controller.go: Reconcile; pkg/controller/restore_controller.go: Reconcile"}
	case RunUploadFailed:
		return inputInfo{"the upload of the operations at the end of the run failed", "pkg/controller/restore_controller.go: runValidatedRestore"}
	case PassUploadFailed:
		return inputInfo{"the upload at the end of a pass failed", passSource}
	case PassPatchLost:
		return inputInfo{"the patch at the end of a pass was lost", passSource}
	case OperationsMissing:
		return inputInfo{"the operations file is missing", "pkg/persistence/object_store.go: GetBackupItemOperations; pkg/persistence/object_store.go: GetRestoreItemOperations"}
	case FinalUploadFailed:
		return inputInfo{"the last upload of the finalizer failed", "pkg/controller/backup_finalizer_controller.go: Reconcile"}
	case HookStatusLost:
		return inputInfo{"the patch of the hooks' counts was lost", "pkg/controller/restore_finalizer_controller.go: WaitRestoreExecHook"}
	case ContentsDisappeared:
		return inputInfo{"the contents of the backup disappeared", "pkg/controller/backup_finalizer_controller.go: Reconcile; pkg/persistence/object_store.go: GetBackupContents"}
	case MarkLost:
		return inputInfo{"the server started, and its patch to Failed was lost", "pkg/cmd/server/server.go: markInProgressBackupsFailed; pkg/cmd/server/server.go: markInProgressRestoresFailed"}
	case BeginUnseen:
		return inputInfo{"the run began unseen", "pkg/controller/backup_controller.go: Reconcile; pkg/controller/restore_controller.go: Reconcile"}
	case SlotLeaked:
		return inputInfo{"a slot of the queue was leaked", "pkg/controller/backup_queue_controller.go: Reconcile; pkg/controller/backup_deletion_controller.go: Reconcile"}
	case ServerKilled:
		return inputInfo{"the server was killed", "the environment"}
	case ServerStarted:
		return inputInfo{"the server started", "pkg/cmd/server/server.go: markInProgressCRsFailed"}
	case InformerResynced:
		return inputInfo{"the informers resynced", "pkg/controller/backup_controller.go: SetupWithManager"}
	case DeletionRequested:
		return inputInfo{"deletion was requested", "pkg/controller/backup_deletion_controller.go: Reconcile"}
	case DeletionOvertaken:
		return inputInfo{"deletion was requested during a reconcile", "pkg/controller/backup_deletion_controller.go: Reconcile; pkg/controller/backup_controller.go: Reconcile; " +
			"pkg/controller/backup_queue_controller.go: Reconcile"}
	case RunRepeated:
		return inputInfo{"the run was repeated from a stale read", "pkg/controller/restore_controller.go: Reconcile"}
	case PassRepeated:
		return inputInfo{"a pass was repeated from a stale read", staleSource}
	case FailedPassRepeated:
		return inputInfo{"a pass after a failure was repeated from a stale read", staleSource}
	case FinalizerRepeated:
		return inputInfo{"the finalizer was repeated from a stale read", "pkg/controller/restore_finalizer_controller.go: Reconcile"}
	case RunPatchRepeated:
		return inputInfo{"the patch that ends the run was repeated", "pkg/controller/backup_controller.go: Reconcile; pkg/controller/restore_controller.go: Reconcile"}
	case Described:
		return inputInfo{"the operations were described", "pkg/controller/download_request_controller.go: Reconcile; pkg/itemoperationmap/backup_operation_map.go: UpdateForBackup; " +
			"pkg/itemoperationmap/restore_operation_map.go: UpdateForRestore"}
	}
	return inputInfo{fmt.Sprintf("Input(%d)", uint8(i)), "none"}
}

const (
	passSource = "pkg/controller/backup_operations_controller.go: updateBackupAndOperationsJSON; " +
		"pkg/controller/restore_operations_controller.go: updateRestoreAndOperationsJSON"
	staleSource    = "pkg/controller/backup_operations_controller.go: Reconcile; pkg/controller/restore_operations_controller.go: Reconcile"
	proposed       = "proposed by velosim"
	preActions     = design + "PreBackup and PostBackup Actions; " + design + "Pre Backup Actions Plugins; " + design + "Pre Restore Actions Plugins"
	postActions    = design + "PreBackup and PostBackup Actions; " + design + "Post Backup Actions Plugins; " + design + "Post Restore Actions Plugins"
	design         = "design/new-prepost-backuprestore-plugin-hooks.md: "
	progressSource = "pkg/controller/backup_operations_controller.go: getBackupItemOperationProgress; " +
		"pkg/controller/restore_operations_controller.go: getRestoreItemOperationProgress"
)

// String says what happens.
func (i Input) String() string { return i.info().text }

// Source is where Velero does or meets it, as "file: function" separated by semicolons, or "file: section" of a design that no release
// follows; "proposed by velosim" for what no release does; or "the environment".
func (i Input) Source() string { return i.info().source }
