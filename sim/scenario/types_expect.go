package scenario

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

// Deviation is the outcome on a release that breaks the named rule of sim/phase.
type Deviation struct {
	// Rule is its name, as `velosim deviations` lists it.
	Rule string `json:"rule"`
	Outcomes
}
