package scenario

import (
	"strings"
	"time"
)

// The only apiVersion and kind that Parse accepts.
const (
	APIVersion = "velosim.io/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is what a file describes: what the user creates, how the plugins behave, which faults strike, and what must
// come of it. Parse fills in every default, so a world never has to know one.
type Scenario struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// Description is the comment at the top of the file, without its "#".
	Description string `json:"description,omitempty"`
	// Backup is the backup that the user creates. Default: one with every default.
	Backup *Backup `json:"backup,omitempty"`
	// Restore, when present, is created once the backup is Completed or PartiallyFailed, after the backed-up items were
	// deleted from the cluster.
	Restore *Restore `json:"restore,omitempty"`
	// Items are the objects in the cluster. Default: configmaps/app/settings.
	Items   []Item   `json:"items,omitempty"`
	Plugins []Plugin `json:"plugins,omitempty"`
	Faults  []Fault  `json:"faults,omitempty"`
	Expect  Expect   `json:"expect"`
}

// Metadata names the scenario.
type Metadata struct {
	// Name is a DNS label; in the catalogue it equals the file's name.
	Name string `json:"name"`
}

// Backup is the part of a Velero Backup's spec that a scenario sets.
type Backup struct {
	// Name of the Backup object. Default: backup-1.
	Name string `json:"name,omitempty"`
	// ItemOperationTimeout is how long Velero waits for each item operation. Default: 4h, the server's own.
	ItemOperationTimeout Duration `json:"itemOperationTimeout,omitzero"`
}

// Restore is the part of a Velero Restore's spec that a scenario sets.
type Restore struct {
	// Name of the Restore object. Default: restore-1.
	Name string `json:"name,omitempty"`
	// ItemOperationTimeout is how long Velero waits for each item operation. Default: 4h, the server's own.
	ItemOperationTimeout Duration `json:"itemOperationTimeout,omitzero"`
}

// Item is a namespaced object of the cluster, written resource/namespace/name: configmaps/app/settings, secrets/app/token.
type Item string

// Action is the kind of item action that a plugin registers.
type Action string

// The item actions that a plugin can be.
const (
	BackupItemAction  Action = "BackupItemAction"
	RestoreItemAction Action = "RestoreItemAction"
)

// Plugin is the script of one item action (version 2 of Velero's interface).
type Plugin struct {
	// Name as Velero registers it: example.io/mover.
	Name string `json:"name"`
	// Action defaults to BackupItemAction.
	Action Action `json:"action,omitempty"`
	// Resources that AppliesTo selects. Default: configmaps.
	Resources []string `json:"resources,omitempty"`
	Execute   Execute  `json:"execute,omitzero"`
	// Operation is the asynchronous operation that Execute starts for each item. None: Execute starts none.
	Operation *Operation `json:"operation,omitempty"`
	Progress  Behaviour  `json:"progress,omitzero"`
	Cancel    Behaviour  `json:"cancel,omitzero"`
}

// File is the name of the plugin's executable in a server's plugin folder.
func (p Plugin) File() string { return strings.ReplaceAll(p.Name, "/", "-") }

// Behaviour is how one method of a plugin misbehaves. The zero value: it does not.
type Behaviour struct {
	// Delay before the method does anything, on every call.
	Delay Duration `json:"delay,omitzero"`
	// Error, Hang and Panic exclude each other. Hang: the call never returns.
	Error string `json:"error,omitempty"`
	Hang  bool   `json:"hang,omitempty"`
	Panic string `json:"panic,omitempty"`
	// Nth is the first call that Error, Hang or Panic strikes, counted from 1 and, for Progress and Cancel, per operation.
	// Default: 1.
	Nth int `json:"nth,omitempty"`
	// Times is how many calls in a row are struck. Default, 0: every one from Nth on.
	Times int `json:"times,omitempty"`
}

// Execute is the script of Execute, beyond starting the plugin's operation.
type Execute struct {
	Behaviour
	// AdditionalItems that Velero must back up or restore with the item.
	AdditionalItems []Item `json:"additionalItems,omitempty"`
	// ItemsToUpdate are backed up again when the operations have ended (BackupItemAction only).
	ItemsToUpdate []Item `json:"itemsToUpdate,omitempty"`
}

