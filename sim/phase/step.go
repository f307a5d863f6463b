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
	if effects.Has(OperationsUploaded) {
		next.Unstored = false
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
		switch {
		case in == ServerStarted:
			return r.start(s), 0, true
		case in == MarkLost && s.Phase == InProgress:
			if r.StartMarksOnce {
				s.Down, s.Forgotten = false, true
			}
			return s, 0, true
		}
		return s, 0, false
	}
	switch in {
	case ServerKilled:
		return kill(s), 0, true
	case InformerResynced:
		// The update event carries ReadyToStart, which is what backup_controller.go's predicate lets through.
		ok = s.Forgotten && s.Phase == ReadyToStart
		s.Forgotten = s.Forgotten && !ok
		return s, 0, ok
	case DeletionRequested:
		if s.Kind != Backup || s.Phase == Deleting || s.Tracked == TrackedRunning || s.Tracked == TrackedPost {
			return s, 0, false
		}
		s.Phase, s.Tracked, s.Forgotten, s.Deleted = Deleting, Untracked, false, true
		return s, 0, true
	case DeletionOvertaken:
		begun := s.Tracked != TrackedRunning && s.Tracked != TrackedPost || s.Phase == InProgress && s.operations() == 0 && s.Errors == 0
		if s.Kind != Backup || s.Phase.Final() || !begun || !r.DeletionOvertaken {
			return s, 0, false
		}
		s.Overtaken, s.Seen, s.Phase, s.Deleted = true, s.Phase, Deleting, true
		return s, 0, true
	case RunRepeated, PassRepeated, FailedPassRepeated, FinalizerRepeated, RunPatchRepeated:
		next, ok := r.repeat(s, in)
		return next, 0, ok
	case PostActionStarted, PostActionSucceeded, PostActionFailed:
		if s.Overtaken { // its run goes on
			return s, 0, false
		}
		next, ok := resume(s, in)
		return next, 0, ok
	}
	if s.Overtaken {
		return r.overtake(s, in)
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
		if s.Forgotten {
			return s, 0, false
		}
		return r.run(s, in)
	case WaitingForPluginOperations, WaitingForPluginOperationsPartiallyFailed:
		return r.wait(s, in)
	case Finalizing, FinalizingPartiallyFailed:
		return r.finalize(s, in)
	}
	return s, 0, false
}

// overtake is what a reconcile does to a backup that is Deleting, and was not when it began.
func (r Rules) overtake(s State, in Input) (State, Effects, bool) {
	seen := s.Seen
	s.Overtaken, s.Seen, s.Phase = false, New, seen
	next, effects, ok := r.step(s, in)
	if next.Phase == seen {
		next.Overtaken, next.Seen, next.Phase = true, seen, Deleting
	}
	return next, effects, ok
}

// begin is what the queue and backup controllers, and the restore controller, do before the run.
func (r Rules) begin(s State, in Input) (State, bool) {
	runnable := s.Kind == Backup && s.Phase == ReadyToStart && !s.Forgotten || (s.Kind == Restore || r.Unqueued) && s.Phase == New
	switch {
	case in == Enqueued && s.Kind == Backup && s.Phase == New && !r.Unqueued:
		s.Phase = Queued
	case in == SlotLeaked && s.Phase == Queued && r.QueueSlotLeaked:
		s.Forgotten = true
	case in == Dequeued && s.Phase == Queued && !s.Forgotten:
		s.Phase, s.Tracked, s.Restarted = ReadyToStart, TrackedReady, false
	case in == DequeuedUnwatched && s.Phase == Queued && s.Restarted && !s.Forgotten && r.ReadyBackupForgottenByRestart:
		s.Phase, s.Tracked, s.Restarted, s.Forgotten = ReadyToStart, TrackedReady, false, true
	case in == Requeued && s.Phase == ReadyToStart && s.Tracked == Untracked && !r.ReadyBackupForgottenByRestart:
		s.Phase = Queued
	case in == Validated && runnable:
		s.Phase = InProgress
		if s.Kind == Backup {
			s.Tracked = TrackedRunning
		}
	case in == BeginUnseen && runnable:
		s.Phase, s.Forgotten = InProgress, r.BegunRunForgotten
		if s.Kind == Backup && !s.Forgotten {
			s.Tracked = TrackedRunning
		}
	case in == BackupUnfinished && s.Kind == Restore && s.Phase == New:
		s.Phase = FailedValidation
		if r.UnfinishedBackupRestored {
			s.Phase = InProgress
		}
	case in == Rejected && runnable:
		s.Phase, s.Tracked = FailedValidation, Untracked
	default:
		return s, false
	}
	s.Marked = s.Phase == InProgress && s.hasActions()
	return s, true
}

