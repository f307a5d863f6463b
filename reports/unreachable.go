package reports

// unreachable is why no run makes a transition that the specification allows the release; empty: runs do, or should. What is said here is about
// what velosim runs, and a run that makes such a transition nevertheless counts as covering it.
func unreachable(s scope, c change) string {
	switch {
	case s.kind == backupActions && c == change{"", "Deleting", "FailedPreBackupActions"}:
		return "a run that another server has marked meanwhile is ended as Failed (begin, sim/velero/prepost/run.go)"
	case s.kind == restoreActions && c == change{"", "FailedPreRestoreActions", "InProgress"}:
		return "with pre-actions, the patch that begins a run names the version that it changes, and one from a stale read is a conflict (sim/velero/prepost)"
	}
	return ""
}
