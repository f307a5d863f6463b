package phase

// repeat is what is done to an object by what it was before its last change, as a cache still shows it.
func (r Rules) repeat(s State, in Input) (State, bool) {
	if !r.StaleReadActedUpon || s.Hung != NoCall {
		return s, false
	}
	ran := s.Phase > InProgress && s.Phase < Deleting || s.Phase == FailedValidation
	ended := s.Running == 0 && s.UnsavedFailed == 0 && s.UnpatchedFailed == 0 && !s.Abandoned && s.operations() > int(s.Lost)
	switch failed := s.Phase == PartiallyFailed; {
	case in == RunRepeated && s.Kind == Restore && ran:
		// Nobody knows of the first run's operations any more.
		return State{Kind: Restore, Phase: InProgress, Lost: uint16(s.operations()), Actions: s.Actions, Marked: s.Marked}, true
	case in == PassRepeated && ended && (failed || s.Phase == Completed || s.Phase == FinalizingPartiallyFailed || s.Phase == WaitingForPluginOperationsPartiallyFailed):
		s.Phase = Finalizing
	case in == FailedPassRepeated && ended && failed:
		s.Phase = FinalizingPartiallyFailed
	case in == FailedPassRepeated && ended && s.Phase == FinalizingPartiallyFailed && s.Errors > 1:
		s.Errors-- // counted over others
	case in == FinalizerRepeated && s.Kind == Restore && failed && s.Failed == 0 && !s.Abandoned:
		s.Phase = Completed
	case in == FinalizerRepeated && s.Kind == Restore && s.Phase == Completed:
		s.Phase = PartiallyFailed
	case in == RunPatchRepeated && s.Phase == Completed:
		s.Phase = Finalizing
	case in == RunPatchRepeated && failed:
		s.Phase = FinalizingPartiallyFailed
	default:
		return s, false
	}
	s.Outdated = false
	return s, true
}
