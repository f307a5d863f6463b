package phase

import (
	"fmt"
	"strings"
)

// MaxOperations is how many item operations a State can count, so that the space of states is finite. State.Errors
// counts no further either.
const MaxOperations = 10_000

// State is one backup or restore, and what a server holds about it: as much as the rules need, and no more. It is
// comparable. The zero value is a new backup on a running server.
type State struct {
	Kind  Kind
	Phase Phase

	// Running, Completed and Failed count the item operations as the server's memory has them.
	Running, Completed, Failed uint16
	// UnsavedCompleted and UnsavedFailed of them have ended without the object store knowing: a server that dies forgets it,
	// and the next one polls these operations again.
	UnsavedCompleted, UnsavedFailed uint16
	// UnpatchedFailed operations have failed as the object store has it too, but the object's status does not have it yet.
	UnpatchedFailed uint16
	// Lost operations were started, and no server knows of them any more, as their file is gone.
	Lost uint16
	// Unread: the server has yet to read the operations of a waiting object from the object store.
	Unread bool
	// Unstored: the object store was never given the operations (restores only).
	Unstored bool
	// ContentsLost: the object store has lost the items that were backed up (backups only).
	ContentsLost bool
	// Errors is status.errors. An operation that failed counts from the end of the pass that saw it.
	Errors uint16
	// Abandoned: the location (of a restore, or its backup) could not be looked up, so that nobody asks after the running
	// operations any more.
	Abandoned bool

	// Overtaken: the phase is Deleting, and a reconcile that had begun before goes on from Seen, and may write what follows.
	Overtaken bool
	Seen      Phase
	// Deleted: the user's request to delete the object was granted: it may be gone from then on, whatever its phase.
	Deleted bool

	// Down: no server is running.
	Down bool
	// Forgotten: no event or timer brings the object to its controller, other than, if it is ReadyToStart, an informer resync; or, if
	// it is Queued, its controller finds the queue full for ever.
	Forgotten bool
	// Restarted: the backup had not had its turn in the queue when the server started, and its turn may come before its controller watches.
	Restarted bool
	// Outdated: the object has ended, and its stored copy or contents are not as its finalizer made them (backups only).
	Outdated bool
	// Hung is the plugin call that does not return, and with it the reconcile of the object.
	Hung Call
	// Tracked is where the server's backup tracker has the backup. Always Untracked for restores.
	Tracked Tracking

	// Actions are the pre- and post-actions of each plugin that has any, in the order of their names. The zero value: there are none.
	Actions [MaxActions]PluginActions
	// Marked: there are actions, and the object has been InProgress. The marker and the finalizer that it got then tell that its
	// post-actions are to be called, and keep it until they were.
	Marked bool
}

// Initial is the state of an object that was just created, on a running server.
func Initial(k Kind) State { return State{Kind: k} }

// operations attempted.
func (s State) operations() int {
	return int(s.Running) + int(s.Completed) + int(s.Failed) + int(s.Lost)
}

// Call is a call of a plugin's method.
type Call uint8

// The calls that can hang. NoCall: none does.
const (
	NoCall Call = iota
	ExecuteCall
	ProgressCall
	CancelCall
)

// String returns the method's name.
func (c Call) String() string {
	switch c {
	case NoCall:
		return "none"
	case ExecuteCall:
		return "Execute"
	case ProgressCall:
		return "Progress"
	case CancelCall:
		return "Cancel"
	}
	return fmt.Sprintf("Call(%d)", uint8(c))
}

// Tracking is a set of Velero's backup tracker. A backup in TrackedReady or TrackedRunning takes one of the server's
// concurrent backups; deletion is refused for one in TrackedRunning or TrackedPost. A restart empties the tracker.
//
// Source: pkg/controller/backup_tracker.go.
type Tracking uint8

// The tracker's sets. Untracked: in none.
const (
	Untracked Tracking = iota
	TrackedReady
	TrackedRunning
	TrackedPost
)

// String returns the name of the set.
func (t Tracking) String() string {
	switch t {
	case Untracked:
		return "untracked"
	case TrackedReady:
		return "readyToStart"
	case TrackedRunning:
		return "inProgress"
	case TrackedPost:
		return "postProgress"
	}
	return fmt.Sprintf("Tracking(%d)", uint8(t))
}

// Effects are what a step does to the world outside the server's memory, apart from the counts in the object's status.
type Effects uint8

// The effects.
const (
	// PhaseWritten: the object's phase was patched to a different one.
	PhaseWritten Effects = 1 << iota
	// CancelCalled: Cancel was called on an operation.
	CancelCalled
	// OperationsUploaded: the object store was given the operations as the server knows them.
	OperationsUploaded
	// MetadataUploaded: the object store was given velero-backup.json (backups only).
	MetadataUploaded
	// TrackerReleased: the backup tracker let go of the backup.
	TrackerReleased
)

// Has reports whether e contains all of the effects in f.
func (e Effects) Has(f Effects) bool { return e&f == f }

// String lists the effects.
func (e Effects) String() string {
	if e == 0 {
		return "none"
	}
	var names []string
	for i, name := range []string{"phase written", "Cancel called", "operations uploaded", "metadata uploaded", "tracker released"} {
		if e.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
