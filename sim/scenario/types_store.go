package scenario

// Store is the object store of the backup storage location.
type Store struct {
	// Immutable: the object store refuses to overwrite and to delete what is there, as a bucket with a retention policy does. Default: false.
	Immutable bool `json:"immutable,omitempty"`
}

// LocationChange is what the user makes of the backup storage location.
type LocationChange string

// What the user makes of the location. A location is ReadWrite and there from the beginning. That Velero takes it for unavailable comes of an
// outage of the object store.
const (
	ReadOnly  LocationChange = "ReadOnly"  // its accessMode
	ReadWrite LocationChange = "ReadWrite" // its accessMode
	Removed   LocationChange = "Removed"   // the object is deleted, and nothing that is stored
	Created   LocationChange = "Created"   // the object is created again as it was
)

// Tear, at a put, stores the first half of the object.
type Tear struct {
	// Error that the put fails with. Default: none, it succeeds as if all were stored.
	Error string `json:"error,omitempty"`
}

// Hang, at a store point, is an access that never returns.
type Hang struct{}

// Crash ends the process of a plugin.
type Crash struct{}
