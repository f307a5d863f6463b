package phase

// Step returns the state after in, and what the step does outside the server's memory. An input that is not enabled
// leaves the state unchanged, without effects. Step never panics, whatever the state.
func (r Rules) Step(s State, in Input) (State, Effects) {
	next, effects, ok := r.step(s, in)
	if !ok {
		return s, 0
	}
	if next.Phase != s.Phase {
		effects |= PhaseWritten
	}
	if s.Tracked != Untracked && next.Tracked == Untracked && in != ServerKilled {
		effects |= TrackerReleased
	}
	return next, effects
}

// Enabled reports whether in can happen in s. An enabled input may leave the state unchanged, such as a pass over
// operations that all still run.
func (r Rules) Enabled(s State, in Input) bool {
	_, _, ok := r.step(s, in)
	return ok
}

// step is Step without the effects that follow from comparing the states; ok: in is enabled.
func (r Rules) step(s State, in Input) (next State, effects Effects, ok bool) {
	if s.Down {
		if in != ServerStarted {
			return s, 0, false
		}
		return r.start(s), 0, true
	}
	switch in {
	case ServerKilled:
		return kill(s), 0, true
	case InformerResynced:
		// The update event carries ReadyToStart, which is what backup_controller.go's predicate lets through.
		ok = s.Forgotten
		s.Forgotten = false
		return s, 0, ok
	case DeletionRequested:
		if s.Kind != Backup || s.Phase == Deleting || s.Tracked == TrackedRunning || s.Tracked == TrackedPost {
			return s, 0, false
		}
		s.Phase, s.Tracked, s.Forgotten = Deleting, Untracked, false
		return s, 0, true
	}
	if s.Hung != NoCall {
		if in != CallTimedOut || r.PluginCallWithoutDeadline {
			return s, 0, false
		}
		return giveUp(s), 0, true
	}
	switch s.Phase {
	case New, Queued, ReadyToStart:
		next, ok = r.begin(s, in)
		return next, 0, ok
	case InProgress:
		return r.run(s, in)
	case WaitingForPluginOperations, WaitingForPluginOperationsPartiallyFailed:
		return r.wait(s, in)
	case Finalizing, FinalizingPartiallyFailed:
		return finalize(s, in)
	}
	return s, 0, false
}

// begin is what the queue and backup controllers, and the restore controller, do before the run.
func (r Rules) begin(s State, in Input) (State, bool) {
	runnable := s.Kind == Backup && s.Phase == ReadyToStart && !s.Forgotten || s.Kind == Restore && s.Phase == New
	switch {
	case in == Enqueued && s.Kind == Backup && s.Phase == New:
		s.Phase = Queued
	case in == Dequeued && s.Phase == Queued:
		s.Phase, s.Tracked = ReadyToStart, TrackedReady
	case in == Requeued && s.Phase == ReadyToStart && s.Tracked == Untracked && !r.ReadyBackupForgottenByRestart:
		s.Phase = Queued
	case in == Validated && runnable:
		s.Phase = InProgress
		if s.Kind == Backup {
			s.Tracked = TrackedRunning
		}
	case in == Rejected && runnable:
		s.Phase, s.Tracked = FailedValidation, Untracked
	default:
		return s, false
	}
	return s, true
}

// run is the run of the backup or restore: the item loop, then the first pass over the operations, still in InProgress.
func (r Rules) run(s State, in Input) (State, Effects, bool) {
	inItemLoop := s.Completed == 0 && s.Failed == 0
	switch in {
	case OperationStarted:
		if !inItemLoop || s.operations() >= MaxOperations {
			return s, 0, false
		}
		s.Running++
	case ExecuteFailed:
		if !inItemLoop {
			return s, 0, false
		}
		s.Errors = addErrors(s.Errors, 1)
	case ExecuteHung:
		if !inItemLoop {
			return s, 0, false
		}
		s.Hung = ExecuteCall
	case RunFailed:
		s = saved(s)
		s.Phase, s.Tracked = Failed, Untracked
	case PassEnded:
		s = saved(s)
		s.Phase = waitOrFinalize(s.Running > 0, s.Errors > 0)
		if s.Kind == Backup {
			s.Tracked = TrackedPost
		}
		return s, uploads(s), true
	default:
		return r.observe(s, in)
	}
	return s, 0, true
}

