package scenario

// Fault is something that strikes from outside at a point of the run. One that never strikes makes the run inconclusive.
type Fault struct {
	// ID names the fault in the trace. Default: fault-1, fault-2, ….
	ID string `json:"id,omitempty"`
	// At is where it strikes.
	At Point `json:"at"`
	// Do is what it does.
	Do Do `json:"do"`
	// Times that it strikes: at so many passages of the point in a row. Default: 1.
	Times int `json:"times,omitempty"`
	// For is how long it strikes: at every passage of the point in the time that begins with the first one. Default: no time, but Times.
	For Duration `json:"for,omitzero"`
}

// Point is where a fault strikes: at exactly one of Phase, Call, Store and Write.
type Point struct {
	// Phase: Object was just written with this phase, and the writer has not seen the reply. New: it was just created.
	Phase string `json:"phase,omitempty"`
	// Object, with Phase, is the one that is written, backup/NAME or restore/NAME. Default: the object that the expectations speak of first.
	Object string `json:"object,omitempty"`
	// Call: a plugin's method is called.
	Call *Call `json:"call,omitempty"`
	// Store: the object store is accessed.
	Store *Access `json:"store,omitempty"`
	// Write: the server writes to the API server.
	Write *Write `json:"write,omitempty"`
	// Nth time that the point is passed, from 1. Default: 1.
	Nth int `json:"nth,omitempty"`
	// After: with Call, Store or Write, when it has taken effect and Velero has not seen its reply. Default: false, before it.
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
	// Phase of the backup or restore for which it is called, as the plugin is told. Default: any.
	Phase string `json:"phase,omitempty"`
}

// Access is an access to the object store.
type Access struct {
	// Verb is what is done to the object.
	Verb string `json:"verb"`
	// Key of the object in the bucket: backups/backup-1/velero-backup.json.
	Key string `json:"key"`
}

// Write names a write that the server itself sends to the API server, or a plugin that writes an item of which `expect.manifests` speaks;
// not the user's writes, nor others of plugins. One that is repeated is another one.
type Write struct {
	// Object that is written: backup/NAME, restore/NAME, schedule/NAME, location/default, deletion/NAME, which is the request to delete the
	// backup NAME, or an item. Default: with From or Phase the object that the expectations speak of first, else any.
	Object string `json:"object,omitempty"`
	// Verb of the request. Default: with From or Phase patch, by which the server changes phases, else any.
	Verb string `json:"verb,omitempty"`
	// From is the phase of Object before the write. Default: any.
	From string `json:"from,omitempty"`
	// Phase that the write brings. Default: any, or none.
	Phase string `json:"phase,omitempty"`
}

// Do is what a fault does: exactly one of these.
type Do struct {
	// Kill the server.
	Kill *Kill `json:"kill,omitempty"`
	// Pause is how long the server's process is stopped, as SIGSTOP does until SIGCONT. Its plugins go on, and so does time: what has come
	// due meanwhile, it does then. A server that is paused can be killed.
	Pause Duration `json:"pause,omitzero"`
	// Rollout replaces the server, as a rolling update of Velero's Deployment does: the next one starts while it runs on.
	Rollout *Rollout `json:"rollout,omitempty"`
	// Fail, at a store point, makes the access fail with this error, without an effect.
	Fail string `json:"fail,omitempty"`
	// Lose, at a store point, removes the object just before the access.
	Lose *Lose `json:"lose,omitempty"`
	// Refuse, at a write, is the reason that the API server gives for refusing it.
	Refuse string `json:"refuse,omitempty"`
	// LoseReply, at a write, breaks the connection once the write was applied, so that the server does not learn that it was.
	LoseReply bool `json:"loseReply,omitempty"`
	// Latency, at a write or a store point, holds the request up for so long, or with at.after its reply.
	Latency Duration `json:"latency,omitzero"`
	// BreakWatches ends every watch that the server has.
	BreakWatches *BreakWatches `json:"breakWatches,omitempty"`
	// StaleCache is how long nothing that changes in the cluster comes to the server's watches, so that its caches stay as they are. What has
	// changed comes afterwards, in order. The server's writes, and reads that go past its caches, are as ever.
	StaleCache Duration `json:"staleCache,omitzero"`
	// APIOutage is how long the server and its plugins cannot reach the API server: every request fails, as if nothing listened, and
	// every watch ends. The user can. A server that is to start meanwhile starts when it is over.
	APIOutage Duration `json:"apiOutage,omitzero"`
	// Delete, as `velero backup delete` and `velero restore delete` do: the user asks Velero to delete backup/NAME, or deletes
	// restore/NAME.
	Delete string `json:"delete,omitempty"`
	// Remove, as `kubectl delete` does: the user deletes the Backup object of backup/NAME, and nothing that is stored.
	Remove string `json:"remove,omitempty"`
	// Outage is how long the object store fails every access, from then on. Velero takes the location for unavailable when it looks next.
	Outage Duration `json:"outage,omitzero"`
	// Tear, at a put, stores half of the object.
	Tear *Tear `json:"tear,omitempty"`
	// Hang, at a store point, has the access never return.
	Hang *Hang `json:"hang,omitempty"`
	// Crash, at a call or store point, ends the plugin's process, before the call has had an effect or, with at.after, before Velero has
	// its reply. Velero starts the plugin again when it next calls it.
	Crash *Crash `json:"crash,omitempty"`
	// Location, as `kubectl` does: the user changes the backup storage location.
	Location LocationChange `json:"location,omitempty"`
	// Describe, as `velero backup describe --details` does: the user asks for what is stored of backup/NAME or restore/NAME.
	Describe string `json:"describe,omitempty"`

	// Create is the object whose point of creation this is (cluster.Points).
	Create string `json:"-"`
}

// Severs tells whether it strikes the server's way to the API server as a whole.
func (d Do) Severs() bool {
	return d.BreakWatches != nil || d.StaleCache.Duration > 0 || d.APIOutage.Duration > 0
}

// repeats tells whether it can strike more than once.
func (d Do) repeats() bool {
	return d.Fail != "" || d.Crash != nil || d.Refuse != "" || d.LoseReply || d.Latency.Duration > 0
}

// Lose removes an object from the object store.
type Lose struct{}
