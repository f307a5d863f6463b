package supervise

import "time"

// What the owner and the supervisor tell each other: JSON values, one after the other. The owner writes an order and then
// stops to the supervisor's stdin, and closes it to have everything killed. The supervisor writes a start and then an end
// to statusFD.

// statusFD is the supervisor's end of the pipe to the owner.
const statusFD = 3

// order says what to run.
type order struct {
	Path   string   `json:"path"`
	Args   []string `json:"args"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"`
	Folder string   `json:"folder"`
	// Mounts: the program is to have a mount namespace of its own.
	Mounts bool `json:"mounts,omitempty"`
	// Sweep is a folder to remove at the end. Then there need be no Path.
	Sweep string `json:"sweep,omitempty"`
}

// stop asks the program to end (SIGTERM). All is killed when it has, or after Grace.
type stop struct {
	Grace time.Duration `json:"grace"`
}

// start says that the program runs, or why it does not: then nothing follows.
type start struct {
	PID   int    `json:"pid"`
	Error string `json:"error,omitempty"`
}

// end says that all is gone. Status is the program's, as wait(2) returns it.
type end struct {
	Status uint32 `json:"status"`
	Error  string `json:"error,omitempty"`
}
