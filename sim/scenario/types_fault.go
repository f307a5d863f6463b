package scenario

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
