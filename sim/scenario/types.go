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
	// APIVersion is velosim.io/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is Scenario.
	Kind string `json:"kind"`
	// Metadata has the name.
	Metadata Metadata `json:"metadata"`
	// Description is the comment at the top of the file, without its "#".
	Description string `json:"description,omitempty"`
	// Worlds that can run it: virtual, envtest. Default: all.
	Worlds []string `json:"worlds,omitempty"`
	// Server is how Velero's server was started.
	Server Server `json:"server,omitzero"`
	// Backup is short for a list with one backup. Parse makes Backups of it.
	Backup *Backup `json:"backup,omitempty"`
	// Backups are those that the user creates, one after the other, or at their points of creation. Default: one with every
	// default, unless there are schedules.
	Backups []Backup `json:"backups,omitempty"`
	// Restore is short for a list with one restore. Parse makes Restores of it.
	Restore *Restore `json:"restore,omitempty"`
	// Restores are those that the user creates, one after the other when the backups have ended, or at their points of creation.
	// The items are deleted from the cluster just before.
	Restores []Restore `json:"restores,omitempty"`
	// Schedules are created before the backups.
	Schedules []Schedule `json:"schedules,omitempty"`
	// Items are objects in the cluster. Default: configmaps/app/settings, unless there are manifests.
	Items []Item `json:"items,omitempty"`
	// Manifests are items as one gives them to kubectl. Parse adds them to Items.
	Manifests []Manifest `json:"manifests,omitempty"`
	// Plugins that are registered with the server.
	Plugins []Plugin `json:"plugins,omitempty"`
	// Faults that strike, and what the user does.
	Faults []Fault `json:"faults,omitempty"`
	// Expect is what must come of it.
	Expect Expect `json:"expect"`
}

// Metadata names the scenario.
type Metadata struct {
	// Name is a DNS label; in the catalogue it equals the file's name.
	Name string `json:"name"`
}

// Server is what the flags of `velero server` say (pkg/cmd/server/config/config.go).
type Server struct {
	// ConcurrentBackups is how many backups may be InProgress at a time. Default: 1.
	ConcurrentBackups int `json:"concurrentBackups,omitempty"`
	// ItemOperationSyncFrequency is how often Velero asks for the progress of operations. Default: 10s.
	ItemOperationSyncFrequency Duration `json:"itemOperationSyncFrequency,omitzero"`
	// ResourceTimeout is how long Velero tries to patch a resource, and waits for others. Default: 10m.
	ResourceTimeout Duration `json:"resourceTimeout,omitzero"`
	// GarbageCollectionFrequency is how often Velero looks for expired backups. Default: 1h.
	GarbageCollectionFrequency Duration `json:"garbageCollectionFrequency,omitzero"`
	// BackupSyncPeriod is how often Velero looks in the object store for backups that the cluster does not have. Default: 1m.
	BackupSyncPeriod Duration `json:"backupSyncPeriod,omitzero"`
}

// Backup is a Velero Backup that the user creates.
type Backup struct {
	// Name of the Backup object. Default: backup-1, backup-2, ….
	Name string `json:"name,omitempty"`
	BackupSpec
	// At is the point at which the user creates it. Default: when what comes before it in its list has ended.
	At *Point `json:"at,omitempty"`
}

// BackupSpec is the part of a Velero Backup's spec that a scenario sets.
type BackupSpec struct {
	// ItemOperationTimeout is how long Velero waits for each item operation. Default: 4h, the server's own.
	ItemOperationTimeout Duration `json:"itemOperationTimeout,omitzero"`
	// TTL is how long the backup is kept. Default: 720h, the server's own.
	TTL Duration `json:"ttl,omitzero"`
	// IncludedNamespaces are the namespaces that are backed up. Default: those of all items.
	IncludedNamespaces []string `json:"includedNamespaces,omitempty"`
	// StorageLocation is where it is stored. Default: default, the only one there is: with another the backup fails validation.
	StorageLocation string `json:"storageLocation,omitempty"`
}

// Restore is a Velero Restore that the user creates.
type Restore struct {
	// Name of the Restore object. Default: restore-1, restore-2, ….
	Name string `json:"name,omitempty"`
	// Backup that it restores, by name; it need not exist. Default: the scenario's only one.
	Backup string `json:"backup,omitempty"`
	// ItemOperationTimeout is how long Velero waits for each item operation. Default: 4h, the server's own.
	ItemOperationTimeout Duration `json:"itemOperationTimeout,omitzero"`
	// At is the point at which the user creates it, whatever has become of its backup. Default: when all backups without At have
	// ended, and the restores before it, if its backup is Completed or PartiallyFailed.
	At *Point `json:"at,omitempty"`
}