// Operation is the timeline of an asynchronous operation. It runs outside the plugin's process, as a data mover does.
type Operation struct {
	// Progress says what the operation reports from a given age on. Ages ascend. An operation whose last step is neither
	// completed nor failed runs for ever.
	Progress []Step `json:"progress,omitempty"`
	// AfterCancel is what a Cancel makes of the operation: Fails (default), Completes or Continues (Cancel is ignored).
	AfterCancel AfterCancel `json:"afterCancel,omitempty"`
	// Unknown: Execute returns an operation ID that Progress and Cancel do not know.
	Unknown bool `json:"unknown,omitempty"`
	// Forgets: operations live in the memory of the plugin's process, and end with it. Velero starts a new process for
	// every poll.
	Forgets bool `json:"forgets,omitempty"`
}

// AfterCancel is what Cancel makes of an operation.
type AfterCancel string

// What Cancel makes of an operation.
const (
	Fails     AfterCancel = "Fails"
	Completes AfterCancel = "Completes"
	Continues AfterCancel = "Continues"
)

// Step is what an operation reports from the age At on. Of, Units and Description carry over from the step before.
type Step struct {
	At          Duration `json:"at"`
	Done        int64    `json:"done,omitempty"`
	Of          int64    `json:"of,omitempty"`
	Units       string   `json:"units,omitempty"`
	Description string   `json:"description,omitempty"`
	// Completed ends the operation successfully, Failed ends it with that error. They exclude each other.
	Completed bool   `json:"completed,omitempty"`
	Failed    string `json:"failed,omitempty"`
}

// Fault is something that strikes from outside at a point of the run. One that never strikes makes the run inconclusive.
type Fault struct {
	// ID names the fault in the trace. Default: fault-1, fault-2, ….
	ID string `json:"id,omitempty"`
	At Point  `json:"at"`
	Do Do     `json:"do"`
}

// Point is where a fault strikes: at exactly one of Phase, Call and Store.
type Point struct {
	// Phase: Object was just written with this phase, and the writer has not seen the reply.
	Phase string `json:"phase,omitempty"`
	// Object, with Phase, is backup/NAME or restore/NAME. Default: the restore if the scenario has one, else the backup.
	Object string `json:"object,omitempty"`
	// Call: a plugin's method is called.
	Call *Call `json:"call,omitempty"`
	// Store: the object store is accessed.
	Store *Access `json:"store,omitempty"`
	// Nth occurrence of the point, from 1. Default: 1.
	Nth int `json:"nth,omitempty"`
	// After: with Call or Store, strike when it has taken effect and Velero has not seen its reply; default, before it.
	After bool `json:"after,omitempty"`
	// Delay between the point and the fault. Default: 0s.
	Delay Duration `json:"delay,omitzero"`
}

// Call names a plugin's method.
type Call struct {
	Plugin string `json:"plugin"`
	// Method is Execute, Progress or Cancel.
	Method string `json:"method"`
}

// Access is an access to the object store.
type Access struct {
	// Verb is put, get, exists or delete.
	Verb string `json:"verb"`
	// Key of the object in the bucket: backups/backup-1/velero-backup.json.
	Key string `json:"key"`
}

// Do is what a fault does: exactly one of these.
type Do struct {
	Kill *Kill `json:"kill,omitempty"`
	// Fail, at a Store point, makes the access fail with this error, without an effect.
	Fail string `json:"fail,omitempty"`
	// Lose, at a Store point, removes the object just before the access.
	Lose *Lose `json:"lose,omitempty"`
}

// Lose removes an object from the object store.
type Lose struct{}

// Kill ends the server at once, as SIGKILL does, and its plugin processes with it.
type Kill struct {
	// RestartAfter is how long the server stays down. Default: 10s.
	RestartAfter Duration `json:"restartAfter,omitzero"`
}

// Expect is what must come of the scenario. It speaks of the restore if there is one, else of the backup.
type Expect struct {
	Outcome
	// Deviation names the rule by which released Velero deviates here, and what it does instead. The run may as well end as is
	// expected, other than in the rule's witness (sim/phase), which must show it.
	Deviation *Deviation `json:"deviation,omitempty"`
}

// Outcome is one way for a scenario to end. Fields left out are not judged.
type Outcome struct {
	Phase string `json:"phase"`
	// Path is every phase in order, the first one written to the last.
	Path       []string    `json:"path,omitempty"`
	Operations *Operations `json:"operations,omitempty"`
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
	Attempted int `json:"attempted"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

// Deviation is the outcome on a release that breaks the named rule of sim/phase.
type Deviation struct {
	Rule string `json:"rule"`
	Outcome
}

// Duration is a time.Duration written as Go writes it: 4h, 90s, 1h30m.
type Duration struct{ time.Duration }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(b))
	return err
}
