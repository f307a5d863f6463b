package phase

import "testing"

func TestNotEnabled(t *testing.T) {
	demanded, release := readings(t)[0], readings(t)[1]
	forgotten, _ := walk(t, release, Initial(Backup), Enqueued, Dequeued, ServerKilled, ServerStarted)
	tests := []struct {
		name  string
		rules Rules
		from  State
		in    Input
	}{
		{"an operation starts after the first pass began", release, inProgress(t, release, Backup, OperationStarted, ProgressCompleted), OperationStarted},
		{"progress of an operation when none runs", release, inProgress(t, release, Backup), ProgressCompleted},
		{"a pass while a call hangs", demanded, inProgress(t, demanded, Backup, OperationStarted, ProgressHung), PassEnded},
		{"v1.18: a hung call is given up", release, inProgress(t, release, Backup, OperationStarted, ProgressHung), CallTimedOut},
		{"v1.18: retries", release, inProgress(t, release, Backup, OperationStarted, PassEnded), RetriesExhausted},
		{"v1.18: a forgotten backup starts", release, forgotten, Validated},
		{"v1.18: a forgotten backup is queued again", release, forgotten, Requeued},
		{"deletion of a running backup", release, inProgress(t, release, Backup), DeletionRequested},
		{"deletion of a waiting backup", release, inProgress(t, release, Backup, OperationStarted, PassEnded), DeletionRequested},
		{"v1.18: anything but the read of operations that were never stored", release, inProgress(t, release, Restore, OperationStarted, RunUploadFailed), PassEnded},
		{"v1.18: a finalizer succeeds without contents", release, inProgress(t, release, Backup, OperationStarted, ProgressCompleted, PassEnded, ContentsDisappeared), FinalizerSucceeded},
		{"v1.18: it fails for good", release, inProgress(t, release, Backup, OperationStarted, ProgressCompleted, PassEnded, ContentsDisappeared), FinalizerFailed},
		{"contents that no finalizer needs disappear", release, inProgress(t, release, Backup, PassEnded), ContentsDisappeared},
		{"operations of a backup are not uploaded", release, inProgress(t, release, Backup, OperationStarted), RunUploadFailed},
		{"an operation too many", release, State{Phase: InProgress, Running: MaxOperations}, OperationStarted},
		{"an item to update without operations", release, inProgress(t, release, Backup, PassEnded), ExecuteHung},
		{"an item to update in a restore", release, inProgress(t, release, Restore, OperationStarted, ProgressCompleted, PassEnded), ExecuteHung},
		{"demanded: a backup that is ready goes back without a restart", demanded, State{Phase: ReadyToStart, Tracked: TrackedReady}, Requeued},
		{"v1.18: a backup starts in a queue whose slot was leaked", release, State{Phase: Queued, Forgotten: true}, Dequeued},
		{"demanded: a slot is leaked", demanded, State{Phase: Queued}, SlotLeaked},
		{"demanded: a deletion is overtaken", demanded, State{Phase: Queued}, DeletionOvertaken},
		{"v1.18: deletion during a run that has an operation", release, inProgress(t, release, Backup, OperationStarted), DeletionOvertaken},
		{"v1.18: deletion during a pass", release, inProgress(t, release, Backup, OperationStarted, PassEnded), DeletionOvertaken},
		{"the operations are described before a server has read them", release, inProgress(t, release, Backup, OperationStarted, PassEnded, ServerKilled, ServerStarted), Described},
		{"a deletion request for a restore", release, Initial(Restore), DeletionRequested},
		{"a step of a dead server", release, State{Down: true}, Enqueued},
		{"a restore in the queue", release, Initial(Restore), Enqueued},
		{"v1.18: a restore whose run goes on is run again", release, inProgress(t, release, Restore), RunRepeated},
		{"v1.18: a backup is run again", release, inProgress(t, release, Backup, PassEnded), RunRepeated},
		{"demanded: a restore is run again", demanded, inProgress(t, demanded, Restore, PassEnded), RunRepeated},
		{"v1.18: a pass again without operations", release, inProgress(t, release, Backup, ExecuteFailed, PassEnded), PassRepeated},
		{"v1.18: over operations that run", release, inProgress(t, release, Backup, ExecuteFailed, OperationStarted, PassEnded), PassRepeated},
		{"v1.18: over a failure that is not written yet", release, inProgress(t, release, Backup, ExecuteFailed, OperationStarted, PassEnded, ProgressFailed), PassRepeated},
		{"v1.18: dequeued unwatched without a restart", release, State{Phase: Queued}, DequeuedUnwatched},
		{"demanded: dequeued unwatched", demanded, State{Phase: Queued, Restarted: true}, DequeuedUnwatched},
		{"errors of a backup's finalizer", release, inProgress(t, release, Backup, PassEnded), FinalizerFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.rules.Enabled(test.from, test.in) {
				t.Error("it is enabled")
			}
			if got, effects := test.rules.Step(test.from, test.in); got != test.from || effects != 0 {
				t.Errorf("Step = %+v, %s; want the state unchanged and no effects", got, effects)
			}
		})
	}
}
