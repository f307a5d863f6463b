package cluster

import (
	"fmt"

	"github.com/velosim/velosim/sim/scenario"
)

// The errors that Velero sees of what strikes the object store and plugins.
const (
	OutageError    = "the object store is out of reach"
	ImmutableError = "the object is immutable: it can be neither overwritten nor deleted"
	// CrashError is what gRPC makes of a reply that never comes as the process has ended.
	CrashError = "rpc error: code = Unavailable desc = error reading from server: EOF"
)

// Torn says in words, for the trace, that half of what is put at the key is stored.
func Torn(key string, t scenario.Tear) string {
	if t.Error == "" {
		return "half of " + key + " is stored, as if it were all"
	}
	return fmt.Sprintf("half of %s is stored, and the put fails: %s", key, t.Error)
}

// Crashed says in words that a plugin's process ends.
func Crashed(whose, what string, after bool) string {
	if after {
		return fmt.Sprintf("%s process ends after its %s, before the reply", whose, what)
	}
	return fmt.Sprintf("%s process ends before its %s", whose, what)
}