// run is the run of the backup or restore: the pre-actions, the item loop, then the first pass over the operations, still in InProgress.
func (r Rules) run(s State, in Input) (State, Effects, bool) {
	if s.Prepares() {
		next, ok := r.prepare(s, in)
		return next, 0, ok
	}
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
	case RunPatchLost:
		s = r.saved(s)
		if s.Forgotten = r.RunPatchGivenUp; s.Kind == Backup {
			s.Tracked = TrackedPost
		}
		return s, uploads(s), true
	case RunUploadFailed:
		if s.Kind != Restore || s.operations() == 0 {
			return s, 0, false
		}
		if r.MissingOperationsReadAsNone { // or else it is tried again
			s, _, _ = r.run(s, PassEnded)
			s.Unstored = true
		}
		return s, 0, true
	case RunFailed:
		s = r.saved(s)
		s.Phase, s.Tracked = Failed, Untracked
	case PassEnded:
		s = r.saved(s)
		s.Phase, s.Unread = waitOrFinalize(s.Running > 0, s.Errors > 0), s.Running > 0
		if s.Kind == Backup {
			s.Tracked = TrackedPost
		}
		return s, uploads(s), true
	default:
		return r.observe(s, in)
	}
	return s, 0, true
}

// finalize is what the finalizers do. One that returns an error is called again, which is no step.
func (r Rules) finalize(s State, in Input) (State, Effects, bool) {
	var effects Effects
	if s.Kind == Backup {
		effects = MetadataUploaded
	}
	if s.ContentsLost && (in != FinalizerFailed || r.FinalizerRetriedForEver) {
		return s, 0, false
	}
	switch {
	case in == FinalizerSucceeded:
		if s.Phase == Finalizing {
			s.Phase = Completed
		} else {
			s.Phase = PartiallyFailed
		}
		s.Tracked = Untracked
	case in == FinalizerFailed && (s.Kind == Restore || s.ContentsLost):
		s.Phase, s.Tracked = PartiallyFailed, Untracked
		s.Errors = addErrors(s.Errors, 1)
	case in == ContentsDisappeared && s.Kind == Backup && s.operations() > int(s.Lost):
		s.ContentsLost = true
		effects = 0
	case in == BackupNotFound && s.Kind == Restore:
		s.Phase = PartiallyFailed
	case in == FinalPatchLost:
		// A backup's upload and the tracker's release come before the patch; the finalizer then goes on trying.
		s.Tracked = Untracked
	case in == FinalUploadFailed && s.Kind == Backup:
		effects = 0
		if r.FinalUploadFailureIgnored {
			s, _, _ = r.finalize(s, FinalizerSucceeded)
			s.Outdated = true
		}
	case in == HookStatusLost && s.Kind == Restore:
		if r.HookStatusSentOnce { // or else it is sent again
			return r.finalize(s, FinalizerFailed)
		}
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
	s.Overtaken, s.Seen, s.Restarted = false, New, false
	s.Actions = interrupt(s.Actions)
	switch s.Phase {
	case InProgress:
		// Nothing of the run was written; its operations are nobody's.
		s.Running, s.Completed, s.Failed, s.UnsavedCompleted, s.UnsavedFailed, s.Errors = 0, 0, 0, 0, 0, 0
	case WaitingForPluginOperations, WaitingForPluginOperationsPartiallyFailed:
		completed, failed := min(s.UnsavedCompleted, s.Completed), min(s.UnsavedFailed, s.Failed)
		s.Running += completed + failed
		s.Completed -= completed
		s.Failed -= failed
		s.UnsavedCompleted, s.UnsavedFailed, s.Unread = 0, 0, true
	}
	return s
}

// start is the server's start: what was InProgress is marked Failed, and what is ReadyToStart, or soon is, may be overlooked.
func (r Rules) start(s State) State {
	s.Down = false
	switch s.Phase {
	case InProgress:
		s.Phase = Failed
	case ReadyToStart:
		s.Forgotten = r.ReadyBackupForgottenByRestart
	case New, Queued:
		s.Restarted = r.ReadyBackupForgottenByRestart && s.Kind == Backup && !r.Unqueued
	}
	return s
}