// wait is a pass of the operations controller over the operations of a waiting object.
func (r Rules) wait(s State, in Input) (State, Effects, bool) {
	switch in {
	case PassEnded:
		failed := s.UnsavedFailed > 0 || s.Phase == WaitingForPluginOperationsPartiallyFailed
		if s.UnsavedFailed == 0 && s.Running > 0 {
			return s, 0, true // nothing to write, or counts alone
		}
		s = saved(s)
		s.Phase = waitOrFinalize(s.Running > 0, failed)
		return s, uploads(s), true
	case LookupFailed:
		// It is found before anything is asked in this pass.
		if s.Running == 0 || s.UnsavedFailed > 0 {
			return s, 0, false
		}
		s.Abandoned = true
		s.UnsavedCompleted = 0 // they stay unsaved, and nobody polls them again
		if s.Kind == Restore {
			s.Phase = FinalizingPartiallyFailed
			return s, 0, true
		}
		// The backup stays in the tracker: only its finalizer would release it.
		s.Phase = PartiallyFailed
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

// finalize is what the finalizers do. One that returns an error is called again, which is no step.
func finalize(s State, in Input) (State, Effects, bool) {
	var effects Effects
	if s.Kind == Backup {
		effects = MetadataUploaded
	}
	switch {
	case in == FinalizerSucceeded:
		if s.Phase == Finalizing {
			s.Phase = Completed
		} else {
			s.Phase = PartiallyFailed
		}
		s.Tracked = Untracked
	case in == FinalizerFailed && s.Kind == Restore:
		s.Phase = PartiallyFailed
		s.Errors = addErrors(s.Errors, 1)
	case in == BackupNotFound && s.Kind == Restore:
		s.Phase = PartiallyFailed
	case in == FinalPatchLost:
		// A backup's upload and the tracker's release come before the patch; the finalizer then goes on trying.
		s.Tracked = Untracked
	case in == ExecuteHung && s.Kind == Backup && s.operations() > 0:
		// Items that operations asked to have updated are backed up again.
		s.Hung = ExecuteCall
		effects = 0
	default:
		return s, 0, false
	}
	return s, effects, true
}

// giveUp ends the call that hangs, as if it had returned an error that is final.
func giveUp(s State) State {
	polling := s.Phase == InProgress || s.Phase == WaitingForPluginOperations || s.Phase == WaitingForPluginOperationsPartiallyFailed
	switch {
	case s.Hung == ExecuteCall && s.Phase == InProgress:
		s.Errors = addErrors(s.Errors, 1)
	case polling && s.Running > 0: // Progress or Cancel
		s = fail(s)
	}
	s.Hung = NoCall
	return s
}

// kill ends the server.
func kill(s State) State {
	s.Down, s.Hung, s.Tracked, s.Forgotten = true, NoCall, Untracked, false
	switch s.Phase {
	case InProgress:
		// Nothing of the run was written; its operations are nobody's.
		s.Running, s.Completed, s.Failed, s.UnsavedCompleted, s.UnsavedFailed, s.Errors = 0, 0, 0, 0, 0, 0
	case WaitingForPluginOperations, WaitingForPluginOperationsPartiallyFailed:
		completed, failed := min(s.UnsavedCompleted, s.Completed), min(s.UnsavedFailed, s.Failed)
		s.Running += completed + failed
		s.Completed -= completed
		s.Failed -= failed
		s.UnsavedCompleted, s.UnsavedFailed = 0, 0
	}
	return s
}

// start is the server's start: what was InProgress is marked Failed, and what is ReadyToStart may be overlooked.
func (r Rules) start(s State) State {
	s.Down = false
	switch s.Phase {
	case InProgress:
		s.Phase = Failed
	case ReadyToStart:
		s.Forgotten = r.ReadyBackupForgottenByRestart
	}
	return s
}

// fail records in memory that a running operation has failed.
func fail(s State) State {
	s.Running--
	s.Failed++
	s.UnsavedFailed++
	return s
}

// saved is the state once a pass is written to the object store and the status.
func saved(s State) State {
	s.Errors = addErrors(s.Errors, s.UnsavedFailed)
	s.UnsavedCompleted, s.UnsavedFailed = 0, 0
	return s
}

// addErrors saturates at MaxOperations, which keeps errors ≥ failed true.
func addErrors(errors, more uint8) uint8 {
	return uint8(min(int(errors)+int(more), MaxOperations))
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
