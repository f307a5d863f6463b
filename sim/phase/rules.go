package phase

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What the demanded reading asks of plugin calls: see the rules plugin-call-without-deadline and progress-error-is-final.
const (
	// CallDeadline is how long a call of a plugin may take.
	CallDeadline = 10 * time.Minute
	// ProgressRetries is how many further polls, in a row, an operation survives whose Progress returns an error.
	ProgressRetries = 3
)

// PluginCallWithoutDeadline is the name of the rule that a plugin call breaks, in the demanded reading, by going on for longer
// than CallDeadline.
const PluginCallWithoutDeadline = "plugin-call-without-deadline"

// StaleReadActedUpon is the name of the rule by which, in a release, two runs of one object may go on at once.
const StaleReadActedUpon = "stale-read-acted-upon"

// DeletionForgottenByRestart is the name of the rule by which, in a release, a backup stays Deleting.
const DeletionForgottenByRestart = "deletion-forgotten-by-restart"

// Rules are a reading of the specification: what the server does where readings differ. Each boolean is a Rule of All,
// named by what deviates: all of them but Unqueued are false in the demanded reading.
type Rules struct {
	// Name of the reading: "demanded", "v1.18".
	Name string
	// Unqueued: the release has no queue, so that a new backup is run at once. This is no deviation: what is demanded of a release
	// has a queue if it does ([Rules.Demanded]).
	Unqueued bool

	PluginCallWithoutDeadline     bool
	ReadyBackupForgottenByRestart bool
	ProgressErrorIsFinal          bool
	FailureForgottenBeforePatch   bool
	MissingOperationsReadAsNone   bool
	FinalUploadFailureIgnored     bool
	FinalizerRetriedForEver       bool
	StartMarksOnce                bool
	RunPatchGivenUp               bool
	BegunRunForgotten             bool
	QueueSlotLeaked               bool
	GivenUpBackupStaysTracked     bool
	UnfinishedBackupRestored      bool
	DeletionOvertaken             bool
	StaleReadActedUpon            bool
	// DeletionForgottenByRestart makes no difference to Step, which does not lead on from Deleting.
	DeletionForgottenByRestart bool
}

// Rule is a rule in which a release deviates from what is demanded.
type Rule struct {
	// Name in kebab case, as scenarios give it.
	Name string
	// Statement is what is demanded.
	Statement string
	// Deviation is what the releases do instead.
	Deviation string
	// Seen is what a user of Velero sees of it.
	Seen string
	// Remedy is what the user can do about it.
	Remedy string
	// Source of the demand ("documented", with the section, or "proposed by velosim") and of the deviation.
	Source string
	// Witness is the scenario that shows the deviation. Empty: it takes a race that few seeds show.
	Witness string
	// Breaks are the invariants that the deviation breaks, by name.
	Breaks []string
	// Reports in upstream trackers, such as velero#2922. None: unreported.
	Reports []string
	// Releases are the readings that deviate, such as "v1.18".
	Releases []string

	field func(*Rules) *bool
}

// Machine reports whether the rule makes a difference to Step.
func (r Rule) Machine() bool { return r.field != nil }

// Deviates reports whether the reading deviates in this rule.
func (r Rule) Deviates(in Rules) bool {
	if !r.Machine() {
		return slices.Contains(r.Releases, in.Name)
	}
	return *r.field(&in)
}

// Without is the reading without the deviation in rule.
func (r Rules) Without(rule Rule) Rules {
	if rule.field != nil {
		*rule.field(&r) = false
	}
	return r
}

// With is the reading with the deviation in rule.
func (r Rules) With(rule Rule) Rules {
	if rule.field != nil {
		*rule.field(&r) = true
	}
	return r
}