// Schedule is a Velero Schedule that the user creates. In expectations and points its backups are backup/NAME-1, backup/NAME-2, …, in
// the order of their creation: Velero's names for them end in the time.
type Schedule struct {
	// Name of the Schedule object; at most 48 characters, as Velero adds the time to name a backup.
	Name string `json:"name"`
	// Every is how long after one backup the next is due, in whole seconds; the first comes so long after the schedule.
	Every Duration `json:"every"`
	// Backups is how many it makes before the user pauses it. Default: 1.
	Backups int `json:"backups,omitempty"`
	// Template is the spec of its backups.
	Template BackupSpec `json:"template,omitzero"`
}

// Manifest is a Kubernetes object. It has apiVersion, kind, metadata.namespace and metadata.name.
type Manifest map[string]any

// Item is a namespaced object of the cluster, written resource/namespace/name: configmaps/app/settings, secrets/app/token.
type Item string

// Resource is the item's; empty if it is not written as an item.
func (i Item) Resource() string { return i.part(0) }

// Namespace is the item's.
func (i Item) Namespace() string { return i.part(1) }

// Name is the item's.
func (i Item) Name() string { return i.part(2) }

func (i Item) part(n int) string {
	parts := strings.SplitN(string(i), "/", 3)
	if n >= len(parts) {
		return ""
	}
	return parts[n]
}

// Action is the kind of item action that a plugin registers.
type Action string

// The item actions that a plugin can be.
const (
	BackupItemAction  Action = "BackupItemAction"
	RestoreItemAction Action = "RestoreItemAction"
	DeleteItemAction  Action = "DeleteItemAction"
)

// Plugin is the script of one item action.
type Plugin struct {
	// Name as Velero registers it: example.io/mover.
	Name string `json:"name"`
	// Action is the kind of item action. Default: BackupItemAction.
	Action Action `json:"action,omitempty"`
	// Version of Velero's interface for the action: 1 knows no operations. Default: 2; 1 for a DeleteItemAction, which has no other.
	Version int `json:"version,omitempty"`
	// Resources that AppliesTo selects. Default: configmaps.
	Resources []string `json:"resources,omitempty"`
	// AppliesTo is how the method misbehaves that says what the plugin selects.
	AppliesTo Behaviour `json:"appliesTo,omitzero"`
	// Execute is the script of the method that is called for each item.
	Execute Execute `json:"execute,omitzero"`
	// Operation is the asynchronous operation that Execute starts for each item. Default: none.
	Operation *Operation `json:"operation,omitempty"`
	// Progress is how the method misbehaves that is asked for the progress of an operation.
	Progress Behaviour `json:"progress,omitzero"`
	// Cancel is how the method misbehaves that cancels an operation.
	Cancel Behaviour `json:"cancel,omitzero"`
	// AreAdditionalItemsReady is the script of the method that is asked with Execute.WaitForAdditionalItems.
	AreAdditionalItemsReady Ready `json:"areAdditionalItemsReady,omitzero"`
}

// File is the name of the plugin's executable in a server's plugin folder.
func (p Plugin) File() string { return strings.ReplaceAll(p.Name, "/", "-") }

// Behaviour is how one method of a plugin misbehaves. Without any field, it does not.
type Behaviour struct {
	// Delay before the method does anything, on every call. Default: 0s.
	Delay Duration `json:"delay,omitzero"`
	// Error that the call returns. Error, Hang and Panic exclude each other.
	Error string `json:"error,omitempty"`
	// Hang: the call never returns.
	Hang bool `json:"hang,omitempty"`
	// Panic with this value.
	Panic string `json:"panic,omitempty"`
	// Nth is the first call that Error, Hang or Panic strikes, counted from 1 and, for Progress and Cancel, per operation.
	// Default: 1.
	Nth int `json:"nth,omitempty"`
	// Times is how many calls in a row are struck. Default: 0, which is every one from Nth on.
	Times int `json:"times,omitempty"`
}

// Execute is the script of Execute, beyond starting the plugin's operation.
type Execute struct {
	Behaviour
	// AdditionalItems that Velero must back up or restore with the item.
	AdditionalItems []Item `json:"additionalItems,omitempty"`
	// ItemsToUpdate are backed up again when the operations have ended (BackupItemAction only).
	ItemsToUpdate []Item `json:"itemsToUpdate,omitempty"`
	// SkipRestore: the item is not restored (RestoreItemAction only).
	SkipRestore bool `json:"skipRestore,omitempty"`
	// WaitForAdditionalItems: Velero waits until AreAdditionalItemsReady says so (RestoreItemAction, version 2).
	WaitForAdditionalItems bool `json:"waitForAdditionalItems,omitempty"`
}

