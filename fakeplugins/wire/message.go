package wire

import (
	"time"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

const (
	// Version of the protocol. A process of another one is turned away.
	Version = 4
	// SocketEnv is the environment variable with the path of the host's socket.
	SocketEnv = "VELOSIM_PLUGIN_SOCKET"
)

// Request is what a process sends: its ID, from 1 and unique in the connection, and exactly one of the others.
type Request struct {
	ID       int       `json:"id"`
	Register *Register `json:"register,omitempty"`
	Call     *Call     `json:"call,omitempty"`
	// Finish the call that was begun by the request with this ID. Return is what came of it, of a process that has no script.
	Finish   int           `json:"finish,omitempty"`
	Return   *trace.Return `json:"return,omitempty"`
	Access   *Access       `json:"access,omitempty"`
	Accessed *Accessed     `json:"accessed,omitempty"`
}

// Reply answers the request with its ID: with an error, or with what belongs to the request. The reply to Accessed is empty
// but for Strike.
type Reply struct {
	ID int `json:"id"`
	// Error is why the host cannot answer. It is not an error of the script's.
	Error      string               `json:"error,omitempty"`
	Registered *Registration        `json:"registered,omitempty"`
	Begun      *Begun               `json:"begun,omitempty"`
	Outcome    *fakeplugins.Outcome `json:"outcome,omitempty"`
	Accessing  *Accessing           `json:"accessing,omitempty"`
	// Strike is what the process must do to itself on the reply, before anything else.
	Strike *Strike `json:"strike,omitempty"`
}

// Register is the first request of a process, and the only one of its kind.
type Register struct {
	Version int `json:"version"`
	// Executable is the base name that the process was started by.
	Executable string `json:"executable"`
	PID        int    `json:"pid"`
	// Parent is the PID of the process that started it: the server's.
	Parent int `json:"parent"`
}

// Registration is what a process registers with Velero, and how it starts.
type Registration struct {
	Plugins []Plugin `json:"plugins,omitempty"`
	// ObjectStore: it registers the object store on the file system.
	ObjectStore bool  `json:"objectStore,omitempty"`
	Start       Start `json:"start"`
	// Forward is the path of an executable of the user's, for which the process stands: it registers what that registers, passes the calls
	// of its item actions on, and tells the host of them. Epoch is the instant from which the trace counts time.
	Forward string    `json:"forward,omitempty"`
	Epoch   time.Time `json:"epoch,omitzero"`
}

// Plugin is an item action that a process registers.
type Plugin struct {
	Name   string          `json:"name"`
	Action scenario.Action `json:"action"`
	// Version of Velero's interface for the action: 1 or 2.
	Version int `json:"version"`
}

// Start is how a process starts. The zero value: as it should. Its parts happen in this order.
type Start struct {
	// Stderr is written first.
	Stderr string `json:"stderr,omitempty"`
	// LogLines is how many lines the process logs.
	LogLines int `json:"logLines,omitempty"`
	// Delay before the process goes on. In nanoseconds, as all durations here.
	Delay time.Duration `json:"delay,omitempty"`
	// Panic, if not empty, is what the process panics with.
	Panic string `json:"panic,omitempty"`
	// Exit is the status that the process exits with. nil: it does not.
	Exit *int `json:"exit,omitempty"`
	// Strike is what the process does to itself.
	Strike *Strike `json:"strike,omitempty"`
	// Handshake is a line that the process writes in place of go-plugin's handshake; then it hangs.
	Handshake string `json:"handshake,omitempty"`
	// NoHandshake: the process hangs.
	NoHandshake bool `json:"noHandshake,omitempty"`
	// ProtocolVersion of go-plugin's handshake. Default: Velero's.
	ProtocolVersion int `json:"protocolVersion,omitempty"`
}

// Strike is what a process does to itself.
type Strike struct {
	// LogLines is how many lines the process logs first.
	LogLines int `json:"logLines,omitempty"`
	// Do is what it does then. Empty: it goes on.
	Do Deed `json:"do,omitempty"`
}

// Deed is what a process can do to itself.
type Deed string

// What a process can do to itself.
const (
	Kill  Deed = "kill"  // SIGKILL
	Stop  Deed = "stop"  // SIGSTOP
	Panic Deed = "panic" // a panic in a goroutine, which no framework recovers
	Exit  Deed = "exit"  // with status 1
)

// Call tells of a call to a plugin, before it has an effect.
type Call struct {
	Plugin string          `json:"plugin"`
	Action scenario.Action `json:"action"`
	// Object that the call is made for: backup/NAME or restore/NAME; empty: none that the plugin is told of.
	Object string     `json:"object,omitempty"`
	Call   trace.Call `json:"call"`
}

// Begun is what the process does before it finishes the call: it waits for Delay, and hangs if it must.
type Begun struct {
	Delay time.Duration `json:"delay,omitempty"`
	Hang  bool          `json:"hang,omitempty"`
}

// Access tells of an access to the object store, before it has an effect.
type Access struct {
	// Root is the object store's folder.
	Root  string      `json:"root"`
	Store trace.Store `json:"store"`
}

// Accessing is what the process must make of an access: with Fail, an error without an effect; with Late, one when it has had its effect.
type Accessing struct {
	Fail string `json:"fail,omitempty"`
	Late string `json:"late,omitempty"`
}

// Accessed tells of the outcome of an access, before Velero sees it.
type Accessed struct {
	// Access is the ID of the request that told of the access.
	Access int         `json:"access"`
	Store  trace.Store `json:"store"`
}

// Kind names the field that is set: "register", "call", …; empty: none or several are.
func (r Request) Kind() string {
	return only(map[string]bool{
		"register": r.Register != nil, "call": r.Call != nil, "finish": r.Finish != 0,
		"access": r.Access != nil, "accessed": r.Accessed != nil,
	})
}

// kind names the request that the reply is to; empty: to none or several.
func (r Reply) kind() string {
	return only(map[string]bool{
		"register": r.Registered != nil, "call": r.Begun != nil, "finish": r.Outcome != nil, "access": r.Accessing != nil,
		"accessed": r.Registered == nil && r.Begun == nil && r.Outcome == nil && r.Accessing == nil,
	})
}

// only is the name of what is set, if that is exactly one.
func only(set map[string]bool) string {
	var name string
	for n, is := range set {
		switch {
		case is && name != "":
			return ""
		case is:
			name = n
		}
	}
	return name
}
