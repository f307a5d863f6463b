package scenario

// backupPhases are the phases of a Backup, as Velero spells them (pkg/apis/velero/v1/backup_types.go).
func backupPhases() []string {
	return append([]string{"Queued", "ReadyToStart", "Deleting"}, sharedPhases()...)
}

// restorePhases are the phases of a Restore (pkg/apis/velero/v1/restore_types.go).
func restorePhases() []string { return sharedPhases() }

func sharedPhases() []string {
	return append([]string{
		"New", "InProgress",
		"WaitingForPluginOperations", "WaitingForPluginOperationsPartiallyFailed",
		"Finalizing", "FinalizingPartiallyFailed",
	}, finalPhases()...)
}

// finalPhases are those that a run ends in.
func finalPhases() []string {
	return []string{"FailedValidation", "Completed", "PartiallyFailed", "Failed"}
}
