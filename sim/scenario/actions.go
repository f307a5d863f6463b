package scenario

import (
	"cmp"
	"slices"
	"strings"
)

// Once tells whether the action is called once for a backup or restore, and not for each of its items.
func (a Action) Once() bool { return a.Pre() || a == PostBackupAction || a == PostRestoreAction }

// Pre tells whether it is called once, before the items.
func (a Action) Pre() bool { return a == PreBackupAction || a == PreRestoreAction }

// Serves tells whether the action is called for the object, backup/NAME or restore/NAME, if it is called at all.
func (a Action) Serves(object string) bool { return strings.HasPrefix(object, a.object()) }

// object begins the names of the objects that the action is called for.
func (a Action) object() string {
	if a == RestoreItemAction || a == PreRestoreAction || a == PostRestoreAction {
		return "restore/"
	}
	return "backup/"
}

// ActionsOf returns the plugins whose actions are called once for the object, backup/NAME or restore/NAME, by name: without those that its
// annotations skip.
func (s *Scenario) ActionsOf(object string) []Plugin {
	annotations := map[string]string{}
	for _, b := range s.Backups {
		if "backup/"+b.Name == object {
			annotations = b.Annotations
		}
	}
	for _, x := range s.Restores {
		if "restore/"+x.Name == object {
			annotations = x.Annotations
		}
	}
	plugins := slices.DeleteFunc(slices.Clone(s.Plugins), func(p Plugin) bool {
		return !p.Action.Once() || !p.Action.Serves(object) || annotations[p.skips()] == "skip"
	})
	slices.SortStableFunc(plugins, func(a, b Plugin) int { return cmp.Compare(a.Name, b.Name) })
	return plugins
}

// HasActions tells whether some plugin's action is called once for a backup or restore.
func (s *Scenario) HasActions() bool {
	return slices.ContainsFunc(s.Plugins, func(p Plugin) bool { return p.Action.Once() })
}

// skips is the annotation that skips the plugin's action.
func (p Plugin) skips() string {
	return p.Name + "." + strings.ToLower(strings.TrimSuffix(string(p.Action), "Action"))
}