// All returns every rule in which a release deviates.
func All() []Rule {
	return append([]Rule{
		{
			Name:      PluginCallWithoutDeadline,
			Statement: "Every plugin call is given up after 10 minutes, and its operation fails.",
			Deviation: "No call to a plugin has a deadline: one that takes long is waited for, and one that never returns holds its backup or restore, and whatever waits for the same controller, until the server restarts.",
			Seen:      "The backup or restore stays in the phase in which the call was made, beyond its itemOperationTimeout, and others wait behind it. A backup's deletion is refused with \"backup is still in progress\".",
			Remedy:    "Restart the server: what is InProgress is Failed then, and what waits or is finalized is called again, and hangs again if the plugin has not been mended. Delete what is Failed, and repeat it.",
			Source: proposed + "; the clients in pkg/plugin/framework/backupitemaction/v2/backup_item_action_client.go and " +
				"restoreitemaction/v2/restore_item_action_client.go call with context.Background()",
			Witness:  "backup-progress-hangs",
			Reports:  []string{"velero#2738", "velero#2800", "velero#2922", "velero#3701", "velero#4863", "velero#6193"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.PluginCallWithoutDeadline },
		},
		{
			Name:      "ready-backup-forgotten-by-restart",
			Statement: "A backup that is Queued or ReadyToStart when the server starts is started, or queued again.",
			Deviation: "A start overlooks a backup that is ReadyToStart, or gets so before the controller of backups watches: only an informer resync, 10 hours or more later, or another write to it starts it.",
			Seen:      "The backup stays ReadyToStart, and those of the same namespaces stay Queued behind it. Another restart changes nothing.",
			Remedy:    "Write to the backup, with `kubectl annotate backup NAME retry=1`, and it starts; or delete it, which is not refused, and create it again.",
			Source: proposed + "; SetupWithManager in pkg/controller/backup_controller.go ignores create events, and " +
				"markInProgressBackupsFailed in pkg/cmd/server/server.go looks at InProgress alone",
			Witness:  "backup-server-killed-while-ready-to-start",
			Releases: []string{"v1.18"},
			field:    func(r *Rules) *bool { return &r.ReadyBackupForgottenByRestart },
		},
		{
			Name:      "progress-error-is-final",
			Statement: "An error of Progress is retried at the following polls, at least 3 times in a row, before the operation fails.",
			Deviation: "The first error of Progress fails the operation, without Cancel. An operation ID that the plugin does not know is such an error.",
			Seen:      "The object is PartiallyFailed, and `velero backup describe NAME --details` shows the plugin's error for the operation, which may still go on in the plugin's system.",
			Remedy:    "See to it that the operation has ended there, as Velero calls no Cancel, and repeat the backup or restore. A plugin can retry within Progress, and report an operation as running where it cannot tell.",
			Source: proposed + "; getBackupItemOperationProgress in pkg/controller/backup_operations_controller.go and " +
				"getRestoreItemOperationProgress in restore_operations_controller.go",
			Witness:  "backup-progress-errors-once",
			Reports:  []string{"velero#7356"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.ProgressErrorIsFinal },
		},
		{
			Name:      "failure-forgotten-before-patch",
			Statement: "An operation that has failed makes its object PartiallyFailed, whatever happens between the upload of its failure and the patch of the object.",
			Deviation: "The upload clears the errors in memory: if the patch that follows does not land, nobody counts them, and the object ends Completed with failed operations.",
			Seen:      "The object is Completed, while its status counts failed operations: \"0 of 1 completed successfully, 1 failed\" in `velero backup describe NAME`.",
			Remedy:    "Judge by the counts, not by the phase alone: if an operation has failed, repeat the backup or restore.",
			Source: proposed + "; uploadProgress in pkg/itemoperationmap/backup_operation_map.go and restore_operation_map.go, called by " +
				"updateBackupAndOperationsJSON and updateRestoreAndOperationsJSON in pkg/controller",
			Witness:  "backup-server-killed-after-upload-of-failure",
			Breaks:   []string{"finalizing-without-errors", "failed-operation-means-not-completed", "errors-cover-failed-operations"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.FailureForgottenBeforePatch },
		},
		{
			Name:      "missing-operations-read-as-none",
			Statement: "The operations of a waiting object whose operations file is gone count as failed: it ends PartiallyFailed. A restore goes on only when its file is uploaded.",
			Deviation: "A missing operations file reads as no operations: the object ends Completed, with operations attempted that neither completed nor failed. That a restore could not upload the file is only logged.",
			Seen:      "The object is Completed, with fewer operations completed and failed than attempted: \"0 of 1 completed successfully, 0 failed\". The operations go on, and Velero does not cancel them.",
			Remedy:    "Repeat the backup or restore when the counts do not add up, and end the operation by the plugin's own means. Let no lifecycle rule of the bucket remove files that Velero has written.",
			Source: proposed + "; tryGet in pkg/persistence/object_store.go returns nothing, and no error; runValidatedRestore in " +
				"pkg/controller/restore_controller.go",
			Witness:  "backup-operations-file-lost",
			Breaks:   []string{"nothing-finalizes-while-operations-run", "finalized-counts-add-up", "operations-stay-known"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.MissingOperationsReadAsNone },
		},
		{
			Name:      "final-upload-failure-ignored",
			Statement: "A backup ends when its stored copy and contents are as its finalizer made them.",
			Deviation: "The patch to the final phase follows an upload that failed: the stored copy stays at Finalizing, and other clusters that sync it never see the backup end; or the items that operations updated stay as they were before.",
			Seen:      "The cluster shows the backup as ended. In the object store velero-backup.json is still at Finalizing, so that no other cluster syncs the backup before it expires; or the contents are those from before the operations ended. Only the server's log has the error.",
			Remedy:    "Delete the backup and repeat it when the object store takes writes again: Velero does not upload a second time.",
			Source:    proposed + "; the deferred patch in Reconcile of pkg/controller/backup_finalizer_controller.go",
			Witness:   "backup-final-upload-fails",
			Breaks:    []string{"stored-copy-agrees"},
			Reports:   []string{"velero#8686", "velero#8689", "velero#9760"},
			Releases:  []string{"v1.14", "v1.18"},
			field:     func(r *Rules) *bool { return &r.FinalUploadFailureIgnored },
		},
		{
			Name:      "finalizer-retried-for-ever",
			Statement: "A backup whose contents, or location, are gone when its operations have ended is PartiallyFailed.",
			Deviation: "Its finalizer fails, and is called again without end: the backup stays Finalizing, and cannot be deleted until the server restarts.",
			Seen:      "The backup stays Finalizing or FinalizingPartiallyFailed, and its deletion is refused with \"backup is still in progress\". The server's log repeats the error, at last every 17 minutes.",
			Remedy:    "Put the contents back, or let the store take overwrites, and the next try ends the backup. If that cannot be, restart the server, delete the backup, which is not refused then, and repeat it.",
			Source: proposed + "; Reconcile in pkg/controller/backup_finalizer_controller.go returns the error of downloadToTempFile " +
				"and leaves the phase",
			Witness:  "backup-contents-lost",
			Reports:  []string{"velero#9964"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.FinalizerRetriedForEver },
		},
		{
			Name:      "start-marks-once",
			Statement: "What is InProgress when the server starts is marked Failed, however often that takes.",
			Deviation: "A start tries once to mark an object Failed: if the patch does not land, the object stays InProgress until another start.",
			Seen:      "The backup or restore stays InProgress, although nobody runs it.",
			Remedy:    "Restart the server once more, or delete the object: this is not refused, as this server has not run it.",
			Source:    proposed + "; markInProgressBackupsFailed and markInProgressRestoresFailed in pkg/cmd/server/server.go",
			Witness:   "backup-mark-at-start-refused",
			Releases:  []string{"v1.14", "v1.18"},
			field:     func(r *Rules) *bool { return &r.StartMarksOnce },
		},
		{
			Name:      "run-patch-given-up",
			Statement: "The patch that ends InProgress is tried until it lands.",
			Deviation: "It is tried seven times in 40 seconds, and given up, as the next pause would be longer than the resource timeout, 10 minutes by default: after a longer outage of the API server the object stays InProgress until the server restarts.",
			Seen:      "The object stays InProgress, although its run has ended and all is uploaded. A backup's operations are polled no more, and its deletion may be refused.",
			Remedy:    "Restart the server, which marks the object Failed, and repeat it. Before long outages, raise --resource-timeout: 15m adds a try after 3 minutes, and 70m another after 16.",
			Source: proposed + "; PatchResourceWithRetriesOnErrors, called in Reconcile of pkg/controller/backup_controller.go and " +
				"restore_controller.go",
			Witness:  "backup-run-patch-refused",
			Reports:  []string{"velero#3239", "velero#6170", "velero#7207", "velero#8087"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.RunPatchGivenUp },
		},
		{
			Name:      "begun-run-forgotten",
			Statement: "A run begins when the patch to InProgress is applied, whether its reply is seen or not.",
			Deviation: "Velero tries again, and handles no object that is InProgress: it stays so until the server restarts, and a backup takes its slot and cannot be deleted as long.",
			Seen:      "The object stays InProgress, with no progress and nothing stored. A backup holds up those behind it, and its deletion is refused.",
			Remedy:    "Restart the server, which marks the object Failed; then delete and repeat it.",
			Source:    proposed + "; Reconcile in pkg/controller/backup_controller.go and restore_controller.go, which say that the phase is New yet",
			Witness:   "backup-begins-unseen",
			Releases:  []string{"v1.14", "v1.18"},
			field:     func(r *Rules) *bool { return &r.BegunRunForgotten },
		},
		{
			Name:      "queue-slot-leaked",
			Statement: "A backup that waits for its operations, has ended, or is gone, takes none of the server's concurrent backups, and one that has ended can be deleted.",
			Deviation: "The tracker is told late what was patched before. It keeps a backup as ready that was rejected, or has run, before the queue told it so, or that was deleted when it was ready: this takes a slot until it is Completed or PartiallyFailed, or for ever, and backups after it stay Queued so long, or until the server restarts. One that ends before its run has told so stays in progress: its deletion is refused until the server restarts.",
			Seen:      "Backups stay Queued, although none is ReadyToStart or InProgress; or the deletion of a backup that has ended is refused with \"backup is still in progress\".",
			Remedy:    "Restart the server: the queue goes on within a minute. A higher --concurrent-backups leaves room while slots leak.",
			Source: proposed + "; Reconcile in pkg/controller/backup_queue_controller.go calls AddReadyToStart after its patch, Reconcile in " +
				"pkg/controller/backup_controller.go AddPostProcessing, and " +
				"pkg/controller/backup_deletion_controller.go never calls Delete of the tracker",
			Witness:  "backup-ready-reply-late",
			Reports:  []string{"velero#10519"},
			Releases: []string{"v1.18"},
			field:    func(r *Rules) *bool { return &r.QueueSlotLeaked },
		},
		{
			Name:      "given-up-backup-stays-tracked",
			Statement: "A backup that was given up, as its location was gone or read-only while it waited for its operations, can be deleted.",
			Deviation: "Only the finalizer takes a backup that has waited off the tracker, and one that is given up has none: its deletion is refused, as of one in progress, until the server restarts.",
			Seen:      "The backup is PartiallyFailed, without a completionTimestamp, and its deletion is refused with \"backup is still in progress\".",
			Remedy:    "Restart the server, and delete the backup. Its operations were not cancelled: end them by the plugin's own means.",
			Source: proposed + "; Reconcile in pkg/controller/backup_operations_controller.go, which never calls Delete of the tracker, and " +
				"in pkg/controller/backup_deletion_controller.go",
			Witness:  "backup-location-read-only-then-deleted",
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.GivenUpBackupStaysTracked },
		},
		{
			Name:      "unfinished-backup-restored",
			Statement: "A restore of a backup that is not Completed or PartiallyFailed ends FailedValidation.",
			Deviation: "The validation of a restore does not look at the phase of its backup: one that still waits for its operations is restored as it is, and the restore of one without contents is Failed.",
			Seen:      "The restore ends Completed, with the items as they were before the backup's operations ended; or it is Failed, if the backup has no contents.",
			Remedy:    "Restore only backups that are Completed or PartiallyFailed. When the backup has ended, restore it again, after removing what the first restore made, as items that exist are left as they are by default.",
			Source:    proposed + "; validateAndComplete in pkg/controller/restore_controller.go",
			Witness:   "restore-of-waiting-backup",
			Reports:   []string{"velero#9790"},
			Releases:  []string{"v1.14", "v1.18"},
			field:     func(r *Rules) *bool { return &r.UnfinishedBackupRestored },
		},
		{
			Name:      "deletion-overtaken",
			Statement: "Nothing but its deletion writes the phase of a backup that is Deleting, and a backup whose run has begun is not deleted.",
			Deviation: "Phases are patched whatever phase is there: a reconcile of the queue, the run or the operations that had begun before writes over Deleting, and the backup goes on until it is gone; and a deletion between the patch to InProgress and the entry in the tracker is granted. A poll that is under way stores the operations again of a backup or restore that is gone by then: a sync may bring such a backup back.",
			Seen:      "A backup whose deletion was requested shows another phase than Deleting for a while, and is gone then; or it is gone while it runs, and what its run uploads afterwards stays in the object store.",
			Remedy:    "Delete a backup when it has ended. If you did before, look for its folder in the object store once its run is over, and remove it.",
			Source: proposed + "; Reconcile in pkg/controller/backup_queue_controller.go, backup_controller.go, backup_operations_controller.go and " +
				"backup_deletion_controller.go",
			Breaks:   []string{"final-phase-is-kept"},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.DeletionOvertaken },
		},
		{
			Name:      StaleReadActedUpon,
			Statement: "Nothing is done to an object by what it was before its last change.",
			Deviation: "Reconciles read from a cache and patch without a resourceVersion: a short restore is run twice, or run although it was rejected, and a pass over the operations that follows another at once takes its object for one that still waits without errors, so that it ends Completed with a failed operation, or with fewer errors than operations that failed. A sync that has listed the object store just before a backup ended removes the backup as an orphan, and the next one brings it back. A restore whose finalizer met errors is finalized again without them, and a patch that is sent again, as its reply was lost, takes an object back to Finalizing.",
			Seen:      "An object is Completed with failed operations, or has fewer errors than operations that failed; a restore goes back to InProgress, and the operations of its first run are listed no more; or a backup that has just ended vanishes, and is back at the next sync, a minute later by default.",
			Remedy:    "Judge by the counts, and repeat what does not add up. A backup that has vanished needs nothing done: wait for the next sync. Operations of a first run that are not listed have to be ended by the plugin's own means.",
			Source: proposed + "; Reconcile in pkg/controller/backup_controller.go, restore_controller.go, backup_operations_controller.go, restore_operations_controller.go and " +
				"restore_finalizer_controller.go, which read with the manager's cached client; deleteOrphanedBackups in pkg/controller/backup_sync_controller.go",
			Breaks: []string{
				"final-phase-is-kept", "nothing-finalizes-while-operations-run", "finalizing-without-errors", "finalized-counts-add-up",
				"failed-operation-means-not-completed", "completed-without-errors", "operations-stay-known", "errors-cover-failed-operations",
			},
			Releases: []string{"v1.14", "v1.18"},
			field:    func(r *Rules) *bool { return &r.StaleReadActedUpon },
		},
		{
			Name:      DeletionForgottenByRestart,
			Statement: "A backup that is Deleting when the server starts is deleted.",
			Deviation: "A start leaves it, as its request is InProgress, and one that is InProgress is passed over until it expires, after a day, and is removed: the backup stays Deleting until its deletion is requested again.",
			Seen:      "The backup stays Deleting, its request InProgress, and what the first server had not deleted stays in the object store.",
			Remedy:    "Request the deletion again, with `velero backup delete NAME`: it removes the first request, and the backup.",
			Source:    proposed + "; Reconcile in pkg/controller/backup_deletion_controller.go",
			Witness:   "backup-server-killed-while-deleting",
			Releases:  []string{"v1.14", "v1.18"},
			field:     func(r *Rules) *bool { return &r.DeletionForgottenByRestart },
		},
	}, outside()...)
}

