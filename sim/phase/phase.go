package phase

import "fmt"

// Kind is the kind of object that moves through the phases.
type Kind uint8

// The kinds.
const (
	Backup Kind = iota
	Restore
)

// String returns the kind as traces and scenarios write it: backup, restore.
func (k Kind) String() string {
	switch k {
	case Backup:
		return "backup"
	case Restore:
		return "restore"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Phase is the phase of a backup or restore: status.phase. The zero value is New.
//
// Source: pkg/apis/velero/v1/backup_types.go and restore_types.go, and design/new-prepost-backuprestore-plugin-hooks.md for those of pre-actions.
type Phase uint8

// The phases. Restores have neither Queued, nor ReadyToStart, nor Deleting. FailedPreBackupActions is of backups alone, and
// FailedPreRestoreActions of restores.
const (
	// New is written "New", or left empty.
	New Phase = iota
	Queued
	ReadyToStart
	FailedValidation
	InProgress
	WaitingForPluginOperations
	WaitingForPluginOperationsPartiallyFailed
	Finalizing
	FinalizingPartiallyFailed
	Completed
	PartiallyFailed
	Failed
	FailedPreBackupActions
	FailedPreRestoreActions
	Deleting

	phases // how many there are
)

// String returns Velero's name of the phase; for New, "New".
func (p Phase) String() string {
	switch p {
	case New:
		return "New"
	case Queued:
		return "Queued"
	case ReadyToStart:
		return "ReadyToStart"
	case FailedValidation:
		return "FailedValidation"
	case InProgress:
		return "InProgress"
	case WaitingForPluginOperations:
		return "WaitingForPluginOperations"
	case WaitingForPluginOperationsPartiallyFailed:
		return "WaitingForPluginOperationsPartiallyFailed"
	case Finalizing:
		return "Finalizing"
	case FinalizingPartiallyFailed:
		return "FinalizingPartiallyFailed"
	case Completed:
		return "Completed"
	case PartiallyFailed:
		return "PartiallyFailed"
	case Failed:
		return "Failed"
	case FailedPreBackupActions:
		return "FailedPreBackupActions"
	case FailedPreRestoreActions:
		return "FailedPreRestoreActions"
	case Deleting:
		return "Deleting"
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// Final reports whether no controller takes the object on from here. A Deleting backup leaves its phase only by being
// removed, and keeps it when the deletion has errors.
func (p Phase) Final() bool {
	switch p {
	case FailedValidation, Completed, PartiallyFailed, Failed, FailedPreBackupActions, FailedPreRestoreActions, Deleting:
		return true
	}
	return false
}

// Phases are all phases of the kind, in the order in which an object may pass through them.
func (k Kind) Phases() []Phase {
	var ps []Phase
	for p := range phases {
		if p.of(k) {
			ps = append(ps, p)
		}
	}
	return ps
}

// of reports whether objects of the kind have the phase.
func (p Phase) of(k Kind) bool {
	switch p {
	case Queued, ReadyToStart, FailedPreBackupActions, Deleting:
		return k == Backup
	case FailedPreRestoreActions:
		return k == Restore
	}
	return true
}

// Parse returns the phase that Velero writes as name; the empty name is New.
func Parse(name string) (Phase, error) {
	if name == "" {
		return New, nil
	}
	for p := range phases {
		if name == p.String() {
			return p, nil
		}
	}
	return New, fmt.Errorf("unknown phase %q: use one of Velero's, such as %s or %s", name, Completed, PartiallyFailed)
}
