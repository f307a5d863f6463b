package phase

import "fmt"

// MaxActions is how many plugins with pre- and post-actions a State can follow, so that it is comparable.
const MaxActions = 4

// PluginActions are a plugin's pre- and post-action, which are called once for a backup or restore.
//
// Source: design/new-prepost-backuprestore-plugin-hooks.md in Velero's module, which no release has, and what velosim proposes where that is
// silent: see doc.go.
type PluginActions struct{ Pre, Post ActionState }

// ActionState is how far a pre- or post-action is.
type ActionState uint8

// The states of an action. NoAction: the plugin has none, or the object's annotations skip it.
const (
	NoAction ActionState = iota
	// ActionDue: it was not called yet.
	ActionDue
	// ActionRunning: its status says InProgress, and a server calls it, or is about to.
	ActionRunning
	// ActionInterrupted: its status says InProgress, and the server that called it has died.
	ActionInterrupted
	ActionCompleted
	ActionFailed
)

// String returns the state in a word.
func (a ActionState) String() string {
	switch a {
	case NoAction:
		return "none"
	case ActionDue:
		return "due"
	case ActionRunning:
		return "running"
	case ActionInterrupted:
		return "interrupted"
	case ActionCompleted:
		return "completed"
	case ActionFailed:
		return "failed"
	}
	return fmt.Sprintf("ActionState(%d)", uint8(a))
}

// Begun reports whether the action was called, or is about to be.
func (a ActionState) Begun() bool { return a > ActionDue }

// Ended reports whether it is called no more.
func (a ActionState) Ended() bool { return a == ActionCompleted || a == ActionFailed }

// Resumes reports whether the post-action is, or was, to be called once the object has a final phase: the plugin's pre-action has begun,
// whatever became of it, or there is none.
func (a PluginActions) Resumes() bool {
	return a.Post != NoAction && (a.Pre == NoAction || a.Pre.Begun())
}

// Ended reports whether the phase is final, and no post-action is to be called any more.
func (s State) Ended() bool {
	_, due := s.nextPost()
	return s.Phase.Final() && !due
}

// hasActions reports whether a plugin has a pre- or post-action.
func (s State) hasActions() bool { return s.Actions != [MaxActions]PluginActions{} }

// nextPost is the plugin whose post-action is called, or is to be called next; not ok: none is.
func (s State) nextPost() (plugin int, ok bool) {
	for i, a := range s.Actions {
		if s.Marked && a.Resumes() && !a.Post.Ended() {
			return i, true
		}
	}
	return 0, false
}

// nextPre is the plugin whose pre-action is called, or is to be called next, or has failed; not ok: the items come next.
func (s State) nextPre() (plugin int, ok bool) {
	for i, a := range s.Actions {
		if a.Pre != NoAction && a.Pre != ActionCompleted {
			return i, true
		}
	}
	return 0, false
}

// Prepares reports whether the run's items wait for pre-actions, or will not come as one has failed.
func (s State) Prepares() bool {
	_, ok := s.nextPre()
	return s.Phase == InProgress && ok
}

// prepare is the run before its items: one pre-action after the other, up to the first that fails.
func (r Rules) prepare(s State, in Input) (State, bool) {
	i, _ := s.nextPre()
	pre := &s.Actions[i].Pre
	switch {
	case in == PreActionStarted && *pre == ActionDue:
		*pre = ActionRunning
	case in == PreActionSucceeded && *pre == ActionRunning:
		*pre = ActionCompleted
	case in == PreActionFailed && *pre == ActionRunning:
		*pre = ActionFailed
	case in == RunFailed && *pre != ActionRunning:
		s.Phase, s.Tracked = Failed, Untracked
		if *pre == ActionFailed {
			s.Phase = failedPreActions(s.Kind)
		}
	case in == RunPatchLost && *pre != ActionRunning:
		if s.Forgotten = r.RunPatchGivenUp; s.Kind == Backup {
			s.Tracked = TrackedPost
		}
	default:
		return s, false
	}
	return s, true
}

// resume is what comes after a run: one post-action after the other. What was called when the object was taken back from its final phase goes on.
func resume(s State, in Input) (State, bool) {
	i, ok := s.nextPost()
	if !ok {
		return s, false
	}
	post := &s.Actions[i].Post
	switch {
	case in == PostActionStarted && s.Phase.Final() && *post != ActionRunning:
		*post = ActionRunning
	case in == PostActionSucceeded && *post == ActionRunning:
		*post = ActionCompleted
	case in == PostActionFailed && *post == ActionRunning:
		*post = ActionFailed
	default:
		return s, false
	}
	return s, true
}

// interrupt is what the end of a server makes of the actions that it calls.
func interrupt(actions [MaxActions]PluginActions) [MaxActions]PluginActions {
	for i := range actions {
		for _, a := range []*ActionState{&actions[i].Pre, &actions[i].Post} {
			if *a == ActionRunning {
				*a = ActionInterrupted
			}
		}
	}
	return actions
}

func failedPreActions(k Kind) Phase {
	if k == Restore {
		return FailedPreRestoreActions
	}
	return FailedPreBackupActions
}
