package trace

import (
	"encoding/json"
	"time"
)

// Schema is the version of the trace format that this package reads and writes.
const Schema = 1

// Header opens a trace.
type Header struct {
	Schema int `json:"schema"`
	// Scenario is the scenario's name.
	Scenario string `json:"scenario"`
	// World that made the trace: virtual.
	World string `json:"world"`
	// Velero is the release under test, without a "v": 1.18.3.
	Velero string `json:"velero"`
	// Build identifies the world's executable.
	Build string `json:"build,omitempty"`
	Seed  int64  `json:"seed"`
	// Scale is 1 in virtual time. A world that runs in real time shortens what the scenario and Velero wait for: by it, what the
	// specification gives a length, such as a poll.
	Scale float64 `json:"scale"`
}

// Scaled is how long d is in the trace; Scale 0, which no writer leaves, is 1.
func (h Header) Scaled(d time.Duration) Time {
	if h.Scale == 0 || h.Scale == 1 {
		return Time(d)
	}
	return Time(float64(d) * h.Scale)
}

// Time is an instant of a trace, counted from its start, written as a Go duration ("4h0m10s").
type Time time.Duration

// Event is one thing that happened. Body is what: exactly one of its fields is set.
type Event struct {
	// Seq counts from 1.
	Seq int  `json:"seq"`
	At  Time `json:"at"`
	// Incarnation of the server, from 1; 0: not the server's doing.
	Incarnation int `json:"incarnation,omitempty"`
	// Object is the object that the event is about, kind/name: backup/backup-1. Empty for events about none.
	Object string `json:"object,omitempty"`
	Body
}

// Body is what happened: exactly one field is set.
type Body struct {
	Created   *Created   `json:"created,omitempty"`
	Deleted   *Deleted   `json:"deleted,omitempty"`
	Phase     *Phase     `json:"phase,omitempty"`
	Write     *Write     `json:"write,omitempty"`
	Call      *Call      `json:"call,omitempty"`
	Return    *Return    `json:"return,omitempty"`
	Store     *Store     `json:"store,omitempty"`
	Fault     *Fault     `json:"fault,omitempty"`
	Process   *Process   `json:"process,omitempty"`
	Reconcile *Reconcile `json:"reconcile,omitempty"`
	Rest      *Rest      `json:"rest,omitempty"`
	Item      *Item      `json:"item,omitempty"`
	Plugin    *Plugin    `json:"plugin,omitempty"`
	Left      *Left      `json:"left,omitempty"`
}