// Ready is the script of AreAdditionalItemsReady.
type Ready struct {
	Behaviour
	// After is how long after it was first asked for an item its additional items are ready. Default: 0s.
	After Duration `json:"after,omitzero"`
	// Never: they never are, and Velero gives up after its resource timeout.
	Never bool `json:"never,omitempty"`
}

// Operation is the timeline of an asynchronous operation. It runs outside the plugin's process, as a data mover does.
type Operation struct {
	// Progress says what the operation reports from a given age on. Ages ascend. An operation whose last step is neither
	// completed nor failed runs for ever.
	Progress []Step `json:"progress,omitempty"`
	// AfterCancel is what a Cancel makes of the operation; Continues: it is ignored. Default: Fails.
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
	// At is the age of the operation: the time since Execute started it.
	At Duration `json:"at"`
	// Done is how much is done. Default: 0.
	Done int64 `json:"done,omitempty"`
	// Of is how much there is to do. Default: as in the step before.
	Of int64 `json:"of,omitempty"`
	// Units of the two, such as Bytes. Default: as in the step before.
	Units string `json:"units,omitempty"`
	// Description of the progress. Default: as in the step before.
	Description string `json:"description,omitempty"`
	// Completed ends the operation successfully. It excludes Failed.
	Completed bool `json:"completed,omitempty"`
	// Failed ends the operation with this error.
	Failed string `json:"failed,omitempty"`
}

// Fault is something that strikes from outside at a point of the run. One that never strikes makes the run inconclusive.
type Fault struct {
	// ID names the fault in the trace. Default: fault-1, fault-2, ….
	ID string `json:"id,omitempty"`
	// At is where it strikes.
	At Point `json:"at"`
	// Do is what it does.
	Do Do `json:"do"`
}

// Point is where a fault strikes: at exactly one of Phase, Call and Store.
type Point struct {
	// Phase: Object was just written with this phase, and the writer has not seen the reply. New: it was just created.
	Phase string `json:"phase,omitempty"`
	// Object, with Phase, is the one that is written, backup/NAME or restore/NAME. Default: the object that the expectations speak of first.
	Object string `json:"object,omitempty"`
	// Call: a plugin's method is called.
	Call *Call `json:"call,omitempty"`
	// Store: the object store is accessed.
	Store *Access `json:"store,omitempty"`
	// Nth time that the point is passed, from 1. Default: 1.
	Nth int `json:"nth,omitempty"`
	// After: with Call or Store, when it has taken effect and Velero has not seen its reply. Default: false, before it.
	After bool `json:"after,omitempty"`
	// Delay between the point and the fault. Default: 0s.
	Delay Duration `json:"delay,omitzero"`
}

// Call names a plugin's method.
type Call struct {
	// Plugin is its name.
	Plugin string `json:"plugin"`
	// Method of it.
	Method string `json:"method"`
}

// Access is an access to the object store.
type Access struct {
	// Verb is what is done to the object.
	Verb string `json:"verb"`
	// Key of the object in the bucket: backups/backup-1/velero-backup.json.
	Key string `json:"key"`
}

// Do is what a fault does: exactly one of these.
type Do struct {
	// Kill the server.
	Kill *Kill `json:"kill,omitempty"`
	// Fail, at a store point, makes the access fail with this error, without an effect.
	Fail string `json:"fail,omitempty"`
	// Lose, at a store point, removes the object just before the access.
	Lose *Lose `json:"lose,omitempty"`
	// Delete, as `velero backup delete` and `velero restore delete` do: the user asks Velero to delete backup/NAME, or deletes
	// restore/NAME.
	Delete string `json:"delete,omitempty"`
	// Remove, as `kubectl delete` does: the user deletes the Backup object of backup/NAME, and nothing that is stored.
	Remove string `json:"remove,omitempty"`
	// Describe, as `velero backup describe --details` does: the user asks for what is stored of backup/NAME or restore/NAME.
	Describe string `json:"describe,omitempty"`

	// Create is the object whose point of creation this is (cluster.Points).
	Create string `json:"-"`
}

// Lose removes an object from the object store.
type Lose struct{}

// Kill ends the server at once, as SIGKILL does, and its plugin processes with it.
type Kill struct {
	// RestartAfter is how long the server stays down. Default: 10s.
	RestartAfter Duration `json:"restartAfter,omitzero"`
}

// Deleted is the phase of an outcome whose object must be gone in the end. Velero has no such phase.
const Deleted = "Deleted"

// Expect is what must come of the scenario.
type Expect struct {
	// Object whose outcome is said here, backup/NAME or restore/NAME. Default: the last restore, or backup if there is none.
	Object string `json:"object,omitempty"`
	Outcomes
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
	// Phase is the last one; Deleted: the object is gone.
	Phase string `json:"phase"`
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

// Duration is a time.Duration written as Go writes it: 4h, 90s, 1h30m.
type Duration struct{ time.Duration }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(b))
	return err
}
