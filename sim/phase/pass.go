package phase

// wait is a pass of the operations controller over the operations of a waiting object.
func (r Rules) wait(s State, in Input) (State, Effects, bool) {
	switch {
	case in == OperationsMissing:
		next, effects := r.missing(s)
		return next, effects, s.Unread
	case in == Described:
		s.UnpatchedFailed += s.UnsavedFailed
		s.UnsavedCompleted, s.UnsavedFailed = 0, 0
		return s, OperationsUploaded, !s.Unread // or else the server knows of none
	case s.Unread && s.Unstored && in != LookupFailed:
		return s, 0, false // there is nothing to read
	}
	s.Unread = false
	errors := s.UnsavedFailed
	if !r.FailureForgottenBeforePatch {
		errors += s.UnpatchedFailed
	}
	toWrite := errors > 0 || s.Running == 0
	switch in {
	case PassEnded:
		if !toWrite { // nothing, or counts alone
			s.UnpatchedFailed = 0
			return s, 0, true
		}
		s.Phase = waitOrFinalize(s.Running > 0, errors > 0 || s.Phase == WaitingForPluginOperationsPartiallyFailed)
		s = r.saved(s)
		return s, uploads(s), true
	case PassUploadFailed:
		return s, 0, toWrite // the next pass tries again
	case PassPatchLost:
		s.UnpatchedFailed += s.UnsavedFailed
		s.UnsavedCompleted, s.UnsavedFailed = 0, 0
		return s, uploads(s), toWrite
	case LookupFailed:
		// It is found before anything is asked in this pass. Failures that an earlier pass could not write are forgotten.
		s.Running += s.UnsavedFailed + s.UnpatchedFailed
		s.Failed -= s.UnsavedFailed + s.UnpatchedFailed
		s.Abandoned = true
		s.UnsavedCompleted, s.UnsavedFailed, s.UnpatchedFailed = 0, 0, 0 // they stay unsaved, and nobody polls them again
		if s.Kind == Restore {
			s.Phase = FinalizingPartiallyFailed
			return s, 0, true
		}
		s.Phase = PartiallyFailed
		if !r.GivenUpBackupStaysTracked { // only its finalizer would release it
			s.Tracked = Untracked
		}
		return s, 0, true
	}
	return r.observe(s, in)
}

// observe is one operation's answer within a pass. Errors of the operation are counted when the pass ends.
func (r Rules) observe(s State, in Input) (State, Effects, bool) {
	if s.Running == 0 {
		return s, 0, false
	}
	switch in {
	case ProgressCompleted:
		s.Running--
		s.Completed++
		s.UnsavedCompleted++
		return s, 0, true
	case ProgressFailed:
		return fail(s), 0, true
	case ProgressErrored:
		if r.ProgressErrorIsFinal {
			s = fail(s)
		}
		return s, 0, true
	case RetriesExhausted:
		return fail(s), 0, !r.ProgressErrorIsFinal
	case OperationTimedOut:
		return fail(s), CancelCalled, true
	case ProgressHung:
		s.Hung = ProgressCall
		return s, 0, true
	case CancelHung:
		s.Hung = CancelCall
		return s, CancelCalled, true
	}
	return s, 0, false
}

// missing is the pass over a waiting object whose operations file is gone.
func (r Rules) missing(s State) (State, Effects) {
	failed := s.Phase == WaitingForPluginOperationsPartiallyFailed
	lost := s.Running + s.Completed
	s.Unread = false
	if r.MissingOperationsReadAsNone {
		s.Lost += lost + s.Failed
		s.Running, s.Completed, s.Failed, s.UnpatchedFailed = 0, 0, 0, 0
		s.Phase = waitOrFinalize(false, failed)
		return s, uploads(s) &^ OperationsUploaded
	}
	s.Running, s.Completed = 0, 0
	s.Failed += lost
	s.UnsavedFailed += lost
	s = r.saved(s)
	s.Phase = waitOrFinalize(false, true)
	return s, uploads(s)
}

// fail records in memory that a running operation has failed.
func fail(s State) State {
	s.Running--
	s.Failed++
	s.UnsavedFailed++
	return s
}

// saved is the state once a pass is written to the object store and the status.
func (r Rules) saved(s State) State {
	if r.FailureForgottenBeforePatch {
		s.UnpatchedFailed = 0
	}
	s.Errors = addErrors(s.Errors, s.UnsavedFailed+s.UnpatchedFailed)
	s.UnsavedCompleted, s.UnsavedFailed, s.UnpatchedFailed = 0, 0, 0
	return s
}

// addErrors saturates at MaxOperations, which keeps errors ≥ failed true.
func addErrors(errors, more uint16) uint16 {
	return uint16(min(int(errors)+int(more), MaxOperations))
}

func waitOrFinalize(running, failed bool) Phase {
	switch {
	case running && failed:
		return WaitingForPluginOperationsPartiallyFailed
	case running:
		return WaitingForPluginOperations
	case failed:
		return FinalizingPartiallyFailed
	}
	return Finalizing
}

// uploads at the end of a pass. Restores have no metadata in the object store.
func uploads(s State) Effects {
	if s.Kind == Backup {
		return OperationsUploaded | MetadataUploaded
	}
	return OperationsUploaded
}
