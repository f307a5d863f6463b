package phase

// View is what can be seen of an object after a step or a write: the facts that invariants speak of. State.View makes one
// of a state; a folded trace yields the same. A fact that a trace does not show stays zero.
type View struct {
	Kind Kind
	// From is the phase before the latest change; the same as Phase if there was none.
	From, Phase Phase
	// Finalized: the object is or was in Finalizing or FinalizingPartiallyFailed.
	Finalized bool
	// Attempted, Completed and Failed count item operations.
	Attempted, Completed, Failed int
	// Errors is status.errors.
	Errors int
	// Outdated: the object has ended, and its stored copy or contents are not as its finalizer made them.
	Outdated bool
	// Lost operations that the object store does not know of.
	Lost int
	// Abandoned: the running operations were given up, as the location or backup could not be looked up.
	Abandoned bool
	// Actions are the pre- and post-actions of the plugins.
	Actions [MaxActions]PluginActions
}

// View returns what can be seen of s, without a change of phase.
func (s State) View() View {
	lost := int(s.Lost)
	if s.Unstored {
		lost = s.operations()
	}
	v := View{
		Kind: s.Kind, From: s.Phase, Phase: s.Phase,
		Attempted: s.operations(), Completed: int(s.Completed), Failed: int(s.Failed),
		Errors: int(s.Errors), Abandoned: s.Abandoned, Outdated: s.Outdated, Lost: lost, Actions: s.Actions,
	}
	switch s.Phase {
	case Finalizing, FinalizingPartiallyFailed, Completed:
		v.Finalized = true
	case PartiallyFailed:
		v.Finalized = s.Kind == Restore || !s.Abandoned // an abandoned backup skips its finalizer
	}
	return v
}

// finalizedAndEnded: the finalizer has given the object its final phase.
func (v View) finalizedAndEnded() bool {
	return v.Finalized && (v.Phase == Completed || v.Phase == PartiallyFailed)
}

// Invariant holds for every view of every run that is as demanded. A release breaks some, by rules of [All].
type Invariant struct {
	// Name in kebab case.
	Name      string
	Statement string
	Holds     func(View) bool
}

// Invariants returns them all.
func Invariants() []Invariant {
	return append([]Invariant{
		{
			"phase-belongs-to-kind",
			"A restore is never Queued, ReadyToStart or Deleting.",
			func(v View) bool {
				return v.Kind == Backup || v.Phase != Queued && v.Phase != ReadyToStart && v.Phase != Deleting
			},
		},
		{
			"final-phase-is-kept",
			"A final phase is not left, other than by a backup that is deleted.",
			func(v View) bool {
				return !v.From.Final() || v.Phase == v.From || v.From != Deleting && v.Phase == Deleting
			},
		},
		{
			"ended-at-most-attempted",
			"Completed and failed operations together are no more than those attempted.",
			func(v View) bool { return v.Completed+v.Failed <= v.Attempted },
		},
		{
			"nothing-finalizes-while-operations-run",
			"Finalizing begins when every operation has completed or failed, unless they were abandoned.",
			func(v View) bool {
				finalizing := v.Phase == Finalizing || v.Phase == FinalizingPartiallyFailed
				return !finalizing || v.Abandoned || v.Attempted == v.Completed+v.Failed
			},
		},
		{
			"finalizing-without-errors",
			"An object with errors or failed operations is FinalizingPartiallyFailed, not Finalizing.",
			func(v View) bool { return v.Phase != Finalizing || v.Errors == 0 && v.Failed == 0 },
		},
		{
			"finalized-counts-add-up",
			"After the finalizer, attempted = completed + failed, unless operations were abandoned.",
			func(v View) bool {
				return !v.finalizedAndEnded() || v.Abandoned || v.Attempted == v.Completed+v.Failed
			},
		},
		{
			"failed-operation-means-not-completed",
			"An object with a failed operation is not Completed.",
			func(v View) bool { return v.Failed == 0 || v.Phase != Completed },
		},
		{
			"errors-cover-failed-operations",
			"After the finalizer there are at least as many errors as failed operations.",
			func(v View) bool { return !v.finalizedAndEnded() || v.Errors >= v.Failed },
		},
		{
			"completed-without-errors",
			"A Completed object has no errors.",
			func(v View) bool { return v.Phase != Completed || v.Errors == 0 },
		},
		{
			"stored-copy-agrees",
			"A backup that its finalizer has ended is as its stored copy and contents say.",
			func(v View) bool { return !v.finalizedAndEnded() || !v.Outdated },
		},
		{
			"operations-stay-known",
			"The object store knows the operations of a finalized object.",
			func(v View) bool { return !v.finalizedAndEnded() || v.Lost == 0 },
		},
		{
			"abandoned-means-not-completed",
			"An object whose operations were abandoned is not Completed.",
			func(v View) bool { return !v.Abandoned || v.Phase != Completed },
		},
	}, actionInvariants()...)
}