// Named returns the rule of that name. Of one that is unknown it returns the zero Rule, in which no reading deviates.
func Named(name string) Rule {
	for _, rule := range All() {
		if rule.Name == name {
			return rule
		}
	}
	return Rule{}
}

// Demanded is the reading that says what users need of a release with a queue, as all have from 1.18 on.
func Demanded() Rules { return Rules{Name: "demanded"} }

// Demanded is the reading that says what users need of the release whose reading r is.
func (r Rules) Demanded() Rules { return Rules{Name: Demanded().Name, Unqueued: r.Unqueued} }

// Has reports whether the reading knows the phase: one without a queue lacks two.
func (r Rules) Has(p Phase) bool { return !r.Unqueued || p != Queued && p != ReadyToStart }

// ForRelease is the reading that says what a Velero release does. The version is written 1.18.3, v1.18.3 or v1.18; the
// error for one without a reading names those that have one.
func ForRelease(version string) (Rules, error) {
	v := strings.TrimPrefix(version, "v")
	for _, release := range []Rules{{Name: "v1.14", Unqueued: true}, {Name: "v1.18"}} {
		if name := strings.TrimPrefix(release.Name, "v"); v == name || strings.HasPrefix(v, name+".") {
			for _, rule := range All() {
				if slices.Contains(rule.Releases, release.Name) {
					release = release.With(rule)
				}
			}
			return release, nil
		}
	}
	return Rules{}, fmt.Errorf("no rules for Velero release %q: use 1.14.x or 1.18.x", version)
}
