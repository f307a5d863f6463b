package phase

import "slices"

// actionInvariants are those of pre- and post-actions.
func actionInvariants() []Invariant {
	return []Invariant{
		{
			"items-follow-pre-actions",
			"Items are backed up or restored once every pre-action has completed.",
			func(v View) bool {
				ran := v.Attempted > 0 || v.Finalized || v.Phase == WaitingForPluginOperations || v.Phase == WaitingForPluginOperationsPartiallyFailed
				return !ran || !v.some(func(a PluginActions) bool { return a.Pre != NoAction && a.Pre != ActionCompleted })
			},
		},
		{
			"pre-actions-come-in-order",
			"A pre-action is called once those before it, by name, have completed.",
			func(v View) bool {
				for i, a := range v.Actions {
					waits := slices.ContainsFunc(v.Actions[:i], func(b PluginActions) bool { return b.Pre != NoAction && b.Pre != ActionCompleted })
					if a.Pre.Begun() && waits {
						return false
					}
				}
				return true
			},
		},
		{
			"failed-pre-action-is-told",
			"An object has the phase of failed pre-actions, that of its kind, only if one has failed.",
			func(v View) bool {
				if v.Phase != FailedPreBackupActions && v.Phase != FailedPreRestoreActions {
					return true
				}
				shown := v.Actions != [MaxActions]PluginActions{}
				return v.Phase == failedPreActions(v.Kind) && (!shown || v.some(func(a PluginActions) bool { return a.Pre == ActionFailed }))
			},
		},
		{
			"post-actions-follow-the-end",
			"No post-action is called before the object has a final phase.",
			func(v View) bool {
				return v.Phase.Final() || !v.some(func(a PluginActions) bool { return a.Post.Begun() })
			},
		},
		{
			"post-actions-come-in-order",
			"A post-action is called once those before it, by name, have ended.",
			func(v View) bool {
				for i, a := range v.Actions {
					waits := slices.ContainsFunc(v.Actions[:i], func(b PluginActions) bool { return b.Resumes() && !b.Post.Ended() })
					if a.Post.Begun() && waits {
						return false
					}
				}
				return true
			},
		},
		{
			"post-action-has-its-pre-action",
			"A post-action is called only if its plugin's pre-action has begun, or there is none.",
			func(v View) bool {
				return !v.some(func(a PluginActions) bool { return a.Post.Begun() && !a.Resumes() })
			},
		},
	}
}

// some reports whether it is so of a plugin's actions.
func (v View) some(is func(PluginActions) bool) bool { return slices.ContainsFunc(v.Actions[:], is) }
