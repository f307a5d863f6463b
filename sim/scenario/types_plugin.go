package scenario

import (
	"slices"
	"strings"
	"time"
)

// Action is the kind of action that a plugin registers.
type Action string

// The item actions that a plugin can be.
const (
	BackupItemAction  Action = "BackupItemAction"
	RestoreItemAction Action = "RestoreItemAction"
	DeleteItemAction  Action = "DeleteItemAction"
)

// The actions that are called once for a backup or restore, as design/new-prepost-backuprestore-plugin-hooks.md proposes. No release of
// Velero has them.
const (
	PreBackupAction   Action = "PreBackupAction"
	PostBackupAction  Action = "PostBackupAction"
	PreRestoreAction  Action = "PreRestoreAction"
	PostRestoreAction Action = "PostRestoreAction"
)

// Plugin is the script of one action.
type Plugin struct {
	// Name as Velero registers it: example.io/mover.
	Name string `json:"name"`
	// Action is the kind of action. Those that are called once for a backup or restore, PreBackupAction, PostBackupAction, PreRestoreAction
	// and PostRestoreAction, have Execute alone. Default: BackupItemAction.
	Action Action `json:"action,omitempty"`
	// Own: the plugin has no script, but is registered by an executable of your own, which the world is given beside the scenario (--plugin, or
	// the test binary of sim/plugintest). It may start operations, for any item; how such a scenario ends is not predicted.
	Own bool `json:"own,omitempty"`
	// Version of Velero's interface for the item action: 1 knows no operations. Default: 2; 1 for a DeleteItemAction, which has no other.
	Version int `json:"version,omitempty"`
	// Deadline of each call of an action that is called once for a backup or restore. Default: 10m.
	Deadline Duration `json:"deadline,omitzero"`
	// Resources that AppliesTo of an item action selects. Default: configmaps.
	Resources []string `json:"resources,omitempty"`
	// Start is how the plugin's process misbehaves that Velero starts: once to list what it registers, when the server starts, and then
	// whenever it needs the plugin.
	Start Start `json:"start,omitzero"`
	// AppliesTo is how the method misbehaves that says what the plugin selects.
	AppliesTo Behaviour `json:"appliesTo,omitzero"`
	// Execute is the script of the method that is called for each item, or once for a backup or restore.
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

// Start is how the starts of a plugin's process go. Without any field, as they should. Exit, Handshake and Protocol exclude each other.
//
// The first start is the server's, to list what the plugin registers; if it fails, the server does not start (DiscoverPlugins,
// pkg/plugin/clientmgmt/process/registry.go). Then each run of a backup or restore, each pass over the operations of one, each finalizer
// and each deletion has a process of its own, which starts before any of its methods is called (getRestartableProcess,
// pkg/plugin/clientmgmt/manager.go), if it is asked for: a pass asks for the plugins of the operations that run, a restore's finalizer for
// none, and the others for all of their action.
type Start struct {
	// Delay before the process does anything, at every start, less than the minute that Velero waits for a handshake. Default: 0s.
	Delay Duration `json:"delay,omitzero"`
	// Exit: the process ends before its handshake.
	Exit bool `json:"exit,omitempty"`
	// Handshake is what is wrong with it; none: the process prints none, and the server waits for a minute; wrong: it prints a line that
	// is none.
	Handshake Handshake `json:"handshake,omitempty"`
	// Protocol is a version of the plugin protocol that Velero does not know; its own is 2.
	Protocol int `json:"protocol,omitempty"`
	// Nth is the first start that Exit, Handshake or Protocol strikes, counted from 1 and anew for each server. Default: 1.
	Nth int `json:"nth,omitempty"`
	// Times is how many starts in a row are struck. Default: 0, which is every one from Nth on.
	Times int `json:"times,omitempty"`
}

// Fails tells whether some start of the process fails.
func (s Start) Fails() bool { return s.Exit || s.Handshake != "" || s.Protocol != 0 }

// Takes is how long one takes at most.
func (s Start) Takes() time.Duration {
	if s.Handshake == NoHandshake {
		return pluginStartTimeout
	}
	return s.Delay.Duration
}

// Strikes tells whether the n-th start of a server's fails, counted from 1.
func (s Start) Strikes(n int) bool {
	first := max(s.Nth, 1)
	return s.Fails() && n >= first && (s.Times == 0 || n-first < s.Times)
}

// Handshake is what is wrong with that of a plugin's process.
type Handshake string

// What can be wrong with a handshake.
const (
	NoHandshake    Handshake = "none"
	WrongHandshake Handshake = "wrong"
)

// Starts tells whether the server does: it starts each plugin to list what it registers, and ends if one cannot be.
func (s *Scenario) Starts() bool {
	return !slices.ContainsFunc(s.Plugins, func(p Plugin) bool { return p.Start.Strikes(1) })
}

// StartOf is how the process of the plugins with this name starts: they share it, and the first one says how.
func (s *Scenario) StartOf(plugin string) Start {
	if i := slices.IndexFunc(s.Plugins, func(p Plugin) bool { return p.Name == plugin }); i >= 0 {
		return s.Plugins[i].Start
	}
	return Start{}
}

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
	// TooLarge: the item that it returns has an annotation that makes it larger than what the server of a plugin takes in one request, 4 MiB:
	// who is handed it next fails, be that another plugin, one that restores or deletes the item later, or the API server, which takes 3 MiB.
	TooLarge bool `json:"tooLarge,omitempty"`
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
