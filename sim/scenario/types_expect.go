package scenario

import "slices"

// Deleted is the phase of an outcome whose object must be gone in the end. Velero has no such phase.
const Deleted = "Deleted"

// DoesNotStart is what can be expected of the server, if a plugin's start fails.
const DoesNotStart = "doesNotStart"

// Expect is what must come of the scenario.
type Expect struct {
	// Server: doesNotStart, which is all that is expected then, as nothing is created: the run ends with the server's process. Default: it
	// starts.
	Server string `json:"server,omitempty"`
	// Object whose outcome is said here, backup/NAME or restore/NAME. Default: the last restore, or backup if there is none.
	Object string `json:"object,omitempty"`
	Outcomes
	// Strikes are the faults that must strike, by their ids; the others may, and objects be created or not. Default: all must.
	Strikes *[]string `json:"strikes,omitempty"`
	// Deviation names the rule by which released Velero deviates here, and what it does instead. The run may as well end as is
	// expected, other than in the rule's witness (sim/phase), which must show it.
	Deviation *Deviation `json:"deviation,omitempty"`
}

// Outcomes is one way for a scenario to end.
type Outcomes struct {
	// Outcome of the object that is expected to end so.
	Outcome
	// Objects are the outcomes of others, by their names: backup/backup-1.
	Objects map[string]Outcome `json:"objects,omitempty"`
	// Manifests are what objects of the cluster must be like in the end, each a part of the object: a mapping has the fields that are named
	// and may have others, a list the same number of entries, a value is the same.
	Manifests []Manifest `json:"manifests,omitempty"`
	// Must are points that the run passes, each as often as its nth says or more.
	Must []Point `json:"must,omitempty"`
}

// Outcome is one way for an object to end. Fields left out are not judged.
type Outcome struct {
	// Phase is the last one; Deleted: the object is gone. A deviation has one. Default: not judged here, but as the specification has it.
	Phase string `json:"phase,omitempty"`
	// Path is every phase in order, the first one written to the last.
	Path []string `json:"path,omitempty"`
	// Operations are the counts of the object's status.
	Operations *Operations `json:"operations,omitempty"`
	// Errors of the object's status.
	Errors *int `json:"errors,omitempty"`
	// Warnings of the object's status.
	Warnings *int `json:"warnings,omitempty"`
	// Cancelled are the plugins on whose operations Cancel was called, in any order, each exactly once for every operation
	// cancelled. An empty list: none was.
	Cancelled *[]string `json:"cancelled,omitempty"`
	// Actions are what must become of pre- and post-actions of the object; those that are left out are not judged.
	Actions []ActionOutcome `json:"actions,omitempty"`
	// Updated are the items that were backed up again after the operations ended: those whose Execute was called then.
	Updated *[]Item `json:"updated,omitempty"`
	// Within is the longest time from the object's creation to its last phase. Judged in virtual time only.
	Within Duration `json:"within,omitzero"`
}

// Operations are the item operation counts of the object's status.
type Operations struct {
	// Attempted are those that were started.
	Attempted int `json:"attempted"`
	// Completed are those that ended well.
	Completed int `json:"completed"`
	// Failed are those that ended with an error.
	Failed int `json:"failed"`
}

// Of tells whether something is expected of the object of the cluster. Then writes of plugins to it are points, too.
func (e Expect) Of(item Item) bool {
	return slices.ContainsFunc(e.Items(), func(m Manifest) bool { of, ok := m.Item(); return ok && of == item })
}

// Items are the objects of the cluster that something is expected of, by the manifests of their first mention, each once.
func (e Expect) Items() []Manifest {
	all := slices.Clone(e.Manifests)
	if e.Deviation != nil {
		all = append(all, e.Deviation.Manifests...)
	}
	var items []Manifest
	for _, m := range all {
		item, _ := m.Item()
		if !slices.ContainsFunc(items, func(other Manifest) bool { of, _ := other.Item(); return of == item }) {
			items = append(items, m)
		}
	}
	return items
}

// Deviation is the outcome on a release that breaks the named rule of sim/phase.
type Deviation struct {
	// Rule is its name, as `velosim deviations` lists it.
	Rule string `json:"rule"`
	Outcomes
}

// ActionOutcome is what becomes of an action that is called once for a backup or restore. Fields left out are not judged.
type ActionOutcome struct {
	// Plugin is its name.
	Plugin string `json:"plugin"`
	// Action of the plugin.
	Action Action `json:"action"`
	// Phase that the action's status has in the end. Default: not judged.
	Phase ActionPhase `json:"phase,omitempty"`
	// Calls are how often it was called. Default: not judged.
	Calls *int `json:"calls,omitempty"`
}

// ActionPhase is what has become of a pre- or post-action.
type ActionPhase string

// What may become of one. InProgress: it was called, and the server has not seen it end. Skipped: it was not called.
const (
	ActionCompleted  ActionPhase = "Completed"
	ActionFailed     ActionPhase = "Failed"
	ActionInProgress ActionPhase = "InProgress"
	ActionSkipped    ActionPhase = "Skipped"
)