// Created: the user created the object, or a schedule did.
type Created struct {
	// Name as the cluster has it, if that differs from the object's in the trace: of a schedule's backup. Schedule that made it.
	Name     string `json:"name,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	// ItemOperationTimeout of its spec.
	ItemOperationTimeout Time `json:"itemOperationTimeout,omitempty"`
	// Backup that a restore restores.
	Backup string `json:"backup,omitempty"`
}

// Deleted: the object is gone from the cluster.
type Deleted struct{}

// Phase: a write changed the object's phase. From is empty for the first one.
type Phase struct {
	From string `json:"from,omitempty"`
	To   string `json:"to"`
}

// Write is a write that reached the API server, whether it changed anything or not.
type Write struct {
	// Client that wrote: a controller's name, "startup", or "user".
	Client string `json:"client"`
	// Verb is create, update, patch, delete or deletecollection.
	Verb string `json:"verb"`
	// Resource and Name of what was written: backups velero/backup-1.
	Resource string `json:"resource"`
	Name     string `json:"name"`
	// Change is the patch, as JSON; empty for the other verbs.
	Change string `json:"change,omitempty"`
	// ResourceVersion that the write made.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Error that the API server answered; empty: it succeeded.
	Error string `json:"error,omitempty"`
}

// Call: Velero called a plugin's method.
type Call struct {
	// ID pairs the call with its Return; unique within the trace.
	ID     int    `json:"id"`
	Plugin string `json:"plugin"`
	// Method is AppliesTo, Execute, Progress, Cancel or AreAdditionalItemsReady.
	Method string `json:"method"`
	// Controller that called.
	Controller string `json:"controller,omitempty"`
	// Item that Execute was called for, resource/namespace/name.
	Item string `json:"item,omitempty"`
	// Operation that Progress or Cancel was called for.
	Operation string `json:"operation,omitempty"`
	// Phase of the object when it was called, as the plugin was told.
	Phase string `json:"phase,omitempty"`
}

// Return: a call has returned to Velero.
type Return struct {
	ID int `json:"id"`
	// Operation that Execute started.
	Operation string `json:"operation,omitempty"`
	// Progress that Progress reported.
	Progress *Progress `json:"progress,omitempty"`
	// Ready is what AreAdditionalItemsReady answered; nil for other methods.
	Ready *bool `json:"ready,omitempty"`
	// Selects is what AppliesTo selects, in words, and Item the item that Execute returned, if it is not the one that it was given ("none":
	// there was none). Of plugins without a script only.
	Selects string `json:"selects,omitempty"`
	Item    string `json:"item,omitempty"`
	// Error that the call returned. Panic: the plugin panicked, and Velero's plugin framework made an error of it.
	Error string `json:"error,omitempty"`
	Panic bool   `json:"panic,omitempty"`
}

// Progress is what a plugin reported of an operation.
type Progress struct {
	Done        int64  `json:"done"`
	Of          int64  `json:"of,omitempty"`
	Units       string `json:"units,omitempty"`
	Description string `json:"description,omitempty"`
	Completed   bool   `json:"completed,omitempty"`
	Error       string `json:"error,omitempty"`
	// Started and Updated as the plugin reported them.
	Started Time `json:"started,omitempty"`
	Updated Time `json:"updated,omitempty"`
}

// Store is an access to the object store.
type Store struct {
	// Verb is put, get, exists, list or delete.
	Verb string `json:"verb"`
	// Key is bucket/key.
	Key string `json:"key"`
	// Controller that made it.
	Controller string `json:"controller,omitempty"`
	Size       int    `json:"size,omitempty"`
	Error      string `json:"error,omitempty"`
}

// Fault: a fault of the scenario struck, or its point came and it could not.
type Fault struct {
	ID string `json:"id"`
	// What it did, in words.
	What string `json:"what"`
	// Missed is why it did not strike, such as "the server was down"; empty: it did.
	Missed string `json:"missed,omitempty"`
}

// Plugin: an executable of the user's registers a plugin.
type Plugin struct {
	// Kind as Velero's framework names it: BackupItemActionV2.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Left: a plugin whose calls were made directly has left something behind when its processes had ended.
type Left struct {
	// Process is a command line, File a file or folder in the folder for temporary files: one of them is set.
	Process string `json:"process,omitempty"`
	File    string `json:"file,omitempty"`
}

// Process: a process started or ended.
type Process struct {
	// Name is "server" or a plugin's name.
	Name string `json:"name"`
	// State is started, stopped or killed; of a plugin's, ProcessFailed and ProcessExited, too.
	State string `json:"state"`
}

// ProcessExited is the state of a plugin's process that has ended though nobody has asked it to.
const ProcessExited = "exited"

// ProcessFailed is the state of a plugin's process that was started and does not serve.
const ProcessFailed = "failed"

// Reconcile: a reconcile returned an error, or panicked.
type Reconcile struct {
	Controller string `json:"controller"`
	Error      string `json:"error"`
	Panic      bool   `json:"panic,omitempty"`
}

// Rest is the state of an object when the run has ended, as one of its two copies has it.
type Rest struct {
	// Copy is "api" (the custom resource) or "store" (velero-backup.json; a restore has its operations there, and no more).
	Copy  string `json:"copy"`
	Phase string `json:"phase"`
	// Errors and Warnings of the status.
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	// Attempted, Completed and Failed item operations of the status.
	Attempted int  `json:"attempted"`
	Completed int  `json:"completed"`
	Failed    int  `json:"failed"`
	Ended     bool `json:"ended"` // it has a completionTimestamp
	// Operations as the object store has them (Copy "store" only).
	Operations []Operation `json:"operations,omitempty"`
}

// Operation is an item operation as the object store has it.
type Operation struct {
	ID     string `json:"id"`
	Plugin string `json:"plugin"`
	Item   string `json:"item"`
	// Phase is New, InProgress, Completed or Failed.
	Phase string `json:"phase"`
	Error string `json:"error,omitempty"`
}

// Item is an object of the cluster that the scenario expects something of, resource/namespace/name, when the run has ended.
type Item struct {
	// Manifest of the object, without metadata.managedFields; empty: there is none.
	Manifest json.RawMessage `json:"manifest,omitempty"`
}

// End closes a trace. A trace without one was cut off.
type End struct {
	// Reason is why the run ended.
	Reason string `json:"reason"`
	// At is the trace time when it ended.
	At Time `json:"at"`
	// Detail explains a reason other than settled and bound: a panic's stack, what is stuck.
	Detail string `json:"detail,omitempty"`
}

// The reasons for a run to end.
const (
	// Settled: every object is in a final phase, and two polls later nothing has changed.
	Settled = "settled"
	// Bound: the run has reached its bound in trace time.
	Bound = "bound"
	// Stalled: trace time stood still, so that the world had to be killed.
	Stalled = "stalled"
	// Panicked: Velero panicked, and the server ended, or the world that holds it.
	Panicked = "panicked"
	// NotStarted: the server ended before it was ready, as one of the scenario's plugins did not start. Detail is its last word.
	NotStarted = "not started"
	// Environment: the world itself failed, or was interrupted; the run says nothing about Velero.
	Environment = "environment"
)

// Trace is a whole run.
type Trace struct {
	Header Header
	Events []Event
	End    End
}
